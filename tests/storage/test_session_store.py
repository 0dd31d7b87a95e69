"""A session store on real files: what it writes it reads again, and memory never runs ahead of the disk."""

import os
import stat
import threading
from pathlib import Path

import pytest

from rpc_agent.errors import (
    EntryNotFound,
    SessionLocked,
    SessionNotFound,
    SessionReadOnly,
    SessionUnreadable,
    StorageFailed,
)
from rpc_agent.storage.session_store import SessionStore
from tests.support.sessions import (
    HEADER,
    CountingIdentity,
    assistant,
    line,
    raw_entry,
    session_bytes,
    user,
    write_session,
)
from tests.support.system_calls import system_calls


def create(tmp_path: Path) -> SessionStore:
    return SessionStore.create(tmp_path / "sessions", cwd="/home/me/project", identity=CountingIdentity())


def reopen(path: Path | None, *, read_only: bool = False) -> SessionStore:
    assert path is not None
    return SessionStore.open(path, identity=CountingIdentity(first_id=4096), read_only=read_only)


def kinds(store: SessionStore) -> list[str]:
    return [warning.kind for warning in store.warnings]


def all_ids(store: SessionStore) -> list[str]:
    return [entry.id for entry in store.entries().entries]


def test_the_file_appears_with_the_first_message_and_holds_what_came_before(tmp_path: Path) -> None:
    store = create(tmp_path)
    store.append("model_change", {"provider": "p", "modelId": "m"})
    store.append("message", {"message": {"role": "system", "content": "s", "timestamp": 0}})
    assert (store.path is not None and store.path.exists(), store.file_bytes) == (False, 0)
    store.append("message", {"message": user("hello")})
    assert store.path is not None
    written = store.path.read_bytes()
    assert written == session_bytes(*(entry.raw for entry in store.branch()), header=store.header)
    assert (store.file_bytes, os.listdir(store.path.parent.parent)) == (len(written), ["--home-me-project--"])
    assert (
        store.path.name == f"{store.header['timestamp'].replace(':', '-').replace('.', '-')}_{store.session_id}.jsonl"
    )
    store.close()
    assert reopen(store.path, read_only=True).branch() == store.branch()


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
def test_only_the_owner_may_read_files_and_folders(tmp_path: Path) -> None:
    store = create(tmp_path)
    store.append("message", {"message": user("hello")})
    assert store.path is not None
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (store.path, *store.path.parents[:2])]
    assert modes == [0o600, 0o700, 0o700]


def test_an_ephemeral_session_writes_nothing(tmp_path: Path) -> None:
    store = SessionStore.create(None, cwd=str(tmp_path), identity=CountingIdentity())
    store.append("message", {"message": user("hello")})
    assert (store.path, store.file_bytes, len(store.branch()), list(tmp_path.iterdir())) == (None, 0, 1, [])


def test_entries_hang_from_the_leaf_and_a_navigation_survives_a_restart(tmp_path: Path) -> None:
    store = create(tmp_path)
    first = store.append("message", {"message": user("one")})
    second, third = store.append_many([("message", {"message": assistant("a")}), ("message", {"message": user("b")})])
    marker = store.append_at(first.id, "custom", {"customType": "leaf"})
    assert [each.parent_id for each in (first, second, third, marker)] == [None, first.id, second.id, first.id]
    store.close()
    again = reopen(store.path)
    assert (again.leaf_id, again.branch(), again.branch(third.id)) == (
        marker.id,
        [first, marker],
        [first, second, third],
    )
    assert again.nearest_substantial() == first
    with pytest.raises(EntryNotFound):
        again.append_at("nope", "custom", {"customType": "leaf"})
    again.close()


def test_an_entry_can_name_itself_by_an_id_reserved_before(tmp_path: Path) -> None:
    store = create(tmp_path)
    store.append("message", {"message": user("one")})
    reserved = store.reserve_id()
    other = store.append("message", {"message": user("two")})
    fields = {"summary": "s", "firstKeptEntryId": reserved, "tokensBefore": 1}
    entry = store.append("compaction", fields, entry_id=reserved)
    assert (entry.id, entry.parent_id, entry.raw["firstKeptEntryId"]) == (reserved, other.id, reserved)
    store.close()


def test_a_navigation_above_the_root_makes_a_second_root(tmp_path: Path) -> None:
    store = create(tmp_path)
    first = store.append("message", {"message": user("one")})
    marker = store.append_at(None, "custom", {"customType": "leaf"})
    assert (store.branch(), store.children(None), store.nearest_substantial()) == (
        [marker],
        [first.id, marker.id],
        None,
    )
    store.close()


def test_a_missing_file_a_folder_and_a_file_without_header_are_told_apart(tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_bytes(line(raw_entry("a", None)))
    with pytest.raises(SessionNotFound):
        reopen(tmp_path / "none.jsonl")
    for path in (tmp_path, broken):
        with pytest.raises(SessionUnreadable):
            reopen(path)
    assert broken.read_bytes() == line(raw_entry("a", None))
    assert sorted(os.listdir(tmp_path)) == ["broken.jsonl"]


def test_an_empty_file_becomes_a_new_session_with_one_header(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.touch()
    store = SessionStore.open(path, identity=CountingIdentity(), cwd="/w")
    entry = store.append("message", {"message": user("one")})
    store.close()
    assert path.read_bytes() == session_bytes(entry.raw, header=store.header)
    assert (store.cwd, reopen(path, read_only=True).branch()) == ("/w", [entry])


def test_a_second_opener_is_refused_with_the_pid_and_may_read(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.jsonl", raw_entry("a", None))
    first = reopen(path)
    with pytest.raises(SessionLocked) as refusal:
        reopen(path)
    assert refusal.value.details == {"pid": os.getpid()}
    reader = reopen(path, read_only=True)
    with pytest.raises(SessionReadOnly):
        reader.append("message", {"message": user("no")})
    first.close()
    reopen(path).close()
    assert os.listdir(tmp_path) == ["s.jsonl"]


def test_a_later_version_is_open_read_only_and_says_so(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.jsonl", raw_entry("a", None), header={**HEADER, "version": 4})
    store = reopen(path)
    assert (store.read_only, kinds(store), all_ids(store)) == (True, ["futureVersion"], ["a"])
    with pytest.raises(SessionReadOnly):
        store.append("message", {"message": user("no")})
    reopen(path)


def test_an_old_version_is_migrated_on_disk_and_goes_on(tmp_path: Path) -> None:
    old = {key: value for key, value in HEADER.items() if key != "version"}
    messages = [{"type": "message", "timestamp": "t", "message": user(text)} for text in ("one", "two", "three")]
    compaction = {"type": "compaction", "timestamp": "t", "summary": "s", "firstKeptEntryIndex": 2, "tokensBefore": 1}
    path = write_session(tmp_path / "s.jsonl", *messages, compaction, header=old)
    before = path.read_bytes()
    reader = reopen(path, read_only=True)
    assert (len(reader.branch()), path.read_bytes()) == (4, before)
    store = reopen(path)
    ids = all_ids(store)
    assert store.get(ids[3]).raw["firstKeptEntryId"] == ids[1]
    added = store.append("message", {"message": user("four")})
    store.close()
    again = reopen(path, read_only=True)
    assert (all_ids(again), again.header["version"], os.listdir(tmp_path)) == ([*ids, added.id], 3, ["s.jsonl"])


def old_file(path: Path) -> tuple[Path, bytes]:
    """A file of version 1 with a line in it that cannot be read."""
    old = {key: value for key, value in HEADER.items() if key != "version"}
    one, two = ({"type": "message", "timestamp": "t", "message": user(text)} for text in ("one", "two"))
    path.write_bytes(session_bytes(one, header=old) + b'{"type":"message","timest\n' + line(two))
    return path, path.read_bytes()


def test_the_first_line_behind_a_migrated_end_without_newline_follows_at_once(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.jsonl", raw_entry("a", None), header={**HEADER, "version": 2})
    path.write_bytes(path.read_bytes()[:-1])
    store = reopen(path)
    added = store.append("message", {"message": user("b")})
    store.close()
    assert path.read_bytes() == session_bytes(raw_entry("a", None), added.raw)


def test_what_a_migration_cannot_read_is_kept_beside_the_new_file(tmp_path: Path) -> None:
    path, before = old_file(tmp_path / "s.jsonl")
    reopen(path, read_only=True).close()
    assert os.listdir(tmp_path) == ["s.jsonl"]
    store = reopen(path)
    store.close()
    kept = tmp_path / "s.jsonl.before-migration-1"
    assert (kept.read_bytes(), len(all_ids(store))) == (before, 2)
    assert (kinds(store), kept.name in store.warnings[-1].message) == (["unreadableLine", "originalKept"], True)
    again = reopen(path)
    again.close()
    assert (all_ids(again), kinds(again), kept.read_bytes()) == (all_ids(store), [], before)


def test_an_original_that_was_kept_before_stays(tmp_path: Path) -> None:
    path, before = old_file(tmp_path / "s.jsonl")
    (tmp_path / "s.jsonl.before-migration-1").write_bytes(b"somebody's")
    reopen(path).close()
    assert (tmp_path / "s.jsonl.before-migration-1").read_bytes() == b"somebody's"
    assert (tmp_path / "s.jsonl.before-migration-2").read_bytes() == before
    # A kill between keeping and replacing leaves both names on one file: the next one needs no third.
    other, _ = old_file(tmp_path / "t.jsonl")
    os.link(other, tmp_path / "t.jsonl.before-migration-1")
    reopen(other).close()
    assert sorted(os.listdir(tmp_path)) == [
        "s.jsonl",
        "s.jsonl.before-migration-1",
        "s.jsonl.before-migration-2",
        "t.jsonl",
        "t.jsonl.before-migration-1",
    ]


def test_unknown_entries_and_fields_come_back_as_they_were(tmp_path: Path) -> None:
    strange = raw_entry("a", None, type="future_thing", payload={"a": [1, None, {"b": 2}]})
    extra = {**raw_entry("b", "a"), "extra": 2**70}
    path = write_session(tmp_path / "s.jsonl", strange, extra)
    before = path.read_bytes()
    store = reopen(path)
    added = store.append("message", {"message": user("c")})
    store.close()
    assert [entry.raw for entry in store.branch()] == [strange, extra, added.raw]
    assert path.read_bytes() == before + line(added.raw)


def test_lone_surrogates_and_numbers_json_lacks_are_never_written(tmp_path: Path) -> None:
    store = create(tmp_path)
    entry = store.append("message", {"message": {**user("a\ud83d\U0001f680"), "x": 2**70, "y": float("nan")}})
    store.close()
    assert reopen(store.path, read_only=True).branch() == [entry]
    assert entry.raw["message"] == {**user("a\ufffd\U0001f680"), "x": 2**70, "y": None}


def test_what_another_program_adds_is_read_and_our_leaf_stays(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.jsonl", raw_entry("a", None))
    store = reopen(path)
    with open(path, "ab") as other:
        other.write(line(raw_entry("f", "a")) + b'{"type":"mess')
    added = store.append("message", {"message": user("b")})
    assert (added.parent_id, kinds(store)) == ("a", ["tornTail", "foreignAppend"])
    store.close()
    assert path.read_bytes().endswith(b'{"type":"mess\n' + line(added.raw))
    again = reopen(path)
    assert (all_ids(again), again.leaf_id, again.branch(added.id)[0].id) == (["a", "f", added.id], added.id, "a")
    again.close()


@pytest.mark.parametrize("harm", ["removed", "replaced", "cut"])
def test_a_file_that_is_gone_or_cut_refuses_appends_and_memory_stays(tmp_path: Path, harm: str) -> None:
    path = write_session(tmp_path / "s.jsonl", raw_entry("a", None), raw_entry("b", "a"))
    store = reopen(path)
    if harm == "cut":
        os.truncate(path, 150)
    else:
        path.unlink()
    if harm == "replaced":
        path.write_bytes(session_bytes())
    with pytest.raises(StorageFailed):
        store.append("message", {"message": user("lost")})
    assert (store.leaf_id, all_ids(store)) == ("b", ["a", "b"])
    store.close()


def test_a_folder_that_cannot_be_made_leaves_the_session_in_memory(tmp_path: Path) -> None:
    (tmp_path / "sessions").write_bytes(b"a file where the folder should be")
    store = create(tmp_path)
    with pytest.raises(StorageFailed) as refusal:
        store.append("message", {"message": user("one")})
    assert (refusal.value.details["path"], store.leaf_id) == (str(store.path), None)


@pytest.mark.anyio
async def test_sync_waits_for_the_disk_in_another_thread_and_is_harmless_without_a_file(tmp_path: Path) -> None:
    store = create(tmp_path)
    with system_calls("fsync", "fdatasync") as calls:
        await store.sync()
        assert calls == []
        store.append("message", {"message": user("one")})
        await store.sync()
    store.close()
    # Of the new file's bytes and of its name; the event loop goes on meanwhile.
    assert len(calls) == (2 if os.name == "posix" else 1)
    assert threading.current_thread() not in {call.thread for call in calls}


def test_what_another_program_adds_to_a_damaged_file_hangs_where_it_hangs_when_opened_anew(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.jsonl", raw_entry("a", None))
    path.write_bytes(path.read_bytes() + b"<<<<<<< HEAD\n")
    store = reopen(path)
    with path.open("ab") as file:
        file.write(line(raw_entry("b", "lost")))
    store.append("message", {"message": user("next")})
    store.close()
    again = reopen(path, read_only=True)
    assert [(each.parent_of(each.get("b")), each.children("a")[0]) for each in (store, again)] == [("a", "b")] * 2


def test_pages_of_entries_and_nodes_lead_from_one_to_the_next(tmp_path: Path) -> None:
    label = raw_entry("d", "c", type="label", targetId="b", label="here")
    path = write_session(tmp_path / "s.jsonl", raw_entry("a", None), raw_entry("b", "a"), raw_entry("c", "a"), label)
    store = reopen(path, read_only=True)
    page = store.entries(limit=3)
    rest = store.entries(page.next_cursor, limit=3)
    assert ([e.id for e in page.entries], page.next_cursor, page.leaf_id) == (["a", "b", "c"], "c", "d")
    assert ([e.id for e in rest.entries], rest.next_cursor) == (["d"], None)
    nodes = store.tree_nodes().nodes
    assert [(n.entry.id, n.parent_id, n.child_count, n.label, n.label_timestamp) for n in nodes] == [
        ("a", None, 2, None, None),
        ("b", "a", 0, "here", label["timestamp"]),
        ("c", "a", 1, None, None),
        ("d", "c", 0, None, None),
    ]
    assert [n.entry.id for n in store.tree_nodes(root_id="a", depth=1).nodes] == ["a", "b", "c"]
    assert [n.entry.id for n in store.tree_nodes(root_id="c", cursor="c").nodes] == ["d"]
    with pytest.raises(EntryNotFound):
        store.entries("nope")
