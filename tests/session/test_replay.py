"""Damage in a session file: every complete entry comes out, and each damage is reported once."""

import json
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpc_agent.context.projection import project
from rpc_agent.errors import SessionUnreadable
from rpc_agent.session.entries import read_entry
from rpc_agent.session.replay import LoadedSession, read_session
from tests.support.sessions import HEADER, CountingIdentity, line, raw_entry, session_bytes

A, B, C = raw_entry("a", None), raw_entry("b", "a"), raw_entry("c", "b")


def load(data: bytes) -> LoadedSession:
    return read_session(data, draw_id=CountingIdentity().draw_id)


def ids(loaded: LoadedSession) -> list[str]:
    return [entry.id for entry in loaded.tree]


def found(data: bytes) -> tuple[list[str], list[tuple[str, int | None]]]:
    loaded = load(data)
    return ids(loaded), [(warning.kind, warning.line) for warning in loaded.warnings]


@pytest.mark.parametrize(
    ("data", "warnings"),
    [
        pytest.param(session_bytes(A, B, C), [], id="sound"),
        pytest.param(b"\xef\xbb\xbf" + session_bytes(A, B, C), [("bom", 1)], id="bom"),
        pytest.param(
            b"\xef\xbb\xbf" + session_bytes(A) + b"\xef\xbb\xbf" + session_bytes(B) + line(C),
            [("bom", 1), ("bom", 3), ("extraHeader", 3)],
            id="two files with marks, one behind the other",
        ),
        pytest.param(
            session_bytes(A, B) + line(C).replace(b'"x"', b'"\\ud800 \\ud83d\\ude80"'),
            [("loneSurrogate", 4)],
            id="surrogate",
        ),
        pytest.param(
            session_bytes(A, B) + line(C).replace(b'"x"', b'"\xf0\x9f\x9a"'), [("invalidUtf8", 4)], id="cut character"
        ),
        pytest.param(session_bytes(A, B) + line(C).replace(b'"x"', b"null"), [("nullContent", 4)], id="null content"),
        pytest.param(session_bytes(A, B) + b"\n  \n" + line(C), [("blankLine", 4), ("blankLine", 5)], id="blank"),
        pytest.param(session_bytes(A, B, C).replace(b"\n", b"\r\n"), [("crlf", None)], id="crlf"),
        pytest.param(session_bytes(A, B) + b"\0" * 4096 + line(C), [("nulBytes", 4)], id="nul run before an entry"),
        pytest.param(session_bytes(A, B, C) + b"\0" * 4096, [("nulBytes", 5)], id="nul run at the end"),
        pytest.param(session_bytes(A, B) + b"{bad\n" + line(C), [("unreadableLine", 4)], id="not json"),
        pytest.param(session_bytes(A, B) + line(raw_entry("t", "b"))[:-20] + line(C), [("gluedLine", 4)], id="glued"),
        pytest.param(session_bytes(A) + line(B)[:-1] + line(C), [("joinedLine", 3)], id="two in a line"),
        pytest.param(
            session_bytes(A, B) + b'{"type":"mess' + line({**C, "timestamp": 1700000000}),
            [("gluedLine", 4)],
            id="glued, an odd time",
        ),
        pytest.param(session_bytes(A, B, C) + line(raw_entry("t", "c"))[:-9], [("tornTail", 5)], id="torn tail"),
        pytest.param(
            session_bytes(A, B, C)[:-1] + line(raw_entry("t", "c"))[:-9], [("gluedLine", 4)], id="torn behind"
        ),
        pytest.param(session_bytes(A, B, C, 42, None, []), [("notAnEntry", n) for n in (5, 6, 7)], id="no objects"),
        pytest.param(session_bytes(A, B, C, {"type": "message"}), [("notAnEntry", 5)], id="no id"),
        pytest.param(session_bytes(A, B, C, HEADER), [("extraHeader", 5)], id="second header"),
    ],
)
def test_every_complete_entry_is_read_and_each_damage_is_reported_once(data: bytes, warnings: list[object]) -> None:
    assert found(data) == (["a", "b", "c"], warnings)


def test_a_torn_prefix_that_holds_complete_blocks_yields_only_the_entry_behind_it() -> None:
    torn = line(
        raw_entry(
            "t",
            "b",
            message={
                "role": "assistant",
                "content": [{"type": "toolCall", "id": "x", "name": "n", "arguments": {}}] * 2,
            },
        )
    )
    for cut in range(1, len(torn) - 2):
        assert ids(load(session_bytes(A, B) + torn[:cut] + line(C))) == ["a", "b", "c"], torn[:cut]


@pytest.mark.parametrize(
    "data", [b"\n", b"{}\n", line(A), b"\0" * 100, b"{bad\n" + line(A), line({**HEADER, "id": ""})]
)
def test_a_file_without_a_header_is_unreadable(data: bytes) -> None:
    with pytest.raises(SessionUnreadable):
        load(data)


def test_the_last_line_with_an_id_wins() -> None:
    loaded = load(session_bytes(A, B, raw_entry("a", None, "new")))
    assert (ids(loaded), loaded.tree.get("a").raw["message"]["content"]) == (["b", "a"], "new")
    assert [warning.kind for warning in loaded.warnings] == ["duplicateId"]


def test_numbers_and_surrogates_that_parsers_disagree_about_are_kept_or_made_harmless() -> None:
    data = session_bytes() + (
        b'{"type":"custom","id":"a","parentId":null,"timestamp":"t","customType":"n",'
        b'"data":[123456789012345678901234567890,-9223372036854775809,NaN,1e999,"\\ud83d\\ude80 \\ud83d \\\\ud83d","\xff"]}\n'
    )
    expected = [123456789012345678901234567890, -9223372036854775809, None, None, "\U0001f680 \ufffd \\ud83d", "\ufffd"]
    assert load(data).tree.get("a").raw["data"] == expected


def test_an_entry_nested_deeper_than_any_reader_goes_is_reported_and_the_next_one_is_read() -> None:
    deep = (
        b'{"type":"custom","id":"d","parentId":"b","timestamp":"t","data":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    )
    assert found(session_bytes(A, B) + deep + line(C)) == (["a", "b", "c"], [("unreadableLine", 4)])


def test_an_orphan_behind_a_lost_line_is_bridged_and_one_in_a_sound_file_is_not() -> None:
    orphan = raw_entry("d", "lost")
    damaged = load(session_bytes(A, B) + b"{torn\n" + line(orphan))
    sound = load(session_bytes(A, B, orphan))
    assert [entry.id for entry in damaged.tree.path("d")] == ["a", "b", "d"]
    assert [entry.id for entry in sound.tree.path("d")] == ["d"]
    kinds = [[warning.kind for warning in each.tree.warnings.all()] for each in (damaged, sound)]
    assert kinds == [["bridgedParent"], ["missingParent"]]


def test_a_million_blank_lines_make_a_hundred_warnings_and_a_count() -> None:
    warnings = load(session_bytes(A) + b"\n" * 1_000_000).warnings
    assert len(warnings) == 101
    assert warnings[-1].message.startswith("999900 more")


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.text(max_size=30), min_size=1, max_size=6),
    st.lists(
        st.sampled_from(
            [
                b"",
                b"\r",
                b"\n",
                b"{bad",
                b"\0\0\0",
                b"[1]\n",
                b"null\n",
                b"\xff\xfe\n",
                b'{"type":"message","id":"q","par',
            ]
        ),
        max_size=6,
    ),
    st.data(),
)
def test_whatever_stands_between_entries_no_complete_one_is_lost(
    texts: list[str], noise: list[bytes], data: st.DataObject
) -> None:
    entries = [raw_entry(f"e{n}", f"e{n - 1}" if n else None, text) for n, text in enumerate(texts)]
    file = session_bytes()
    for raw in entries:
        # Anything without a newline glues to the next entry, as torn writes do.
        file += data.draw(st.sampled_from([*noise, b""])) + line(raw)
    cut = data.draw(st.integers(0, len(line(entries[-1])) - 2))
    loaded = load(file + line(raw_entry("torn", None))[:cut])
    kept = [entry.raw for entry in loaded.tree if entry.id != "torn"]
    assert kept == entries


def test_a_glued_entry_is_found_whatever_field_it_begins_with() -> None:
    sorted_entry = dict(sorted(raw_entry("c", "b", type="custom", customType="x", data=1).items()))
    assert next(iter(sorted_entry)) == "customType"
    assert found(session_bytes(A) + line(B)[:-1] + line(sorted_entry)) == (["a", "b", "c"], [("joinedLine", 3)])
    torn = line(raw_entry("t", "b"))[:-20]
    assert found(session_bytes(A, B) + torn + line(sorted_entry)) == (["a", "b", "c"], [("gluedLine", 4)])


def readings_in_vain(work: Callable[[], object]) -> list[int]:
    """How far each reading of JSON came that failed while this was done, in characters."""
    costs: list[int] = []

    def enter(frame: FrameType, event: str, _: Any) -> Any:
        return hear if frame.f_code is json.JSONDecoder.raw_decode.__code__ else None

    def hear(frame: FrameType, event: str, raised: Any) -> Any:
        if event == "exception" and isinstance(raised[1], ValueError | RecursionError):
            costs.append(getattr(raised[1], "pos", len(frame.f_locals["s"])))
        return hear

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        work()
    finally:
        sys.settrace(before)
    return costs


@pytest.mark.parametrize("noise", ['{"a":', '{"a":1,', '{"type":"a","id":', '[{"type":"x",'])
def test_a_record_behind_much_that_is_open_is_found_without_reading_all_of_it_over_and_over(noise: str) -> None:
    text = (noise * 20_000).encode()
    data = session_bytes(A, B) + text + line(C)
    assert found(data) == (["a", "b", "c"], [("gluedLine", 4)])
    cost = sum(readings_in_vain(lambda: load(data)))
    assert len(text) < cost < 200 * len(text), "a fixed number of times the length, whatever the length"


@pytest.mark.parametrize("links", [{}, {"parentId": 7.5}, {"parentId": {}}, {"parentId": ""}])
def test_an_entry_that_names_no_parent_is_one_whose_parent_is_missing(links: dict[str, Any]) -> None:
    nameless = {**raw_entry("c", None), **links}
    if not links:
        del nameless["parentId"]
    data = session_bytes(A, B, nameless, raw_entry("d", "c"))
    loaded = load(data)
    assert ids(loaded) == ["a", "b", "c", "d"]
    assert [entry.id for entry in loaded.tree.path("d")] == ["c", "d"]
    assert loaded.tree.get("c").raw == nameless
    assert [warning.message for warning in loaded.tree.warnings.all()] == [
        "The parent of entry c is not in the file; the path begins here."
    ]
    # Where a line before it was lost, that was probably the parent, as for every other entry.
    damaged = load(data.replace(line(B), line(B) + b"{torn\n"))
    assert [entry.id for entry in damaged.tree.path("d")] == ["a", "b", "c", "d"]
    assert [warning.kind for warning in damaged.tree.warnings.all()] == ["bridgedParent"]


def test_ids_that_became_numbers_are_read_as_their_digits() -> None:
    first, second = {**raw_entry("1", None), "id": 10203040}, {**raw_entry("b", None), "parentId": 10203040}
    loaded = load(session_bytes(first, second))
    assert [entry.id for entry in loaded.tree.path("b")] == ["10203040", "b"]
    assert [entry.raw for entry in loaded.tree] == [
        {**first, "id": "10203040"},
        {**second, "parentId": "10203040"},
    ]
    assert (loaded.warnings, loaded.tree.warnings.all()) == ([], [])


@pytest.mark.parametrize(("number", "digits"), [(10203040, "10203040"), (7.0, "7"), (1.5e44, "1.5e+44")])
def test_what_refers_to_an_id_that_became_a_number_finds_it(number: object, digits: str) -> None:
    fields: dict[str, Any] = {"targetId": number, "label": "here"}
    kept = {"type": "compaction", "summary": "s", "tokensBefore": 1, "firstKeptEntryId": number}
    records = [{**A, "id": number}, {**B, "parentId": number, "type": "label", **fields}, {**C, **kept}]
    loaded = load(session_bytes(*records))
    path = loaded.tree.path("c")
    assert [entry.id for entry in path] == [digits, "b", "c"]
    assert loaded.tree.labels() == {digits: "here"}
    assert [entry.id for entry in project(path).entries] == ["c", digits, "b"]
    hidden = read_entry({**raw_entry("d", "c"), "type": "context_edit", "targetId": number, "replacement": None})
    assert hidden is not None
    assert project([path[0], hidden]).messages == []


def test_every_broken_link_is_reported_once_on_whatever_branch_it_is() -> None:
    ring = [raw_entry("r1", "r3"), raw_entry("r2", "r1"), raw_entry("r3", "r2"), raw_entry("self", "self")]
    loaded = load(session_bytes(A, raw_entry("o", "gone"), *ring, B))
    for leaf in ("b", "o", "r1", "r2", "r3", "self"):
        loaded.tree.path(leaf)
    assert [(warning.kind, warning.message.split(";")[0]) for warning in loaded.tree.warnings.all()] == [
        ("missingParent", "The parent gone of entry o is not in the file"),
        ("cycle", "Entry r1 is its own ancestor"),
        ("cycle", "Entry self is its own ancestor"),
    ]


@pytest.mark.parametrize("noise", [b"xx", b"}", b'{"type":"mess', b"42", b'"', b',"a":1}', b"\xef\xbb\xbf{", b"\xff"])
def test_whatever_follows_a_whole_entry_in_its_line_does_not_cost_it(noise: bytes) -> None:
    assert found(session_bytes(A) + line(B)[:-1] + noise + b"\n" + line(C)) == (["a", "b", "c"], [("gluedLine", 3)])
    if noise[-1:] not in (b"}", b'"'):
        assert found(session_bytes(A) + line(B)[:-1] + noise + line(C)) == (["a", "b", "c"], [("gluedLine", 3)])


def test_what_is_odd_in_an_entry_is_told_beside_what_is_wrong_with_its_line() -> None:
    odd = line(C).replace(b'"x"', b'"\\ud83d \xff"')
    assert found(session_bytes(A) + line(B)[:-1] + b"\0\0" + odd) == (
        ["a", "b", "c"],
        [("nulBytes", 3), ("joinedLine", 3), ("invalidUtf8", 3), ("loneSurrogate", 3)],
    )
    # A character cut in the torn piece is that damage, not another one.
    torn = line(raw_entry("t", "b", "\u4f60"))
    cut = torn[: torn.index("\u4f60".encode()) + 1]
    assert found(session_bytes(A, B) + cut + line(C)) == (["a", "b", "c"], [("gluedLine", 4)])


def test_an_entry_without_a_parent_is_found_in_a_glued_line_too() -> None:
    nameless = {key: value for key, value in C.items() if key != "parentId"}
    loaded = load(session_bytes(A, B) + line(raw_entry("t", "b"))[:-20] + line(nameless))
    assert (ids(loaded), [entry.id for entry in loaded.tree.path("c")]) == (["a", "b", "c"], ["a", "b", "c"])


def test_damage_behind_an_orphan_is_no_reason_to_bridge_it() -> None:
    loaded = load(session_bytes(A, raw_entry("b", "gone"), C) + line(raw_entry("t", "c"))[:-9])
    assert [entry.id for entry in loaded.tree.path("c")] == ["b", "c"]
    assert [warning.kind for warning in loaded.tree.warnings.all()] == ["missingParent"]
