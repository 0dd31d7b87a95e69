"""Finds text in text, exactly or with every line made plain, and says where in the original it stands. Pure."""

import bisect
import re
from collections.abc import Callable, Iterator, Sequence

from rpc_agent.tools.composed import Composed, composed
from rpc_agent.tools.edit_lines import Line, split_lines

Place = tuple[int, int]
"""Start and end in characters of the file's text."""

MOST_FINDS = 1000
"""Counting on would only make the number in the refusal larger."""

PLAIN = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys("\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " ")
)
"""What typographic characters become, one for one."""


def occurrences(text: str, needle: str) -> list[Place]:
    places: list[Place] = []
    at = text.find(needle)
    while at >= 0 and len(places) < MOST_FINDS:
        places.append((at, at + len(needle)))
        at = text.find(needle, at + 1)
    return places


class TextView:
    """The file with every line made plain and every line end a newline, and the way back from there to the file.

    Making plain replaces characters one by one and shortens a line at its end only, so columns stay the same. Where
    letters and their accents are `composing`, each line knows the way back.
    """

    def __init__(
        self, text: str, line_break: re.Pattern[str], plain: Callable[[str], str], *, composing: bool = False
    ) -> None:
        self._break = line_break
        self._plain = plain
        self._composing = composing
        lines = split_lines(text, line_break)
        if lines[-1].content:
            # A last line without an end may be quoted with one.
            lines.append(Line("", ""))
        self._lengths = [len(line.content) for line in lines]
        shown = [plain(line.content) for line in lines]
        self._composed: dict[int, Composed] = {}
        """The lines in which anything was composed, by their index: few files have any."""
        if composing and not text.isascii():
            self._composed = dict(_composed_lines(shown))
            for index, line in self._composed.items():
                shown[index] = line.text
        self._text = "\n".join(shown)
        self._starts = _starts(len(line) + 1 for line in shown)
        self._file_starts = _starts(len(line.content) + len(line.end) for line in lines)

    def find(self, old: str) -> list[Place]:
        lines = [line.content for line in split_lines(old, self._break)]
        plain = [self._plain(line) for line in lines]
        needle = "\n".join(composed(line).text for line in plain) if self._composing else "\n".join(plain)
        if not needle or (not needle.strip() and plain != lines):
            return []
        # Spaces at the end of what is looked for stand for spaces at a line's end, or none there.
        ends_line = len(plain[-1]) < len(lines[-1])
        found = [(start, end) for start, end in occurrences(self._text, needle) if self._may_end(end, ends_line)]
        places = [place for start, end in found if (place := self._place(start, end, ends_line))]
        return [(start, end) for start, end in places if start < end]

    def _may_end(self, end: int, ends_line: bool) -> bool:
        return not ends_line or end == len(self._text) or self._text[end] == "\n"

    def _place(self, start: int, end: int, ends_line: bool) -> Place | None:
        """None where it would begin or end inside what is one character here and several in the file."""
        first, last = (bisect.bisect_right(self._starts, at) - 1 for at in (start, end))
        starts_at_end = self._text[start : start + 1] == "\n"
        start_column = self._lengths[first] if starts_at_end else self._column(first, start)
        end_column = self._lengths[last] if ends_line else self._column(last, end)
        if start_column is None or end_column is None:
            return None
        return self._file_starts[first] + start_column, self._file_starts[last] + end_column

    def _column(self, line: int, at: int) -> int | None:
        column = at - self._starts[line]
        return self._composed[line].column(column) if line in self._composed else column


def _composed_lines(lines: Sequence[str]) -> Iterator[tuple[int, Composed]]:
    for index, line in enumerate(lines):
        made = composed(line)
        if made.columns is not None:
            yield index, made


def _starts(lengths: Iterator[int]) -> list[int]:
    starts = [0]
    for length in lengths:
        starts.append(starts[-1] + length)
    return starts[:-1]
