"""Path patterns as git and ripgrep write them, as regular expressions. Pure."""

import functools
import re

_CLASS = re.compile(r"\[([!^]?)(\]?(?:\[:\w+:\]|\\.|[^\]\\])*)\]", re.DOTALL)

_NAMED_CLASSES = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "space": r"\s",
    "punct": r"!-/:-@\[-`{-~",
    "xdigit": "0-9a-fA-F",
}


@functools.lru_cache(maxsize=512)
def glob_regex(pattern: str, *, braces: bool = False) -> re.Pattern[str]:
    """Matches whole paths with `/` between names. `*` and `?` stay in one name, `**` as a whole name crosses them.

    `braces` turns `{a,b}` into a choice (find and grep have it, .gitignore has not).
    """
    return re.compile(_translated(pattern, braces), re.DOTALL)


def name_or_path_regex(pattern: str) -> re.Pattern[str]:
    """A find pattern: without a slash it means the name at any depth, else the path from where the search begins."""
    pattern = pattern.removeprefix("./")
    return glob_regex(pattern.removeprefix("/") if "/" in pattern else f"**/{pattern}", braces=True)


def _translated(pattern: str, braces: bool) -> str:
    out: list[str] = []
    at, depth = 0, 0
    while at < len(pattern):
        piece, at, depth = _piece(pattern, at, depth, braces)
        out.append(piece)
    # An open brace that never closes is an ordinary character after all.
    return _translated(pattern, False) if depth else "".join(out)


def _piece(pattern: str, at: int, depth: int, braces: bool) -> tuple[str, int, int]:
    """The regular expression for what stands at `at`, where to go on, and how deep in braces we are."""
    char = pattern[at]
    if char == "*":
        piece, at = _stars(pattern, at)
        return piece, at, depth
    if char == "?":
        return "[^/]", at + 1, depth
    if char == "[" and (match := _CLASS.match(pattern, at)):
        return _class(match), match.end(), depth
    if char == "\\" and at + 1 < len(pattern):
        return re.escape(pattern[at + 1]), at + 2, depth
    if braces and char == "{":
        return "(?:", at + 1, depth + 1
    if depth and char in ",}":
        return ("|", at + 1, depth) if char == "," else (")", at + 1, depth - 1)
    return re.escape(char), at + 1, depth


def _stars(pattern: str, at: int) -> tuple[str, int]:
    end = at
    while end < len(pattern) and pattern[end] == "*":
        end += 1
    whole_name = end - at >= 2 and (at == 0 or pattern[at - 1] == "/") and (end == len(pattern) or pattern[end] == "/")
    if not whole_name:
        return "[^/]*", end
    if end == len(pattern):
        # "a/**" is everything inside a, not a itself.
        return ".+" if at else ".*", end
    return "(?:.*/)?", end + 1


def _class(match: re.Match[str]) -> str:
    negated, body = match[1], match[2]
    named = re.sub(r"\[:(\w+):\]", lambda m: f"\0{m[1]}\0", body)
    escaped = re.sub(r"\\(.)", r"\1", named).replace("\\", r"\\").replace("[", r"\[").replace("]", r"\]")
    escaped = escaped.replace("^", r"\^").replace("&", r"\&").replace("~", r"\~").replace("|", r"\|")
    chars = re.sub("\0(\\w+)\0", lambda m: _NAMED_CLASSES.get(m[1], ""), escaped)
    try:
        re.compile(f"[{chars}]")
    except re.error:
        return "(?!)"
    # A class never matches the slash, whatever it says.
    return f"(?!/)[{'^' if negated else ''}{chars}]"
