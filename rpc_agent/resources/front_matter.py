"""The head of a Markdown file: `key: value` lines between two lines of three dashes. Reads text; no file, no YAML.

Prompt templates and skills use a handful of plain texts there. A value may be quoted, folded (`>`) or literal (`|`);
lists and nested values are passed over, because nothing here needs them.
"""

from collections.abc import Iterator

_FENCE = "---"


def split_front_matter(text: str) -> tuple[dict[str, str], str]:
    """The fields and the body. A text without a closed head is all body."""
    # Not splitlines: a form feed or U+2028 in the body ends no line.
    lines = text.removeprefix("\ufeff").removesuffix("\n").split("\n")
    if lines[0].rstrip() != _FENCE:
        return {}, text
    end = next((at for at, line in enumerate(lines[1:], start=1) if line.rstrip() == _FENCE), None)
    if end is None:
        return {}, text
    fields = dict(_fields(lines[1:end]))
    if not fields and any(line.strip() for line in lines[1:end]):
        # Two rules across the page with words between them.
        return {}, text
    return fields, "\n".join(lines[end + 1 :]).lstrip("\n")


def _fields(lines: list[str]) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(lines):
        name, colon, value = lines[at].partition(":")
        at += 1
        if not colon or not name.strip() or name != name.lstrip() or name.startswith("#"):
            continue
        value = value.strip()
        if value[:1] in (">", "|"):
            block, at = _block(lines, at)
            value = (" " if value.startswith(">") else "\n").join(block)
        yield name.strip(), _unquoted(value)


def _block(lines: list[str], at: int) -> tuple[list[str], int]:
    """The indented lines from `at` on, and the place after them."""
    block: list[str] = []
    while at < len(lines) and (not lines[at].strip() or lines[at][:1] in " \t"):
        block.append(lines[at].strip())
        at += 1
    return block, at


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value
