"""The tree as branches and outline: every entry once, whatever the links are; and sessions of any depth."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpc_agent.export.branches import branches, outline
from rpc_agent.export.document import Document
from rpc_agent.export.jsonl import export_jsonl
from rpc_agent.export.plain_text import moment, one_line, plain
from rpc_agent.export.render import render
from rpc_agent.export.snapshot import SessionSnapshot, take_snapshot
from rpc_agent.export.totals import Totals, totals
from rpc_agent.session.entries import read_entry
from rpc_agent.storage.session_store import SessionStore
from tests.support.exports import entries_of
from tests.support.sessions import HEADER, CountingIdentity, raw_entry, session_bytes, user


def snapshot(links: dict[str, str | None], leaf: str | None) -> SessionSnapshot:
    return SessionSnapshot(
        header=HEADER, entries=entries_of(raw_entry(each, parent, each) for each, parent in links.items()), leaf_id=leaf
    )


def shape(found: SessionSnapshot) -> list[tuple[str, str | None]]:
    return [("".join(e.id for e in each.entries), each.fork.id if each.fork else None) for each in branches(found)]


@pytest.mark.parametrize(
    ("links", "leaf", "expected"),
    [
        ({}, None, [("", None)]),
        ({"a": None, "b": "a", "c": "b"}, "c", [("abc", None)]),
        ({"a": None, "b": "a", "c": "a", "d": "c"}, "d", [("acd", None), ("b", "a")]),
        ({"a": None, "b": "a", "c": "a", "d": "c"}, "b", [("ab", None), ("cd", "a")]),
        ({"a": None, "b": "a", "c": "b"}, "a", [("a", None), ("bc", "a")]),
        ({"a": None, "b": None}, "b", [("b", None), ("a", None)]),
        ({"a": None, "b": "lost"}, "b", [("b", None), ("a", None)]),
        ({"a": "b", "b": "a"}, "b", [("ab", None)]),
        ({"a": "a", "b": "a"}, None, [("", None), ("ab", None)]),
        ({"x": None, "a": "b", "b": "a"}, "x", [("x", None), ("ab", None)]),
        ({"a": "b", "b": "a", "c": "a"}, None, [("", None), ("ac", None), ("b", "a")]),
        ({"a": None, "b": "a", "c": "b", "d": "b", "e": "a"}, "e", [("ae", None), ("bd", "a"), ("c", "b")]),
    ],
)
def test_branches(links: dict[str, str | None], leaf: str | None, expected: list[tuple[str, str | None]]) -> None:
    assert shape(snapshot(links, leaf)) == expected


@given(st.lists(st.integers(-1, 12), max_size=12), st.integers(0, 12))
def test_every_entry_is_on_exactly_one_branch_and_in_the_outline(parents: list[int], leaf: int) -> None:
    found = snapshot({str(at): str(parent) for at, parent in enumerate(parents)}, str(leaf))
    ids = sorted(entry.id for branch in branches(found) for entry in branch.entries)
    lines = outline(branches(found), lambda _: True, lambda _: False)
    assert (ids, sorted(line.entry.id for line in lines)) == (sorted(map(str, range(len(parents)))),) * 2


def test_the_outline_puts_a_branch_below_its_fork_and_marks_the_active_one() -> None:
    found = snapshot({"a": None, "b": "a", "c": "b", "d": "a", "e": "d"}, "e")
    lines = [(each.text, each.depth, each.is_active, each.is_leaf) for each in Document(found).headings()]
    assert lines == [
        ("a", 0, True, False),
        ("b", 1, False, False),
        ("c", 1, False, False),
        ("d", 0, True, False),
        ("e", 0, True, True),
    ]


@pytest.mark.parametrize(
    "parent",
    [lambda at: at - 1, lambda at: max(0, (at - 1) // 2 * 2), lambda at: 0, lambda at: at + 1],
    ids=["a line", "forks of forks", "a star", "backwards"],
)
def test_no_shape_of_a_session_is_too_deep(parent: Callable[[int], int]) -> None:
    count = 20_000
    links: dict[str, str | None] = {f"n{at}": f"n{parent(at)}" if at else None for at in range(count)}
    html = render(snapshot(links, f"n{count - 1}"), "html")
    assert isinstance(html, str)
    assert html.count("<article") == count


def test_a_damaged_file_is_exported_whole_and_says_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    rows = [raw_entry("a", None, "first"), raw_entry("c", "b", "second"), {"type": "x", "id": "d", "parentId": "c"}]
    data = session_bytes(*rows).replace(b'{"type":"message","id":"c"', b'{"id":"b", torn\n{"type":"message","id":"c"')
    path.write_bytes(data + b'{"type":"mess')
    store = SessionStore.open(path, identity=CountingIdentity(), read_only=True)
    taken = take_snapshot(store, stored=path.read_bytes())
    html = render(taken, "html")
    assert isinstance(html, str)
    assert [word in html for word in ("first", "second", "unknown kind: x", "Line 3: ")] == [True] * 4
    assert render(taken, "jsonl") == path.read_bytes()


def test_a_session_without_a_file_becomes_the_lines_it_would_have() -> None:
    rows = [raw_entry("a", None, "é"), {"type": "new", "id": "b", "parentId": "a", "x": {"y": 1.5}}]
    assert export_jsonl(SessionSnapshot(header=HEADER, entries=entries_of(rows), leaf_id="b")) == session_bytes(*rows)


def test_a_large_file_read_from_its_tail_is_exported_whole(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    rows = [raw_entry(f"e{at}", f"e{at - 1}" if at else None, f"text {at} " + "x" * 90) for at in range(2000)]
    path.write_bytes(session_bytes(*rows))
    store = SessionStore.open(path, identity=CountingIdentity(), read_only=True, whole_limit=50_000)
    taken = take_snapshot(store)
    assert [entry.id for entry in taken.entries] == [row["id"] for row in rows]
    store.close()


def test_totals_add_what_every_paid_call_reported() -> None:
    usage = {"input": 10, "output": 5, "cacheRead": 2, "cacheWrite": 1, "cost": {"total": 0.5}}
    answer = {"role": "assistant", "content": [], "provider": "p", "model": "m", "usage": usage, "timestamp": 0}
    rows = [
        raw_entry("a", None, message=user("hi")),
        raw_entry("b", "a", message=answer),
        {"type": "compaction", "id": "c", "parentId": "b", "timestamp": "", "summary": "s", "usage": usage},
        {"type": "usage", "id": "d", "parentId": "c", "kind": "k", "usage": {**usage, "cost": {"total": float("inf")}}},
    ]
    assert totals(entry for row in rows if (entry := read_entry(row))) == Totals(
        user_messages=1,
        assistant_messages=1,
        compactions=1,
        input=30,
        output=15,
        cache_read=6,
        cache_write=3,
        cost=1.0,
        models={"p/m": None},
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x07", "link"),
        ("\x9b31mred", "red"),
        ("a\r\nb\rc\td", "a\nb\nc\td"),
        ("\x00\x07\x7f\x85bell", "bell"),
        ("\ud800x", "\ufffdx"),
        ("\u202eexe", "\ufffdexe"),
        ("עברית", "עברית"),
        ("\x1b", ""),
    ],
)
def test_what_a_terminal_would_obey_is_taken_out(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_times_and_lines_are_made_for_people() -> None:
    assert moment("2026-01-01T02:00:00.123+02:00") == "2026-01-01 00:00:00"
    assert (moment("yesterday\n"), moment("0001-01-01T00:00:00+23:00")) == ("yesterday", "0001-01-01 00:00:00")
    assert (one_line(" a\n b ", 9), one_line("abcdef", 4), one_line("x" * 99, 3)) == ("a b", "abc…", "xx…")
