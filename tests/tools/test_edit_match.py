import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rpc_agent.tools.edit_match import Edit, apply_edits
from rpc_agent.tools.failure import ToolFailure

CASES = Path(__file__).parent.parent / "golden" / "tools"


def edited(data: bytes, *edits: tuple[str, str]) -> bytes:
    return apply_edits(data, [Edit(old, new) for old, new in edits]).data


def refused(data: bytes, *edits: tuple[str, str]) -> ToolFailure:
    with pytest.raises(ToolFailure) as failure:
        apply_edits(data, [Edit(old, new) for old, new in edits])
    return failure.value


def case(name: str) -> tuple[bytes, list[tuple[str, str]]]:
    raw: dict[str, Any] = json.loads((CASES / f"{name}.json").read_bytes())
    return base64.b64decode(raw["file_b64"]), [(edit["oldText"], edit["newText"]) for edit in raw["edits"]]


def test_case_a_crlf_file_keeps_its_line_ends():
    data, edits = case("edit_crlf")
    assert edited(data, *edits) == b"ALPHA\r\nBETA\r\ngamma\r\n"


def test_case_overlapping_matches_are_counted():
    data, edits = case("edit_overlap")
    assert refused(data, *edits).details == {"matches": 2, "lines": [1, 2]}


def test_case_a_latin1_byte_elsewhere_stays():
    data, edits = case("edit_latin1")
    assert edited(data, *edits) == b"const x = 2;\n// caf\xe9 note\n"


@pytest.mark.parametrize(
    ("data", "old", "new", "result"),
    [
        # line ends
        (b"a\r\nb\r\nc\r\n", "b\n", "x\ny\n", b"a\r\nx\r\ny\r\nc\r\n"),
        (b"a\r\nb\r\nc\r\n", "b\n", "", b"a\r\nc\r\n"),
        (b"a\r\nb\r\n", "\nb", "\nc\nd", b"a\r\nc\r\nd\r\n"),
        (b"a\r\nb", "b", "b\nc", b"a\r\nb\r\nc"),
        (b"a\nb\n", "a\r\nb", "a\r\nc", b"a\nc\n"),
        (b"a\nb\n", "a\nb", "a\r\nc\r\nd", b"a\nc\nd\n"),
        (b"one", "one", "one\ntwo", b"one\ntwo"),
        (b"a\rb\rc\r", "b\nc", "B\nx\nC", b"a\rB\rx\rC\r"),
        (b"a\rb\n", "a\rb", "a\rx", b"a\rx\n"),
        # mixed line ends: each line keeps its own, a new one takes that of the line before
        (b"a\r\nb\nc\r\nd\n", "a\nb\nc\n", "a\nX\nb\nc\n", b"a\r\nX\r\nb\nc\r\nd\n"),
        (b"a\r\nb\nc\r\n", "b\nc", "B\nC", b"a\r\nB\nC\r\n"),
        # an edit of line ends alone is meant as it is written
        (b"a\nb\n", "a\nb", "a\r\nb", b"a\r\nb\n"),
        (b"a\r\nb\r\n", "a\r\nb", "a\nb", b"a\nb\r\n"),
        # the last line without an end
        (b"a\nb", "b\n", "c\n", b"a\nc"),
        (b"a\r\nb", "a\nb\n", "a\nc\nd\n", b"a\r\nc\r\nd"),
        # spaces at line ends
        (b"a  \nb\n", "a\nb", "a\nc", b"a  \nc\n"),
        (b"if x:\t\n  y\n", "if x:\n", "if z:\n", b"if z:\n  y\n"),
        (b"foo\nbar\n", "foo  \nbar", "foo  \nbaz", b"foo\nbaz\n"),
        (b"foobar\nfoo \n", "foo  ", "x", b"foobar\nx\n"),
        # quotes, dashes and spaces: what the edit repeats stays as the file has it
        ("say “hi” – 1\n".encode(), 'say "hi" - 1', 'say "hi" - 2', "say “hi” – 2\n".encode()),
        ("a b\nx “q”\nc\n".encode(), 'a b\nx "q"\nc', 'A b\nx "q"\nC', "A b\nx “q”\nC\n".encode()),
        ("it’s\n".encode(), "it's\n", "it was\n", b"it was\n"),
        # accents and syllables, as macOS writes them and as models do
        ("a caf\u0065\u0301!\n".encode(), "café!", "thé!", "a thé!\n".encode()),
        ("caf\u00e9\n".encode(), "cafe\u0301", "x", b"x\n"),
        (
            "// e\u0301te\u0301\nx = 1  \ny\n".encode(),
            "// été\nx = 1\ny",
            "// été\nx = 2\ny",
            "// e\u0301te\u0301\nx = 2\ny\n".encode(),
        ),
        ("\u1112\u1161\u11ab\u1100\u1173\u11af = 1".encode(), "한글 = 1", "한글 = 2", "한글 = 2".encode()),
        ("x\u0304e\u0301y z\n".encode(), "éy", "w", "x\u0304w z\n".encode()),
        # marks and encodings
        (b"\xef\xbb\xbfa\nb\n", "a", "\ufeffc", b"\xef\xbb\xbfc\nb\n"),
        (b"\xef\xbb\xbfa\nb\n", "a", "c", b"\xef\xbb\xbfc\nb\n"),
        (b"\xef\xbb\xbfa\n", "\ufeffa", "\ufeffb", b"\xef\xbb\xbfb\n"),
        (
            b"\xff\xfe" + "é\r\nb\r\n".encode("utf-16-le"),
            "é\nb",
            "è\nb\n😀",
            b"\xff\xfe" + "è\r\nb\r\n😀\r\n".encode("utf-16-le"),
        ),
        (b"\xfe\xff" + "ab".encode("utf-16-be") + b"\x00", "b", "c", b"\xfe\xff" + "ac".encode("utf-16-be") + b"\x00"),
        (b"\xff\xfe\x00\xd8a\x00", "a", "b", b"\xff\xfe\x00\xd8b\x00"),
        (b"\x82\xa0 = 1\n\xff\xc0\r\n", "= 1\n", "= 2\n", b"\x82\xa0 = 2\n\xff\xc0\r\n"),
        (b"a\x00b\n", "b", "c", b"a\x00c\n"),
        # half pairs cannot be written
        (b"a\n", "a", "\ud800", "\ufffd\n".encode()),
        # U+2028 and form feeds end no line
        ("a\u2028b\x0cc\r\n".encode(), "c\n", "d\n", "a\u2028b\x0cd\r\n".encode()),
    ],
)
def test_an_edit_changes_its_place_and_nothing_else(data: bytes, old: str, new: str, result: bytes):
    assert edited(data, (old, new)) == result


def test_all_edits_see_the_file_as_it_was():
    assert edited(b"a b\n", ("a", "b"), ("b", "a")) == b"b a\n"
    assert refused(b"a\n", ("a", "b"), ("b", "c")).details == {"matches": 0}


def test_edits_may_touch_but_not_overlap():
    assert edited(b"abcd", ("ab", "1"), ("cd", "2")) == b"12"
    overlap = refused(b"x\nabc\nd\n", ("bc\nd", "1"), ("ab", "2"))
    assert overlap.details == {"overlap": [0, 1], "lines": ["2", "2-3"]}


def test_an_ambiguous_place_is_named_with_its_lines():
    failure = refused(b"x\ny\nx\n\nx\n", ("x", "z"))
    assert failure.details == {"matches": 3, "lines": [1, 3, 5]}
    assert "3 times (from lines 1, 3, 5)" in str(failure)


def test_an_exact_place_wins_over_a_similar_one():
    assert edited('“a”\n"a"\n'.encode(), ('"a"', "b")) == "“a”\nb\n".encode()


def test_counting_a_text_that_is_everywhere_ends():
    failure = refused(b"a" * 3_000_000, ("a" * 1000, "b"))
    assert "at least 1000 times" in str(failure)


@pytest.mark.parametrize(
    ("data", "old", "new", "says"),
    [
        (b"a\n", "", "b", "oldText is empty"),
        (b"a\n", "a", "a", "are the same"),
        (b"a\r\n", "a\n", "a\r\n", "change nothing"),
        (b"caf\xe9\n", "café", "cafe", "neither UTF-8 nor marked UTF-16"),
        (b"caf\xe9\n", "caf", "café", "neither UTF-8 nor marked UTF-16"),
        ("a".encode("utf-32"), "a", "b", "UTF-32"),
        ("let a = 1".encode("utf-16-le"), "a", "b", "UTF-16 without a byte order mark"),
        (b"a\n  b\n", "   ", "", "not in the file"),
        (
            b"def f():\n    return 1\n",
            "def f():\n  return 1",
            "x",
            "Lines 1-2 differ from it in their indentation only",
        ),
        (
            b"x\ndef f():\n    return 2\n",
            "def f():\n    return 1",
            "x",
            "begins like line 2, but at line 3 the file has '    return 2'",
        ),
        (b"a\nb\n", "b\n\n", "x", "Lines 2-2 are those, but not the empty ones around them."),
        (b"a\r\nb", "a\r", "x", "Read it again"),
        (b"x\na\n", "a\nb", "x", "begins like line 2, but at line 3 the file has ''"),
        (b"", "a", "x", "not in the file"),
    ],
)
def test_what_cannot_be_done_is_explained(data: bytes, old: str, new: str, says: str):
    assert says in str(refused(data, (old, new)))


pieces = st.sampled_from(["a", "b", " ", "  ", "é", "“", '"', "–", "\n", "\r\n", "\r", "\t", "😀", "\u00a0"])
soup = st.lists(pieces, max_size=14).map("".join)
encoded = st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])


@given(soup, soup, soup, soup, encoded)
def test_bytes_outside_the_place_never_change(before: str, old: str, after: str, new: str, encoding: str):
    """Whatever is found in whatever pass: the file is the same up to the place and from its end on."""
    assume(old)
    text = before + old + after
    data = text.encode(encoding)
    try:
        result = apply_edits(data, [Edit(old, new)])
    except ToolFailure:
        return
    [place] = result.replacements
    plain = "utf-8" if encoding == "utf-8-sig" else "utf-16-le" if encoding == "utf-16" else encoding
    bom = len(data) - len(text.encode(plain))
    head = data[: bom + len(result.before[: place.start].encode(plain))]
    tail = result.before[place.end :].encode(plain)
    assert result.before == text
    assert result.data == head + place.text.encode(plain) + tail
    # The place never begins or ends inside a line end.
    assert all(result.before[at - 1 : at + 1] != "\r\n" for at in (place.start, place.end) if at > 0)


@given(soup, soup, soup)
def test_a_text_that_is_there_once_is_found_where_it_is(before: str, old: str, after: str):
    assume(old)
    text = before + old + after
    starts = [at for at in range(len(text)) if text.startswith(old, at)]
    splits = any(text[at - 1 : at + 1] == "\r\n" for at in (len(before), len(before) + len(old)) if at > 0)
    assume(not splits)
    whole = [at for at in starts if not any(text[e - 1 : e + 1] == "\r\n" for e in (at, at + len(old)) if e > 0)]
    if len(whole) > 1:
        assert refused(text.encode(), (old, "new")).details["matches"] == len(whole)  # type: ignore[index]
    else:
        result = apply_edits(text.encode(), [Edit(old, "new")])
        assert (result.replacements[0].start, result.replacements[0].end) == (len(before), len(before) + len(old))


@given(st.binary(max_size=30), st.binary(max_size=30))
def test_bytes_of_no_known_encoding_stay_as_they_are(before: bytes, after: bytes):
    data = before + b"needle" + after
    assume(not data.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")) and data.count(b"needle") == 1)
    try:
        result = edited(data, ("needle", "thread"))
    except ToolFailure as failure:
        assert "UTF-16" in str(failure)
        return
    assert result == before + b"thread" + after
