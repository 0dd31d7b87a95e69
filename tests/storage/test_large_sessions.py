"""Files read from their end: the same answers as reading all, at a cost that does not grow with the file."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from rpc_agent.context.projection import project
from rpc_agent.errors import StorageFailed
from rpc_agent.storage.session_store import SessionStore
from tests.support.damaged_files import damaged_files
from tests.support.sessions import CountingIdentity, line, raw_entry, session_bytes, user, write_session

TEXT = "word " * 200


Opener = Callable[..., SessionStore]


def open_writable(path: Path) -> SessionStore:
    return SessionStore.open(path, identity=CountingIdentity(first_id=1 << 28), whole_limit=4000)


@pytest.fixture
def open_tail() -> Iterator[Opener]:
    with contextlib.ExitStack() as opened:

        def open_one(path: Path, limit: int = 4000) -> SessionStore:
            store = SessionStore.open(path, identity=CountingIdentity(), whole_limit=limit, read_only=True)
            opened.callback(store.close)
            return store

        yield open_one


def open_whole(path: Path) -> SessionStore:
    return SessionStore.open(path, identity=CountingIdentity(), whole_limit=1 << 40, read_only=True)


def chain(start: int, end: int, text: str = TEXT) -> list[dict[str, object]]:
    return [raw_entry(f"e{n:07}", f"e{n - 1:07}" if n else None, text) for n in range(start, end)]


def compaction(n: int, first_kept: str, **more: Any) -> dict[str, object]:
    fields: dict[str, Any] = {
        "type": "compaction",
        "summary": "s",
        "firstKeptEntryId": first_kept,
        "tokensBefore": 9,
        **more,
    }
    return raw_entry(f"e{n:07}", f"e{n - 1:07}", **fields)


@pytest.fixture
def compacted(tmp_path: Path) -> Path:
    """3,000 entries of 1 KB, one label and a name at the front, a compaction near the end."""
    return write_session(
        tmp_path / "s.jsonl",
        *chain(0, 1500),
        raw_entry("label", "e0001499", type="label", targetId="e0000003", label="early"),
        raw_entry("name", "label", type="session_info", name="named"),
        raw_entry("e0001500", "name", TEXT),
        *chain(1501, 2980),
        compaction(2980, "e0002970"),
        *chain(2981, 3000),
    )


def test_opening_reads_only_the_kept_range_and_what_follows(compacted: Path) -> None:
    store = open_writable(compacted)
    assert [store.branch()[0].id, store.leaf_id, store.index_is_complete] == ["e0002970", "e0002999", False]
    added = store.append("message", {"message": user("next")})
    assert (len(added.id), added.parent_id, store.index_is_complete) == (16, "e0002999", False)
    store.close()


@pytest.mark.anyio
async def test_names_and_labels_of_the_front_come_with_the_index(compacted: Path) -> None:
    store = open_writable(compacted)
    assert (store.labels(), store.session_name) == ({}, None)
    await store.complete_index()
    assert (store.labels(), store.session_name, store.label("e0000003")) == ({"e0000003": "early"}, "named", "early")
    assert len(store.append("message", {"message": user("next")}).id) == 8
    store.close()


def test_every_question_has_the_answer_it_has_in_a_file_read_whole(open_tail: Opener, compacted: Path) -> None:
    tail, whole = open_tail(compacted), open_whole(compacted)
    assert tail.whole_branch() == whole.branch()
    assert tail.get("e0000005") == whole.get("e0000005")
    assert tail.entries() == whole.entries()
    assert tail.entries("e0001499", 5) == whole.entries("e0001499", 5)
    assert tail.tree_nodes(cursor="e0000001", limit=9) == whole.tree_nodes(cursor="e0000001", limit=9)
    assert tail.tree_nodes(root_id="e0002700", depth=300) == whole.tree_nodes(root_id="e0002700", depth=300)
    assert tail.branch("e0000100") == whole.branch("e0000100")
    assert (tail.children(None), tail.children("e0001499")) == (["e0000000"], ["label"])
    assert tail.entry_count() == whole.entry_count() == 3002


@pytest.mark.parametrize("first_kept", ["", "nowhere", "e0000950"])
def test_a_compaction_that_keeps_nothing_needs_nothing_older(
    open_tail: Opener, tmp_path: Path, first_kept: str
) -> None:
    path = write_session(tmp_path / "s.jsonl", *chain(0, 950), compaction(950, first_kept), *chain(951, 960))
    store = open_tail(path)
    ids = [entry.id for entry in store.branch()]
    assert (ids[-10], ids[-1]) == ("e0000950", "e0000959")


def test_an_entry_that_another_program_cut_off_is_a_failure_of_the_disk(open_tail: Opener, compacted: Path) -> None:
    store = open_tail(compacted)
    assert store.get("e0000003").id == "e0000003"
    with open(compacted, "r+b") as file:
        file.truncate(100)
    with pytest.raises(StorageFailed):
        store.get("e0000900")
    with pytest.raises(StorageFailed):
        store.pages.objects("e0000900", 9)


def test_a_chain_without_compaction_is_read_to_its_root(open_tail: Opener, tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.jsonl", *chain(0, 2000))
    assert len(open_tail(path).branch()) == 2000


def test_damage_in_the_front_is_reported_with_the_index_and_bridged(open_tail: Opener, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    kept = [line(raw) for raw in chain(0, 1500)]
    kept[700] = kept[700][:-40] + b"\n"
    path.write_bytes(session_bytes() + b"".join(kept) + line(compaction(1500, "e0001490")) + line(chain(1501, 1502)[0]))
    tail, whole = open_tail(path), open_whole(path)
    assert (tail.branch()[0].id, tail.warnings) == ("e0001490", [])
    assert [entry.id for entry in tail.whole_branch()] == [entry.id for entry in whole.branch()]
    assert [(w.kind, w.line) for w in tail.warnings] == [("unreadableLine", 702), ("bridgedParent", None)]
    assert tail.entry_count() == 1501


def test_lines_longer_than_a_block_are_read(open_tail: Opener, tmp_path: Path) -> None:
    entries = [raw_entry(f"e{n}", f"e{n - 1}" if n else None, "x" * 700_000) for n in range(5)]
    path = write_session(tmp_path / "s.jsonl", *entries)
    assert [entry.raw for entry in open_tail(path).branch()] == entries


def test_the_index_takes_at_most_32_bytes_an_entry(open_tail: Opener, compacted: Path) -> None:
    store = open_tail(compacted)
    store.tree_nodes(limit=1)
    head = store._head
    assert head is not None
    # The hash table starts with room for 1,024.
    assert head.index.bytes <= 32 * len(head.index) + 4096


@pytest.mark.parametrize("order", ["front", "tail", "across"])
def test_a_circle_closed_by_an_id_that_comes_again_is_cut_at_its_first_entry(
    open_tail: Opener, tmp_path: Path, order: str
) -> None:
    first, second, again = raw_entry("a", None, TEXT), raw_entry("b", "a", TEXT), raw_entry("a", "b", TEXT)
    rest = [raw_entry("r", None, TEXT), *chain(0, 0)]
    filler = [raw_entry("f0", "r", TEXT), raw_entry("f1", "f0", TEXT), raw_entry("f2", "f1", TEXT)]
    end = [compaction(9, ""), *chain(10, 12)]
    raws = {
        "front": [first, second, again, *rest, *filler, *end],
        "tail": [*rest, *filler, *end, first, second, again, end[-1]],
        "across": [first, second, *rest, *filler, *end, again, end[-1]],
    }[order]
    path = write_session(tmp_path / "s.jsonl", *raws)
    tail, whole = open_tail(path), open_whole(path)
    assert tail.children(None) == whole.children(None)
    assert "b" in tail.children(None)
    assert tail.tree_nodes() == whole.tree_nodes()
    assert found(tail) == found(whole)


def test_an_early_child_of_a_circle_in_the_tail_hangs_there(open_tail: Opener, tmp_path: Path) -> None:
    circle = [raw_entry("c1", "c2", TEXT), raw_entry("c2", "c1", TEXT)]
    end = [compaction(40, ""), *circle, *chain(41, 42)]
    path = write_session(tmp_path / "s.jsonl", raw_entry("early", "c1"), *chain(0, 40), *end)
    tail, whole = open_tail(path), open_whole(path)
    assert (tail.children("c1"), tail.children(None)) == (["early", "c2"], ["e0000000", "c1"])
    assert tail.tree_nodes() == whole.tree_nodes()


BACK = raw_entry("x", "e0000001", TEXT)
ORPHAN = raw_entry("x", "lost", TEXT)
AWAY = raw_entry("x", "late", TEXT)
LATE = raw_entry("late", "e0000002", TEXT)
END = [compaction(40, ""), *chain(41, 43)]


@pytest.mark.parametrize(
    "raws",
    [
        pytest.param([*chain(0, 5), AWAY, BACK, LATE, *chain(5, 40), *END], id="its old parent comes later"),
        pytest.param(
            [*chain(0, 5), AWAY, BACK, *chain(5, 40), *END, LATE, END[-1]], id="its old parent is in the tail"
        ),
        pytest.param([*chain(0, 5), "torn", ORPHAN, ORPHAN, *chain(5, 40), *END], id="twice without a parent"),
        pytest.param([*chain(0, 40), "torn", ORPHAN, ORPHAN, *END], id="without a parent on both sides"),
        pytest.param(
            [*chain(0, 5), ORPHAN, *chain(5, 40), *END, BACK, END[-1]], id="an orphan comes again in the tail"
        ),
        pytest.param(
            [*chain(0, 5), AWAY, *chain(5, 40), *END, LATE, BACK, END[-1]], id="a stray comes again in the tail"
        ),
        pytest.param(
            [*chain(0, 5), "torn", raw_entry("r1", "x", TEXT), AWAY, *chain(5, 40), *END, LATE, END[-1]],
            id="a circle of the front that the tail opens",
        ),
    ],
)
def test_an_id_that_comes_again_leaves_nothing_behind_at_its_old_place(
    open_tail: Opener, tmp_path: Path, raws: list[Any]
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(session_bytes() + b"".join(b"{torn\n" if raw == "torn" else line(raw) for raw in raws))
    # Wherever the border between front and tail lies.
    for limit in range(1000, 7000, 1000):
        tail, whole = open_tail(path, limit), open_whole(path)
        assert tail.entries().entries == whole.entries().entries
        assert tail.tree_nodes() == whole.tree_nodes()
        assert tail.children(None) == whole.children(None)
        assert tail.whole_branch("x") == whole.whole_branch("x")
        assert tail.entry_count() == whole.entry_count()
        assert found(tail) == found(whole)


def test_what_another_program_adds_about_the_front_counts_at_once(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.jsonl", raw_entry("early", "late"), *chain(0, 40), compaction(40, ""))
    store = open_writable(path)
    assert store.children(None) == ["early", "e0000000"]
    with path.open("ab") as file:
        file.write(line(raw_entry("late", "e0000040")) + line(raw_entry("e0000003", "late", "again")))
    store.append("message", {"message": user("next")})
    whole = open_whole(path)
    assert store.tree_nodes() == whole.tree_nodes()
    assert (store.children("late"), store.entry_count()) == (["early", "e0000003"], 44)
    with path.open("ab") as file:
        file.write(line(raw_entry("early", "e0000040", "again")))
    store.append("message", {"message": user("next")})
    whole = open_whole(path)
    assert store.tree_nodes() == whole.tree_nodes()
    assert (store.children("late"), store.entry_count()) == (["e0000003"], 45)
    store.close()


def test_a_kept_range_behind_a_lost_line_is_found_in_the_front(open_tail: Opener, tmp_path: Path) -> None:
    orphan = raw_entry("e0000040", "lost", TEXT)
    path = tmp_path / "s.jsonl"
    end = [orphan, *chain(41, 60), compaction(60, "e0000010"), *chain(61, 62)]
    path.write_bytes(session_bytes(*chain(0, 40)) + b"{torn\n" + b"".join(map(line, end)))
    tail, whole = open_tail(path, 1000), open_whole(path)
    assert tail._head is not None
    assert tail.branch()[0].id == "e0000010"
    assert context(tail) == context(whole)


def found(store: SessionStore) -> set[tuple[str, str]]:
    """The warnings, once all is known. Where the front was not read, lines are not counted."""
    store.entry_count()
    return {(warning.kind, warning.message) for warning in store.warnings}


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damaged_files())
def test_a_tail_and_the_whole_agree_whatever_links_and_damage(open_tail: Opener, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(data)
    tail, whole = open_tail(path, 300), open_whole(path)
    entries = whole.entries().entries
    assert tail.entries().entries == entries
    assert (tail.tree_nodes(), tail.children(None)) == (whole.tree_nodes(), whole.children(None))
    assert (tail.whole_branch(), context(tail)) == (whole.whole_branch(), context(whole))
    assert (tail.labels(), tail.session_name, tail.entry_count()) == (whole.labels(), whole.session_name, len(entries))
    on_branch = whole.whole_branch()
    assert [entry for entry in entries if tail.is_on_branch(entry.id)] == sorted(on_branch, key=entries.index)
    for entry_id in [entry.id for entry in entries][::3]:
        assert tail.get(entry_id) == whole.get(entry_id)
        assert tail.children(entry_id) == whole.children(entry_id)
        assert tail.whole_branch(entry_id) == whole.whole_branch(entry_id)
        assert context(tail, entry_id) == context(whole, entry_id)
        assert tail.left_behind(entry_id) == whole.left_behind(entry_id)
        assert tail.tree_nodes(root_id=entry_id, depth=2) == whole.tree_nodes(root_id=entry_id, depth=2)
        assert tail.entries(entry_id, 3) == whole.entries(entry_id, 3)
    assert found(tail) == found(whole)


def context(store: SessionStore, leaf_id: str | None = None) -> list[object]:
    return [item.message for item in project(store.branch(leaf_id)).messages]


def test_a_child_that_stands_before_its_parent_in_the_tail_hangs_there(open_tail: Opener, tmp_path: Path) -> None:
    # The early one is read with the front, its parent with the tail.
    early = raw_entry("early", "late")
    path = write_session(tmp_path / "s.jsonl", *chain(0, 900), early, *chain(900, 1800), raw_entry("late", "e0000003"))
    path.write_bytes(path.read_bytes() + line(compaction(1800, "")) + line(chain(1801, 1802)[0]))
    tail, whole = open_tail(path), open_whole(path)
    assert (tail.children("late"), tail.children(None)) == (["early"], ["e0000000"])
    assert tail.tree_nodes() == whole.tree_nodes()


def test_many_entries_in_one_line_of_the_front_are_all_there(open_tail: Opener, tmp_path: Path) -> None:
    raws = chain(0, 1500)
    joined = b"".join(line(raw).rstrip() for raw in raws[:200]) + b"\n"
    path = tmp_path / "s.jsonl"
    path.write_bytes(session_bytes() + joined + b"".join(map(line, raws[200:])))
    path.write_bytes(path.read_bytes() + line(compaction(1500, "e0001490")) + line(chain(1501, 1502)[0]))
    tail, whole = open_tail(path), open_whole(path)
    assert tail.entries() == whole.entries()
    assert tail.whole_branch() == whole.branch()
    assert tail.tree_nodes() == whole.tree_nodes()
    assert [(w.kind, w.line) for w in tail.warnings] == [("joinedLine", 2)]


def test_damages_that_read_alike_are_told_each_and_get_their_lines_with_the_index(
    open_tail: Opener, tmp_path: Path
) -> None:
    path = write_session(tmp_path / "s.jsonl", *chain(0, 100), compaction(100, ""), *chain(101, 103))
    path.write_bytes(path.read_bytes() + b"{torn\n{torn\n" + line(chain(103, 104)[0]))
    tail = open_tail(path)
    assert [(w.kind, w.line) for w in tail.warnings] == [("unreadableLine", None)] * 2
    assert tail.entry_count() == 104
    assert [(w.kind, w.line) for w in tail.warnings] == [("unreadableLine", 105), ("unreadableLine", 106)]


def test_one_cause_in_both_parts_of_a_file_is_one_warning(open_tail: Opener, tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.jsonl", *chain(0, 1500), compaction(1500, "e0001490"), *chain(1501, 1502))
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    tail = open_tail(path)
    assert tail.entry_count() == 1502
    assert [(w.kind, w.line) for w in tail.warnings] == [("crlf", None)]


def test_a_byte_order_mark_is_no_more_than_a_note_in_a_file_read_from_its_end_to_its_front(
    open_tail: Opener, tmp_path: Path
) -> None:
    path = write_session(tmp_path / "s.jsonl", *chain(0, 50))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    tail = open_tail(path)
    assert [entry.raw for entry in tail.branch()] == chain(0, 50)
    assert [warning.kind for warning in tail.warnings] == ["bom"]


def test_an_id_used_twice_in_the_front_is_reported(open_tail: Opener, tmp_path: Path) -> None:
    again = raw_entry("e0000003", "e0000002", "again")
    rest = [raw_entry("e0000010", "e0000003"), *chain(11, 1500), compaction(1500, "e0001490"), *chain(1501, 1502)]
    path = write_session(tmp_path / "s.jsonl", *chain(0, 10), again, *rest)
    tail = open_tail(path)
    assert (tail.get("e0000003").raw, tail.entry_count()) == (again, 1502)
    assert [(w.kind, w.line) for w in tail.warnings] == [("duplicateId", 12)]


def test_an_orphan_that_comes_twice_hangs_from_what_stood_before_its_last_line(
    open_tail: Opener, tmp_path: Path
) -> None:
    path = tmp_path / "s.jsonl"
    raws = [*chain(0, 40), raw_entry("e0000020", "lost"), *chain(41, 1500)]
    raws[41] = raw_entry("e0000041", "e0000020", TEXT)
    lines = [line(raw) for raw in raws]
    lines.insert(30, b"{torn\n")
    path.write_bytes(
        session_bytes() + b"".join(lines) + line(compaction(1500, "e0001490")) + line(chain(1501, 1502)[0])
    )
    tail, whole = open_tail(path), open_whole(path)
    assert [entry.id for entry in tail.whole_branch()] == [entry.id for entry in whole.branch()]
    assert tail.get("e0000020").parent_id == "lost"


def test_an_id_of_the_front_that_comes_again_in_the_tail_counts_there_and_is_reported(
    open_tail: Opener, tmp_path: Path
) -> None:
    again = raw_entry("e0000005", "e0000004", "again")
    after = [compaction(1500, "e0001490"), *chain(1501, 1502)]
    stray = raw_entry("stray", "e0000005")
    path = write_session(tmp_path / "s.jsonl", stray, *chain(0, 1500), again, *after)
    tail, whole = open_tail(path), open_whole(path)
    assert tail.entry_count() == whole.entry_count() == 1503
    assert tail.tree_nodes(limit=9).nodes == whole.tree_nodes(limit=9).nodes
    assert tail.children(None) == whole.children(None)
    assert [w.kind for w in tail.warnings] == ["duplicateId"]


def test_an_entry_that_another_program_repeats_and_repeats_counts_once_and_closes_no_circle(tmp_path: Path) -> None:
    chain = [raw_entry(f"e{n}", f"e{n - 1}" if n else None, TEXT) for n in range(40)]
    # So that what is before it is not read at first.
    chain[-1] = raw_entry("e39", "e38", type="compaction", summary="s", firstKeptEntryId="", tokensBefore=1)
    seen = []
    for limit in (1 << 40, 4000):
        path = write_session(tmp_path / "s.jsonl", *chain)
        store = SessionStore.open(path, identity=CountingIdentity(first_id=1 << 28), whole_limit=limit)
        for parent in ("e2", "e1", "e10"):
            with path.open("ab") as file:
                file.write(line(raw_entry("e3", parent)))
            store.append("message", {"message": user("next")})
            seen.append((store.entry_count(), len(store.entries().entries), store.children(None)))
        store.close()
    assert seen == [(41, 41, ["e0"]), (42, 42, ["e0"]), (43, 43, ["e0", "e4"])] * 2
