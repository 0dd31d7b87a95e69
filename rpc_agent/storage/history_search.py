"""Finds entries of a session by words, regular expression or id, in the bytes of its file, newest first.

Pure over bytes. Runs in a process of its own (`history_worker`): a regular expression may take for ever, and Python
holds everything up meanwhile.
"""

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from mmap import mmap
from typing import Any

from msgspec import Struct

from rpc_agent.conversation.json_values import JsonObject, as_id, as_object, as_text
from rpc_agent.session.entry_text import EntryText, entry_text
from rpc_agent.session.json_lines import NotJson, read_json
from rpc_agent.session.line_reader import read_line

_SNIPPET_BEFORE, _SNIPPET_AFTER = 80, 160
"""Around the place that fits: enough to see whether it is the right one."""
_SPECIAL = re.compile(r"[.^$*+?{}\[\]\\|()]")
_GROUPED = re.compile(r"[()]|\\[xuUN0-9\[\]{}|\\]")
"""Groups and escapes in which a letter is not that letter: what such a pattern demands is not guessed."""
_CLASS = re.compile(r"\[\^?\]?[^\]]*\]")
_REPEATED = re.compile(r"\{[^}]*\}")
_BLOCK_BYTES = 4 * 1024 * 1024
"""Large enough that Python's own loops do not count, small beside any memory."""
_RUN = re.compile(r"(\\?)([A-Za-z0-9_]+)([*?]?)")

Finder = Callable[[str], int]
"""Where in a text it fits, -1 where it does not."""


class Found(Struct, frozen=True):
    """`text` is a snippet in one line, or everything when the entry was asked for by its id."""

    id: str
    speaker: str
    timestamp: str
    text: str


def search(data: bytes | mmap, query: str, limit: int) -> list[Found]:
    """The newest entries that fit, at most `limit`. Entries hold all of the words, or match the query as a regular
    expression; upper and lower case are equal."""
    find, needles = _finder(query), _needles(query)
    edits = _edits(data, 0)
    found: list[Found] = []
    for line in _candidates(data, needles):
        for raw in reversed(_records(line)):
            said = _text(raw, edits)
            if said is not None and (at := find(said.text)) >= 0:
                found.append(_found(raw, said.speaker, _snippet(said.text, at)))
        if len(found) >= limit:
            break
    return found[:limit]


def read(data: bytes | mmap, entry_id: str, count: int) -> list[Found]:
    """The entry and those behind it in the file, `count` in all; empty when there is no such entry to read."""
    start = _line_of(data, entry_id)
    if start is None:
        return []
    edits = _edits(data, start)
    found: list[Found] = []
    for line in _lines_forward(data, start):
        for raw in _records(line):
            if (said := _text(raw, edits)) is not None and (found or as_id(raw.get("id")) == entry_id):
                found.append(_found(raw, said.speaker, said.text))
        if len(found) >= count or not found:
            break
    return found[:count]


def _finder(query: str) -> Finder:
    words = [word.lower() for word in query.split()]

    def find_words(text: str) -> int:
        lowered = text.lower()
        places = [lowered.find(word) for word in words]
        return -1 if not words or min(places) < 0 else min(places)

    regex = _regex(query)
    if regex is None:
        return find_words

    def find(text: str) -> int:
        match = regex.search(text)
        return match.start() if match else find_words(text)

    return find


def _regex(query: str) -> "re.Pattern[str] | None":
    if not _SPECIAL.search(query):
        return None
    try:
        with warnings.catch_warnings():
            # What a later Python might read otherwise is no concern of a model's pattern.
            warnings.simplefilter("ignore")
            return re.compile(query, re.IGNORECASE | re.MULTILINE)
    except (re.error, OverflowError, RecursionError):
        return None


def _needles(query: str) -> list[bytes]:
    """ASCII texts in lower case of which a line must hold one to fit; none: any line may.

    In JSON such a text stands as it is, so most lines need not be parsed. A query's words contain what its regular
    expression demands, so for both the same lines are looked at.
    """
    if _regex(query) is None:
        longest = _longest(re.findall(r"[a-z0-9_]+", query.lower()))
        return [longest.encode()] if longest else []
    if _GROUPED.search(query):
        return []
    plain = _REPEATED.sub("?", _CLASS.sub(".", query))
    needles = [_longest(_required(alternative)) for alternative in plain.split("|")]
    return [needle.lower().encode() for needle in needles] if all(needles) else []


def _required(pattern: str) -> list[str]:
    """The runs of letters that any match of a simple pattern holds."""
    return [text[bool(escape) : len(text) - bool(optional)] for escape, text, optional in _RUN.findall(pattern)]


def _longest(runs: list[str]) -> str:
    return max(runs, key=len, default="")


def _text(raw: JsonObject, edits: Mapping[str, Mapping[str, Any] | None]) -> EntryText | None:
    entry_id = as_id(raw.get("id"))
    if not entry_id:
        return None
    if entry_id in edits and edits[entry_id] is None:
        return None
    return entry_text(raw, edits.get(entry_id))


def _edits(data: bytes | mmap, start: int) -> dict[str, Mapping[str, Any] | None]:
    """What edits made of their targets, the last of each; one that only saved space hides nothing."""
    edits: dict[str, Mapping[str, Any] | None] = {}
    for _, block in _blocks(data, start):
        if b'"context_edit"' not in block:
            continue
        lines = (line for line in reversed(block.split(b"\n")) if b'"context_edit"' in line)
        for raw in (raw for line in lines for raw in reversed(_records(line))):
            target, replacement = as_id(raw.get("targetId")), raw.get("replacement")
            if raw.get("type") == "context_edit" and target and raw.get("madeBy") != "compaction":
                edits.setdefault(target, None if replacement is None else as_object(replacement))
    return edits


def _found(raw: JsonObject, speaker: str, text: str) -> Found:
    return Found(as_id(raw.get("id")), speaker, as_text(raw.get("timestamp")), text)


def _snippet(text: str, at: int) -> str:
    start, end = max(at - _SNIPPET_BEFORE, 0), at + _SNIPPET_AFTER
    line = " ".join(text[start:end].split())
    return f"{'...' if start else ''}{line}{'...' if end < len(text) else ''}"


# Lines.


def _records(line: bytes) -> list[JsonObject]:
    try:
        value = read_json(line, exact=False)
    except NotJson:
        return read_line(line, exact=False)[0]
    return [value] if isinstance(value, dict) else []


def _candidates(data: bytes | mmap, needles: Sequence[bytes]) -> Iterator[bytes]:
    """Lines that hold one of the needles (all, without any), the last first."""
    for _, block in _blocks(data, 0):
        if not needles:
            yield from reversed(block.split(b"\n"))
            continue
        lowered = block.lower()
        starts = {lowered.rfind(b"\n", 0, at) + 1 for needle in needles for at in _places(lowered, needle)}
        for start in sorted(starts, reverse=True):
            end = block.find(b"\n", start)
            yield block[start : end if end >= 0 else len(block)]


def _places(data: bytes, needle: bytes) -> Iterator[int]:
    """One in each line that has any."""
    at = data.find(needle)
    while at >= 0:
        yield at
        end = data.find(b"\n", at)
        at = data.find(needle, end) if end >= 0 else -1


def _blocks(data: bytes | mmap, first: int) -> Iterator[tuple[int, bytes]]:
    """Whole lines of [first, end), some megabytes at a time, the last first; each with where it begins."""
    end = len(data)
    while end > first:
        start = max(end - _BLOCK_BYTES, first)
        if start > first:
            # The line that is cut belongs to the block before, unless it alone is longer than a block.
            start = data.rfind(b"\n", first, start) + 1 or first
        yield start, data[start:end]
        end = start


def _lines_forward(data: bytes | mmap, start: int) -> Iterator[bytes]:
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        yield data[start:end]
        start = end + 1


def _line_of(data: bytes | mmap, entry_id: str) -> int | None:
    """Where the line of an entry begins; the last line with its id counts."""
    written = entry_id.encode("utf-8", "replace")
    at = _line_with(data, b'"%b"' % written, entry_id)
    # An id that became a number stands there without its quotes.
    return _line_with(data, written, entry_id) if at is None and entry_id.isdecimal() else at


def _line_with(data: bytes | mmap, needle: bytes, entry_id: str) -> int | None:
    for begin, block in _blocks(data, 0):
        at = block.rfind(needle)
        while at >= 0:
            start, end = block.rfind(b"\n", 0, at) + 1, block.find(b"\n", at)
            records = _records(block[start : end if end >= 0 else len(block)])
            if any(as_id(raw.get("id")) == entry_id for raw in records):
                return begin + start
            at = block.rfind(needle, 0, start)
    return None
