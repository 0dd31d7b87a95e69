"""Cuts long texts to what a model should get at once. Pure; says what it kept, the tools say how to go on."""

from msgspec import Struct

MAX_LINES = 2000
MAX_BYTES = 50 * 1024


class Truncation(Struct, frozen=True, kw_only=True):
    """`text` is what was kept. Lines are counted as an editor shows them; bytes are those of UTF-8."""

    text: str
    kept_lines: int
    total_lines: int
    total_bytes: int
    truncated: bool
    cuts_line: bool
    """The outermost kept line is itself incomplete: it alone was longer than the limit."""


def truncate_head(text: str, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> Truncation:
    """Keep whole lines from the start; of a first line that is too long, its start."""
    lines = _lines(text)
    kept = _fitting(lines, max_lines, max_bytes)
    if kept or not lines:
        return _truncation(text, lines, lines[:kept], cuts_line=False)
    return _truncation(text, lines, [_first_bytes(lines[0], max_bytes)], cuts_line=True)


def truncate_tail(text: str, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> Truncation:
    """Keep whole lines from the end; of a last line that is too long, its end."""
    lines = _lines(text)
    kept = _fitting(lines[::-1], max_lines, max_bytes)
    if kept or not lines:
        return _truncation(text, lines, lines[len(lines) - kept :], cuts_line=False)
    return _truncation(text, lines, [_last_bytes(lines[-1], max_bytes)], cuts_line=True)


def size_text(count: int) -> str:
    """A number of bytes for people: 512 B, 50.0 KiB, 1.2 MiB."""
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            return f"{count} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    raise AssertionError("the last unit returns")


def utf8_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _lines(text: str) -> list[str]:
    """Lines with their ends; only a newline ends one, as everywhere in this package."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _fitting(lines: list[str], max_lines: int, max_bytes: int) -> int:
    size = 0
    for index, line in enumerate(lines[:max_lines]):
        size += utf8_size(line)
        if size > max_bytes:
            return index
    return min(len(lines), max_lines)


def _truncation(text: str, lines: list[str], kept: list[str], *, cuts_line: bool) -> Truncation:
    return Truncation(
        text="".join(kept),
        kept_lines=len(kept),
        total_lines=len(lines),
        total_bytes=utf8_size(text),
        truncated=cuts_line or len(kept) < len(lines),
        cuts_line=cuts_line,
    )


def _first_bytes(line: str, count: int) -> str:
    # "ignore" drops the incomplete sequence at the cut and nothing else, because the rest was encoded here.
    return line[:count].encode("utf-8", "replace")[:count].decode("utf-8", "ignore")


def _last_bytes(line: str, count: int) -> str:
    return line[-count:].encode("utf-8", "replace")[-count:].decode("utf-8", "ignore")
