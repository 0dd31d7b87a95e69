"""Says where in a file a text almost stands. Pure; for the message when an edit finds no place."""

from collections.abc import Sequence

from rpc_agent.tools.edit_view import PLAIN

_CANDIDATES = 200
"""A first line such as "}" stands everywhere; the first few hundred are enough to choose from."""

_SHOWN = 120


def near_miss(lines: Sequence[str], wanted: Sequence[str]) -> str:
    """A sentence about the place where most of the `wanted` lines stand one after another, or "" without one."""
    quoted = _without_empty_ends(wanted)
    asked = [_bare(line) for line in quoted]
    if not asked:
        return ""
    there = [_bare(line) for line in lines]
    starts = [index for index, line in enumerate(there) if line == asked[0]][:_CANDIDATES]
    if not starts:
        return ""
    start = max(starts, key=lambda index: _agreeing(there, asked, index))
    agreeing = _agreeing(there, asked, start)
    if agreeing == len(asked):
        place = f"Lines {start + 1}-{start + agreeing}"
        if any(map(_is_indented_otherwise, quoted, lines[start:])):
            return f"{place} differ from it in their indentation only; quote that as it is."
        return f"{place} are those, but not the empty ones around them." if len(quoted) < len(wanted) else ""
    at = start + agreeing
    has = repr(lines[at][:_SHOWN]) if at < len(lines) else "no more lines"
    return f"It begins like line {start + 1}, but at line {at + 1} the file has {has}."


def _without_empty_ends(lines: Sequence[str]) -> Sequence[str]:
    filled = [index for index, line in enumerate(lines) if line.strip()]
    return lines[filled[0] : filled[-1] + 1] if filled else []


def _is_indented_otherwise(one: str, other: str) -> bool:
    return one.translate(PLAIN).rstrip() != other.translate(PLAIN).rstrip()


def _bare(line: str) -> str:
    return line.translate(PLAIN).strip()


def _agreeing(there: Sequence[str], asked: Sequence[str], start: int) -> int:
    count = 0
    while count < len(asked) and start + count < len(there) and there[start + count] == asked[count]:
        count += 1
    return count
