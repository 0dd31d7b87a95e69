"""Writes hits as lines of an answer, with the lines around them when they are wanted."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from rpc_agent.tools.failure import ToolFailure
from rpc_agent.tools.file_text import file_text
from rpc_agent.tools.search_process import Hit

_LINE_CHARACTERS = 500
_BEFORE_MATCH = 100

_CONTEXT_BYTES = 64 * 1024 * 1024
"""Lines around a hit are not worth reading a larger file for."""


def hit_lines(hits: Sequence[Hit], name: Callable[[Hit], str], context: int) -> list[str]:
    """`path:line: text` for hits, `path-line- text` for lines around them, `--` between pieces that do not touch."""
    lines: list[str] = []
    for path, of_file in groupby(hits, key=lambda hit: hit.path):
        found = {hit.line: hit for hit in of_file}
        shown = name(next(iter(found.values())))
        around = _file_lines(Path(path)) if context else []
        if lines and context:
            lines.append("--")
        lines += _file_part(shown, found, around, context)
    return lines


def _file_part(name: str, found: dict[int, Hit], around: Sequence[str], context: int) -> Iterator[str]:
    last = 0
    for number in _numbers(sorted(found), context, len(around)):
        if context and last and number > last + 1:
            yield "--"
        last = number
        if hit := found.get(number):
            yield f"{name}:{number}: {_cut(hit.text, hit.start)}"
        else:
            yield f"{name}-{number}- {_cut(around[number - 1], 0)}"


def _numbers(hits: Sequence[int], context: int, count: int) -> list[int]:
    around = {line for hit in hits for line in range(hit - context, hit + context + 1) if 0 < line <= count}
    return sorted(around.union(hits))


def _cut(text: str, start: int) -> str:
    """Of a long line the part with the match."""
    if len(text) <= _LINE_CHARACTERS:
        return text
    column = len(text.encode("utf-8", "replace")[:start].decode("utf-8", "ignore"))
    first = max(0, min(column - _BEFORE_MATCH, len(text) - _LINE_CHARACTERS))
    end = first + _LINE_CHARACTERS
    return f"{'[...]' if first else ''}{text[first:end]}{'[...]' if end < len(text) else ''}"


def _file_lines(path: Path) -> list[str]:
    try:
        if path.stat().st_size > _CONTEXT_BYTES:
            return []
        data = path.read_bytes()
    except OSError:
        return []
    try:
        file = file_text(data)
        text = file.text if file.encoding_known else data.decode("utf-8", "replace")
    except ToolFailure:
        text = data.decode("utf-8", "replace")
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
