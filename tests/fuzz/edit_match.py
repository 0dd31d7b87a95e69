"""Fuzz target: an edit changes its place and no other byte, or nothing at all."""

import base64
import json

from rpc_agent.tools.edit_match import Edit, Edited, apply_edits
from rpc_agent.tools.failure import ToolFailure
from rpc_agent.tools.file_text import FileText, file_text
from tests.conftest import ROOT

_BETWEEN_EDITS, _BETWEEN_TEXTS = b"\x1e", b"\x1f"

TOKENS = (
    b"\x1e", b"\x1f", b"\r\n", b"\n", b"\r", b"  \n", b"\t", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", "“”‘’–\u00a0\u2028".encode(),
    b'"', b"'", b"-", b"\x00", b"\xed\xa0\x80", b"a", b"a\na\n", b"\xff\xfe\x00\x00",
)  # fmt: skip
MAX_BYTES = 500


def seeds() -> list[bytes]:
    cases = [json.loads(file.read_bytes()) for file in sorted((ROOT / "tests/golden/tools").glob("edit_*.json"))]
    packed = [
        _packed(base64.b64decode(c["file_b64"]), [(e["oldText"], e["newText"]) for e in c["edits"]]) for c in cases
    ]
    more = [
        (b"a\r\nb\nc\r\nd\n", [("a\nb\nc\n", "a\nX\nb\nc\n")]),
        ("say “hi” – 1\n".encode(), [('say "hi" - 1', 'say "hi" - 2')]),
        (b"\xff\xfe" + "é\r\nb\r\n".encode("utf-16-le"), [("é\nb", "è\nb\n😀")]),
        (b"\xef\xbb\xbfa  \nb\n", [("a\nb", "a\nc"), ("zz", "y")]),
        (b"a\rb\rc\r", [("b\nc", "B\nx\nC")]),
    ]
    return [*packed, *(_packed(data, edits) for data, edits in more)]


def check(data: bytes) -> None:
    file, *rest = data.split(_BETWEEN_EDITS)
    edits = [_edit(each) for each in rest[:5]] or [Edit("a", "b")]
    try:
        edited = apply_edits(file, edits)
    except ToolFailure as failure:
        assert str(failure)
        if len(edits) == 1:
            _was_right_to_refuse(file, edits[0], str(failure))
        return
    _changed_only_its_places(file, edited)
    for edit in edits:
        assert len(_exact_places(edited.before, edit.old.removeprefix("\ufeff"))) <= 1


def _packed(file: bytes, edits: list[tuple[str, str]]) -> bytes:
    return _BETWEEN_EDITS.join([file, *(old.encode() + _BETWEEN_TEXTS + new.encode() for old, new in edits)])


def _edit(packed: bytes) -> Edit:
    old, _, new = packed.partition(_BETWEEN_TEXTS)
    return Edit(old.decode("utf-8", "replace"), new.decode("utf-8", "replace"))


def _changed_only_its_places(data: bytes, edited: Edited) -> None:
    file = file_text(data)
    assert edited.before == file.text
    assert edited.data != data
    position, old_bytes, new_bytes = 0, file.prefix, file.prefix
    for place in edited.replacements:
        assert position <= place.start < place.end <= len(file.text)
        between = _encoded(file, file.text[position : place.start])
        old_bytes += between + _encoded(file, file.text[place.start : place.end])
        new_bytes += between + _encoded(file, place.text)
        position = place.end
    rest = _encoded(file, file.text[position:]) + file.suffix
    assert (old_bytes + rest, new_bytes + rest) == (data, edited.data)


def _encoded(file: FileText, text: str) -> bytes:
    errors = "surrogatepass" if file.codec.startswith("utf-16") else "strict"
    return text.encode(file.codec, errors)


def _was_right_to_refuse(data: bytes, edit: Edit, said: str) -> None:
    """A text that stands in the file exactly once has to be found."""
    old, new = edit.old.removeprefix("\ufeff"), edit.new
    new = new.removeprefix("\ufeff") if edit.old.startswith("\ufeff") else new
    if not old or old == new or "UTF-" in said:
        return
    places = _exact_places(file_text(data).text, old)
    assert len(places) != 1 or "change nothing" in said, said


def _exact_places(text: str, old: str) -> list[int]:
    """Where a text stands, overlapping or not, save where it would tear a CR LF apart."""
    if not old:
        return []
    starts = [at for at in range(len(text) - len(old) + 1) if text.startswith(old, at)]
    return [at for at in starts if not any(_is_torn(text, edge) for edge in (at, at + len(old)))]


def _is_torn(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1 : at + 1] == "\r\n"
