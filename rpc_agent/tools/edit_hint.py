"""Says where in a file a text almost stands. Pure; for the message when an edit finds no place."""

from collections.abc import Sequence

from rpc_agent.tools.edit_view import PLAIN

_CANDIDATES = 200
"""A first line such as "}" stands everywhere; the first few hundred are enough to choose from."""

_SHOWN = 120


def near_miss(lines: Sequence[str], wanted: Sequence[str]) -> str:
    """A sentence about the place where most of the `wanted` lines stand one after another, or "" without one."""
    asked = [_bare(line) for line in wanted]
    while asked and not asked[0]:
        asked.pop(0)
    while asked and not asked[-1]:
        asked.pop()
    if not asked:
        return ""
    there = [_bare(line) for line in lines]
    starts = [index for index, line in enumerate(there) if line == asked[0]][:_CANDIDATES]
    if not starts:
        return ""
    start = max(starts, key=lambda index: _agreeing(there, asked, index))
    agreeing = _agreeing(there, asked, start)
    if agreeing == len(asked):
        return f"Lines {start + 1}-{start + agreeing} differ from it in their indentation only; quote that as it is."
    at = start + agreeing
    has = repr(lines[at][:_SHOWN]) if at < len(lines) else "no more lines"
    return f"It begins like line {start + 1}, but at line {at + 1} the file has {has}."


def _bare(line: str) -> str:
    return line.translate(PLAIN).strip()


def _agreeing(there: Sequence[str], asked: Sequence[str], start: int) -> int:
    count = 0
    while count < len(asked) and start + count < len(there) and there[start + count] == asked[count]:
        count += 1
    return count
