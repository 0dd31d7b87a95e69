"""Finds where edits belong in a file and makes the new bytes. Pure: bytes in, bytes out, or ToolFailure.

Three passes, the first that finds anything counts: the exact text; the text with any line ends; the text with
trailing spaces ignored, typographic spaces, quotes and dashes equal to plain ones, and accents equal whether composed
with their letters or not. Every old text must be found exactly once (overlapping finds count), in the bytes as they
were before all edits.
"""

import bisect
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from rpc_agent.conversation.json_values import without_lone_surrogates
from rpc_agent.tools.edit_hint import near_miss
from rpc_agent.tools.edit_lines import fitted_text, split_lines
from rpc_agent.tools.edit_view import MOST_FINDS, PLAIN, Place, TextView, occurrences
from rpc_agent.tools.failure import ToolFailure
from rpc_agent.tools.file_text import FileText, file_text

_LINES_NAMED = 10

_TRAILING = " \t\f\v"

_READ_AGAIN = "Read it again and quote it as it is now; every edit is matched against the file before all of them."


class Edit(Struct, frozen=True):
    old: str
    new: str


class Replacement(Struct, frozen=True, kw_only=True):
    """Characters `start` to `end` of the old text become `text`; the lines (from 1) are those of the old text."""

    start: int
    end: int
    text: str
    first_line: int
    last_line: int
    exact: bool


class Edited(Struct, frozen=True, kw_only=True):
    """`data` are the new bytes; the texts are those before and after, for showing what changed."""

    data: bytes
    before: str
    after: str
    replacements: tuple[Replacement, ...]


def apply_edits(data: bytes, edits: Sequence[Edit]) -> Edited:
    """All edits or, with a ToolFailure that says why, none. Bytes outside the places found are the same afterwards."""
    file = file_text(data)
    cleaned = [_cleaned(edit, f"edits[{index}]", file) for index, edit in enumerate(edits)]
    finder = _Finder(file)
    replacements = [finder.replacement(edit, f"edits[{index}]") for index, edit in enumerate(cleaned)]
    _refuse_overlap(replacements)
    replacements.sort(key=lambda replacement: replacement.start)
    after = "".join(_pieces(file.text, replacements))
    if after == file.text:
        raise ToolFailure("The edits change nothing: the file already reads like that. It was not touched.")
    return Edited(data=file.to_bytes(after), before=file.text, after=after, replacements=tuple(replacements))


def _pieces(text: str, replacements: Sequence[Replacement]) -> Iterator[str]:
    position = 0
    for replacement in replacements:
        yield text[position : replacement.start]
        yield replacement.text
        position = replacement.end
    yield text[position:]


def _cleaned(edit: Edit, name: str, file: FileText) -> Edit:
    # The mark is not part of the text, and a model that saw it in a file should not stumble over it.
    old = without_lone_surrogates(edit.old).removeprefix("\ufeff")
    new = without_lone_surrogates(edit.new)
    new = new.removeprefix("\ufeff") if edit.old.startswith("\ufeff") else new
    if not old:
        raise ToolFailure(f"{name}: oldText is empty, so there is no place for it. Quote text that is in the file.")
    if old == new:
        raise ToolFailure(f"{name}: oldText and newText are the same, so there is nothing to do.")
    if not file.encoding_known and not (old.isascii() and new.isascii()):
        raise ToolFailure(
            f"{name}: the file is neither UTF-8 nor marked UTF-16, so only plain ASCII can be matched and written "
            "without damage. It was not changed. Use an oldText and a newText without other characters, or convert it."
        )
    return Edit(old, new)


def _refuse_overlap(replacements: Sequence[Replacement]) -> None:
    order = sorted(range(len(replacements)), key=lambda index: replacements[index].start)
    for before, after in pairwise(order):
        one, other = replacements[before], replacements[after]
        if other.start < one.end:
            names = " and ".join(f"edits[{index}]" for index in sorted((before, after)))
            lines = [_line_range(one), _line_range(other)]
            raise ToolFailure(
                f"{names} overlap in the file (lines {lines[0]} and {lines[1]}). Nothing was changed. "
                "Make one edit of them.",
                details={"overlap": sorted((before, after)), "lines": lines},
            )


def _line_range(place: Replacement) -> str:
    return f"{place.first_line}" if place.first_line == place.last_line else f"{place.first_line}-{place.last_line}"


class _Finder:
    """Looks for old texts in one file; views that need building are built once."""

    def __init__(self, file: FileText) -> None:
        self._file = file
        self._break = file.line_break
        self._views: dict[bool, TextView] = {}
        self._line_starts = [match.end() for match in self._break.finditer(file.text)]

    def replacement(self, edit: Edit, name: str) -> Replacement:
        places, exact = self._places(edit.old)
        if not places:
            raise ToolFailure(self._not_found(edit.old, name), details={"matches": 0})
        if len(places) > 1:
            raise self._ambiguous(places, name)
        start, end = places[0]
        found = self._file.text[start:end]
        text = fitted_text(found, edit.old, edit.new, line_break=self._break, nearby_end=self._nearby_end(start, end))
        if self._file.prefix and start == 0:
            # The file keeps the mark that it has; a second one would be a character of its text.
            text = text.removeprefix("\ufeff")
        last_line = self._line(max(start, end - 1))
        first_line = self._line(start)
        return Replacement(start=start, end=end, text=text, first_line=first_line, last_line=last_line, exact=exact)

    def _places(self, old: str) -> tuple[list[Place], bool]:
        if places := [place for place in occurrences(self._file.text, old) if not self._splits_a_line_end(place)]:
            return places, True
        for tolerant in (False, True):
            if places := self._view(tolerant).find(old):
                return places, False
        return [], False

    def _splits_a_line_end(self, place: Place) -> bool:
        return any(0 < at < len(self._file.text) and self._file.text[at - 1 : at + 1] == "\r\n" for at in place)

    def _view(self, tolerant: bool) -> TextView:
        if tolerant not in self._views:
            plain = self._plain if tolerant else _unchanged
            composing = tolerant and self._file.encoding_known
            self._views[tolerant] = TextView(self._file.text, self._break, plain, composing=composing)
        return self._views[tolerant]

    def _plain(self, line: str) -> str:
        # In bytes of an unknown encoding only ASCII means what it says.
        return (line.translate(PLAIN) if self._file.encoding_known else line).rstrip(_TRAILING)

    def _nearby_end(self, start: int, end: int) -> str:
        """The line end of the line that the place is in, or of the one before."""
        if after := self._break.search(self._file.text, end):
            return after.group()
        before = bisect.bisect_right(self._line_starts, start)
        if not before:
            return "\n"
        at = self._line_starts[before - 1]
        return "\r\n" if self._file.text[at - 2 : at] == "\r\n" else self._file.text[at - 1]

    def _line(self, at: int) -> int:
        return bisect.bisect_right(self._line_starts, at) + 1

    def _ambiguous(self, places: Sequence[Place], name: str) -> ToolFailure:
        lines = [self._line(start) for start, _ in places[:_LINES_NAMED]]
        count = f"at least {MOST_FINDS}" if len(places) >= MOST_FINDS else str(len(places))
        named = ", ".join(map(str, lines)) + (", ..." if len(places) > _LINES_NAMED else "")
        return ToolFailure(
            f"{name}: oldText is in the file {count} times (from lines {named}), so the place is not clear. "
            "Nothing was changed. Quote more of the lines around the one you mean.",
            details={"matches": len(places), "lines": lines},
        )

    def _not_found(self, old: str, name: str) -> str:
        lines = [line.content for line in split_lines(self._file.text, self._break)]
        hint = near_miss(lines, [line.content for line in split_lines(old, self._break)])
        return f"{name}: oldText is not in the file. Nothing was changed. {hint or _READ_AGAIN}"


def _unchanged(line: str) -> str:
    return line
