"""Puts the new text of an edit where the old one stood; what the edit leaves alone stays as the file has it. Pure."""

import difflib
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct


class Line(Struct, frozen=True):
    """`end` is the line end, empty for a last line without one."""

    content: str
    end: str


_ANY_BREAK = re.compile(r"\r\n|\n")


def split_lines(text: str, line_break: re.Pattern[str]) -> list[Line]:
    """At least one line; the last never has an end."""
    lines: list[Line] = []
    start = 0
    for match in line_break.finditer(text):
        lines.append(Line(text[start : match.start()], match.group()))
        start = match.end()
    return [*lines, Line(text[start:], "")]


def fitted_text(found: str, old: str, new: str, *, line_break: re.Pattern[str], nearby_end: str) -> str:
    """What replaces `found` (the place in the file where `old` was recognised).

    Lines that old and new have in common stay as they are in the file; a newline in `new` becomes the line end of
    the line it replaces, `nearby_end` when there is none. An edit of nothing but line ends is taken literally.
    """
    there, told, wanted = split_lines(found, line_break), split_lines(old, line_break), split_lines(new, _ANY_BREAK)
    if [line.content for line in told] == [line.content for line in split_lines(new, line_break)]:
        return new
    if len(told) > len(there):
        # The old text names a newline that the end of the file lacks; the new one's last newline stands for the same.
        told.pop()
        if not wanted[-1].content and len(wanted) > 1:
            wanted.pop()
    return "".join(_woven(there, told, wanted, nearby_end))


def _woven(there: Sequence[Line], told: Sequence[Line], wanted: Sequence[Line], nearby_end: str) -> Iterator[str]:
    previous_end = next((line.end for line in there if line.end), nearby_end)
    for index, (line, source) in enumerate(zip(wanted, _sources(told, wanted), strict=True)):
        original = None if source is None else there[source]
        yield line.content if original is None or source is None else _content(original, told[source], line)
        if original is not None and original.end:
            previous_end = original.end
        if index < len(wanted) - 1:
            yield previous_end


def _sources(told: Sequence[Line], wanted: Sequence[Line]) -> list[int | None]:
    """For each wanted line the index of the old line that it is or replaces; None for an added one."""
    sources: list[int | None] = []
    matcher = difflib.SequenceMatcher(None, [t.content for t in told], [w.content for w in wanted], autojunk=False)
    for _, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        paired = range(old_start, old_end)[: new_end - new_start]
        sources += [*paired, *([None] * (new_end - new_start - len(paired)))]
    return sources


def _content(original: Line, told: Line, wanted: Line) -> str:
    """The wanted line, but with the file's own characters where the edit repeats them (curly quotes, say)."""
    if told.content == wanted.content:
        return original.content
    if original.content == told.content or len(original.content) != len(told.content):
        return wanted.content
    head = common_start(told.content, wanted.content)
    room = min(len(told.content), len(wanted.content)) - head
    tail = min(room, common_start(told.content[::-1], wanted.content[::-1]))
    kept_tail = original.content[len(original.content) - tail :]
    return original.content[:head] + wanted.content[head : len(wanted.content) - tail] + kept_tail


def common_start(one: Sequence[str], other: Sequence[str]) -> int:
    """How many characters, or lines, at the beginning are equal."""
    for index, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return index
    return min(len(one), len(other))
