"""One line of a session file -> the records in it and what was wrong with it. Repairs in memory, never on disk.

A line may hold more or less than one record: a kill tears lines, a program that did not know about the torn tail
glues its next record to it, a full disk leaves NUL bytes. Every complete record comes out.
"""

import re

from msgspec import Struct

from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.nesting import is_deeper
from rpc_agent.session.json_lines import MOST_LEVELS, NotJson, decoder, has_lone_surrogate, read_json

_BOM = b"\xef\xbb\xbf"
_PADDING = b" \t\r\n\x00"
_RECORD_START = re.compile(r'\{\s*"')
# Whatever its first field: other programs sort them. Inside a string a quote has a backslash before it.
_WRITTEN_START = '{"type":"'
"""How nearly all programs begin a record."""
_READINGS_IN_VAIN = 64
"""A torn record is read in vain once for each level it was torn in, and that is a few. What is open thousands of levels
deep was made to keep us busy, or is noise: then only its end is still looked at, where a glued record would stand."""
_AFTER_RECORD = re.compile(r"[\s\x00\ufeff]*")


class Problem(Struct, frozen=True):
    """What is wrong with a line. `lost` says that it held something which can no longer be read."""

    kind: str
    message: str
    lost: bool = False


BLANK = Problem("blankLine", "The line is empty; it was skipped.")
NULS = Problem("nulBytes", "The line holds NUL bytes, as a crash of the machine leaves them; they were skipped.", True)
GLUED = Problem("gluedLine", "The line begins with a torn record; the complete ones behind it were read.", True)
JOINED = Problem("joinedLine", "Several records stand in one line; all of them were read.")
TRAILING = Problem("gluedLine", "The line ends in a torn record; the complete ones before it were read.", True)
UNREADABLE = Problem("unreadableLine", "The line is not a complete JSON record; it was skipped.", True)
TORN_TAIL = Problem("tornTail", "The last line is incomplete, as a kill leaves it; it was skipped.", True)
NOT_A_RECORD = Problem("notAnEntry", "The line is JSON but not an entry of a session; it was skipped.", True)
BAD_BYTES = Problem("invalidUtf8", "The line is not valid UTF-8; the stray bytes were replaced by U+FFFD.")
LONE_SURROGATE = Problem("loneSurrogate", "The line holds one half of a surrogate pair; it was replaced by U+FFFD.")
NULL_CONTENT = Problem("nullContent", "A message in the line has null for its content; it is read as an empty one.")
MARK = Problem("bom", "The line begins with a byte order mark; it was skipped.")


def read_line(line: bytes, *, exact: bool = True) -> tuple[list[JsonObject], list[Problem]]:
    """The records of one line (without its newline), in order, and its problems.

    A record is an object with a `type`. `exact=False` as in `read_json`.
    """
    if not line or line.isspace():
        return [], [BLANK]
    if line.startswith(_BOM):
        # At the front of a file, or where files were put one behind the other.
        records, problems = read_line(line[len(_BOM) :], exact=exact)
        return records, [MARK, *problems]
    try:
        value = read_json(line, exact=exact)
    except NotJson:
        return _read_damaged(line)
    if not _is_record(value):
        return [], [NOT_A_RECORD]
    return [value], _odd_text(line)


def _read_damaged(line: bytes) -> tuple[list[JsonObject], list[Problem]]:
    core = line.strip(_PADDING)
    if not core:
        return [], [NULS]
    records, problems = read_line(core) if core != line else _salvage(core)
    has_nuls = b"\x00" in line if records else b"\x00" in line.replace(core, b"", 1)
    return records, [NULS, *problems] if has_nuls and NULS not in problems else problems


def _odd_text(line: bytes) -> list[Problem]:
    """What no text can hold. It is rare, and a valid text is recognised faster than it is parsed."""
    problems = [] if line.isascii() or _is_utf8(line) else [BAD_BYTES]
    if (b"\\ud" in line or b"\\uD" in line) and has_lone_surrogate(line):
        problems.append(LONE_SURROGATE)
    return problems


def _is_record(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _salvage(line: bytes) -> tuple[list[JsonObject], list[Problem]]:
    """The complete records inside a line that is not JSON as a whole."""
    # A stray byte stands for itself here, so that a record found is the same bytes again.
    text = line.decode("utf-8", "surrogateescape")
    found: list[bytes] = []
    at, gap = 0, False
    end_of_last = 0
    reader = decoder()
    in_vain = 0
    while start := _RECORD_START.search(text, at):
        try:
            value, end = reader.raw_decode(text, start.start())
        except (ValueError, RecursionError) as error:
            # Reading costs as far as it came, and the making of the error counts lines from the beginning on.
            in_vain += getattr(error, "pos", len(text))
            at = start.end()
            if in_vain > _READINGS_IN_VAIN * len(text):
                at = max(at, _last_starts(text))
                in_vain = -len(text) * len(text)  # What is left are few: none of them is passed over.
            continue
        # Continuing behind a complete object keeps this linear: a record cannot hide inside a complete one.
        at = end
        follows = start.start() == _skip_padding(text, end_of_last)
        if _is_entry(value) and (follows or _stands_alone(text, end)):
            gap = gap or not follows
            found.append(text[start.start() : end].encode("utf-8", "surrogateescape"))
            end_of_last = end
    if not found:
        return [], [UNREADABLE]
    is_all = _skip_padding(text, end_of_last) == len(text)
    shape = GLUED if gap else JOINED if is_all and len(found) > 1 else TRAILING
    odd = [problem for record in found for problem in _odd_text(record)]
    return [read_json(record) for record in found], [shape, *dict.fromkeys(odd)]


def _last_starts(text: str) -> int:
    """Where the last few starts of records begin."""
    at = len(text)
    for _ in range(_READINGS_IN_VAIN):
        before = text.rfind(_WRITTEN_START, 0, at)
        if before < 0:
            break
        at = before
    return at


def _is_entry(value: object) -> bool:
    """Whether an object has what a record has and a piece of one lacks: links or, in old files, at least a time."""
    if not isinstance(value, dict) or not _is_record(value) or is_deeper(value, MOST_LEVELS):
        return False
    # Tool calls have an id too, but neither parent nor time; messages have a time, but no type.
    return ("id" in value and "parentId" in value) or isinstance(value.get("timestamp"), str)


def _stands_alone(text: str, end: int) -> bool:
    """Whether an object with something torn before it is a record all the same: a piece is followed by , ] or }."""
    after = _skip_padding(text, end)
    return after == len(text) or text[after] not in ",]}"


def _skip_padding(text: str, at: int) -> int:
    found = _AFTER_RECORD.match(text, at)
    return found.end() if found else at
