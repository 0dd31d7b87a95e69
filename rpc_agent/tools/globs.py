"""Path patterns as git and ripgrep write them. Pure. No pattern, however hostile, takes exponential time.

A pattern is cut into pieces of regular expressions: single characters, and the wildcards below. Joined as they stand
they would mean the right thing but try every way to share out a path among the wildcards, holding the whole server.
"""

import functools
import itertools
import re
from collections.abc import Callable, Iterator, Sequence

from rpc_agent.wildcards import ends_in_name, ends_of_folders

_CLASS = re.compile(r"\[([!^]?)(\]?(?:\[:\w+:\]|\\.|[^\]\\])*)\]", re.DOTALL)

NAMED_CLASSES = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "blank": r"\t ",
    "space": r"\t-\r ",
    "cntrl": r"\x00-\x1f\x7f",
    "graph": "!-~",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "xdigit": "0-9a-fA-F",
}
"""By the names of POSIX: what stands between the brackets of a regular expression."""

_IN_NAME = "[^/]*"
_FOLDERS = "(?:.*/)?"
_REST = (".*", ".+")
_OPEN, _OR, _CLOSE = "(?:", "|", ")"
_WILDCARDS = {_IN_NAME, _FOLDERS, *_REST, _OPEN, _OR, _CLOSE}


@functools.lru_cache(maxsize=512)
def glob_regex(pattern: str) -> re.Pattern[str]:
    """Matches whole paths with `/` between names. `*` and `?` stay in one name, `**` as a whole name crosses them."""
    return re.compile(_without_retries(_pieces(pattern, braces=False)), re.DOTALL)


def find_glob(pattern: str, folder: str = "") -> Callable[[str], object]:
    """A find pattern: without a slash it means the name at any depth, else the path from where the search begins.

    `{a,b}` is a choice here (.gitignore has none), and `!` before all of it takes what does not fit. A pattern that
    begins with the `folder` searched is read from there on. The answer is true for the paths that fit.
    """
    if pattern.startswith("!"):
        fits = _fits(pattern[1:], folder)
        return lambda path: not fits(path)
    return _fits(pattern, folder)


def _fits(pattern: str, folder: str) -> Callable[[str], object]:
    inside = folder.rstrip("/")
    if inside and pattern.startswith(f"{inside}/"):
        pattern = pattern.removeprefix(inside)
    pattern = pattern.removeprefix("./")
    pattern = pattern.removeprefix("/") if "/" in pattern else f"**/{pattern}"
    pieces = _pieces(pattern, braces=True)
    if _OPEN not in pieces:
        return glob_regex(pattern).fullmatch
    steps = _steps(pieces)
    return lambda path: len(path) in _ends(steps, path)


def _without_retries(pieces: Sequence[str]) -> str:
    """Between two `**` stands a fixed number of whole names: their first place leaves most to what follows."""
    first, *later = (_names(block) for block in _split(pieces, _FOLDERS))
    if not later:
        return first
    return first + "".join(f"(?>(?:.*?/)??{block})" for block in later[:-1]) + _FOLDERS + later[-1]


def _names(block: Sequence[str]) -> str:
    return "/".join(_name(name) for name in _split(block, "/"))


def _name(pieces: Sequence[str]) -> str:
    """Between two `*` stands a fixed number of characters: their first place leaves most to what follows."""
    first, *later = ("".join(run) for run in _split(pieces, _IN_NAME))
    if not later:
        return first
    return first + "".join(f"(?>{_IN_NAME}?{run})" for run in later[:-1]) + _IN_NAME + later[-1]


def _split(pieces: Sequence[str], separator: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for piece in pieces:
        if piece == separator:
            parts.append([])
        else:
            parts[-1].append(piece)
    return parts


_Step = tuple[str, re.Pattern[str] | None, int]
"""A wildcard or brace; or "", a run of single characters, and how many they are."""


def _steps(pieces: Sequence[str]) -> list[_Step]:
    steps: list[_Step] = []
    for special, group in itertools.groupby(pieces, _WILDCARDS.__contains__):
        found = list(group)
        if special:
            steps += [(piece, None, 0) for piece in found]
        else:
            steps.append(("", re.compile("".join(found), re.DOTALL), len(found)))
    return steps


def _ends(steps: Sequence[_Step], path: str) -> set[int]:
    """Where in `path` the steps may end. The places of a choice differ in length, so all are followed at once."""
    at = {0}
    braces: list[tuple[set[int], set[int]]] = []
    for step, run, width in steps:
        if run:
            at = {place + width for place in at if run.match(path, place)}
        elif step == _OPEN:
            braces.append((at, set()))
        elif step == _OR:
            before, found = braces[-1]
            found |= at
            at = before
        elif step == _CLOSE:
            at = at | braces.pop()[1]
        else:
            at = set(_after_wildcard(step, path, at))
    return at


def _after_wildcard(wildcard: str, path: str, places: set[int]) -> Iterator[int]:
    if wildcard == _IN_NAME:
        yield from ends_in_name(path, places)
    elif wildcard == _FOLDERS:
        yield from ends_of_folders(path, places)
    elif (wildcard == ".*" and places) or any(place < len(path) for place in places):
        yield len(path)


def _pieces(pattern: str, *, braces: bool) -> list[str]:
    out: list[str] = []
    at, depth, classes = 0, 0, True
    while at < len(pattern):
        match = _CLASS.match(pattern, at) if classes and pattern[at] == "[" else None
        # Where one class does not close, none behind it does; asking at each takes the square of the length.
        classes = classes and (match is not None or pattern[at] != "[")
        if match:
            piece, at = _class(match), match.end()
        else:
            piece, at, depth = _piece(pattern, at, depth, braces)
        out.append(piece)
    # An open brace that never closes is an ordinary character after all.
    return _pieces(pattern, braces=False) if depth else out


def _piece(pattern: str, at: int, depth: int, braces: bool) -> tuple[str, int, int]:
    """The regular expression for what stands at `at`, where to go on, and how deep in braces we are."""
    char = pattern[at]
    if char == "*":
        piece, at = _stars(pattern, at)
        return piece, at, depth
    if char == "?":
        return "[^/]", at + 1, depth
    if char == "\\" and at + 1 < len(pattern):
        return re.escape(pattern[at + 1]), at + 2, depth
    if braces and char == "{":
        return _OPEN, at + 1, depth + 1
    if depth and char in ",}":
        return (_OR, at + 1, depth) if char == "," else (_CLOSE, at + 1, depth - 1)
    return re.escape(char), at + 1, depth


def _stars(pattern: str, at: int) -> tuple[str, int]:
    end = at
    while end < len(pattern) and pattern[end] == "*":
        end += 1
    whole_name = end - at >= 2 and (at == 0 or pattern[at - 1] == "/") and (end == len(pattern) or pattern[end] == "/")
    if not whole_name:
        return _IN_NAME, end
    if end == len(pattern):
        # "a/**" is everything inside a, not a itself.
        return _REST[at > 0], end
    return _FOLDERS, end + 1


def _class(match: re.Match[str]) -> str:
    negated, body = match[1], match[2]
    named = re.sub(r"\[:(\w+):\]", lambda m: f"\0{m[1]}\0", body)
    escaped = re.sub(r"\\(.)", r"\1", named).replace("\\", r"\\").replace("[", r"\[").replace("]", r"\]")
    escaped = escaped.replace("^", r"\^").replace("&", r"\&").replace("~", r"\~").replace("|", r"\|")
    chars = re.sub("\0(\\w+)\0", lambda m: NAMED_CLASSES.get(m[1], ""), escaped)
    try:
        re.compile(f"[{chars}]")
    except re.error:
        return "(?!)"
    # A class never matches the slash, whatever it says.
    return f"(?!/)[{'^' if negated else ''}{chars}]"
