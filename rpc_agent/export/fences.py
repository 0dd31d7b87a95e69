"""Tells code from prose in what a model or a person wrote as Markdown, losing no character. Formats nothing.

Readers of Markdown must agree with this cut: the Markdown export leaves code as it is and disarms only the prose.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

_OPENING = re.compile(r" {0,3}(`{3,}(?=[^`]*\Z)|~{3,})")
_BACKTICKS = re.compile(r"`+")


class ProseLines(Struct, frozen=True):
    lines: tuple[str, ...]


class CodeLines(Struct, frozen=True):
    """A fenced block; `closing` is None when the text ended before the block did."""

    opening: str
    lines: tuple[str, ...]
    closing: str | None

    @property
    def language(self) -> str:
        return (self.opening.strip().lstrip("`~").split() or [""])[0]


def split_fences(text: str) -> Iterator[ProseLines | CodeLines]:
    """The text cut into prose and fenced blocks, in order."""
    prose: list[str] = []
    lines = iter(text.split("\n"))
    for line in lines:
        opening = _OPENING.match(line)
        if opening is None:
            prose.append(line)
            continue
        if prose:
            yield ProseLines(tuple(prose))
            prose = []
        yield _code(line, opening[1], lines)
    if prose:
        yield ProseLines(tuple(prose))


def _code(opening: str, fence: str, lines: Iterator[str]) -> CodeLines:
    closing = re.compile(rf" {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*\Z")
    body: list[str] = []
    for line in lines:
        if closing.match(line):
            return CodeLines(opening, tuple(body), line)
        body.append(line)
    return CodeLines(opening, tuple(body), None)


def code_spans(line: str) -> Iterator[tuple[bool, str]]:
    """A line of prose as (is code, piece); code has its backticks. A run of backticks opens only what it can close."""
    runs = list(_BACKTICKS.finditer(line))
    closers = _closers([len(run[0]) for run in runs])
    at = number = 0
    while number < len(runs):
        closer = closers[number]
        if closer is None:
            number += 1
            continue
        start, end = runs[number].start(), runs[closer].end()
        if at < start:
            yield False, line[at:start]
        yield True, line[start:end]
        at, number = end, closer + 1
    if at < len(line):
        yield False, line[at:]


def _closers(lengths: list[int]) -> list[int | None]:
    """For each run the next one of the same length; from the right, so that a line of backticks costs no square."""
    following: dict[int, int] = {}
    closers: list[int | None] = []
    for number in range(len(lengths) - 1, -1, -1):
        closers.append(following.get(lengths[number]))
        following[lengths[number]] = number
    return closers[::-1]


def fence_around(text: str) -> str:
    """A fence longer than any run of backticks in `text`, so that nothing inside can close it."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    return "`" * max(3, longest + 1)
