"""Whether a rule fits an attempt. Pure. In doubt a rule that forbids fits, and a rule that allows does not."""

import functools
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from rpc_agent.permissions.command_lines import is_one_command, opens_the_same, possible_commands
from rpc_agent.permissions.rules import Attempt, Place, Rule
from rpc_agent.wildcards import ends_in_name, ends_of_folders

_WILDCARDS = re.compile(r"(\*\*/|\*\*|\*)")
_ABSOLUTE = re.compile(r"/|[A-Za-z]:/")


def forbids(rule: Rule, attempt: Attempt) -> bool:
    """For deny and ask: one of the paths, the command, or a part of a chain of commands is enough; case is ignored."""
    if not _names(rule, attempt):
        return False
    subjects = [_slashes(path) for path in attempt.paths]
    if any(_path_glob(rule.match, attempt.place, ignore_case=True).fits(path) for path in subjects):
        return True
    if attempt.command is not None:
        regex = _text_regex(rule.match, ignore_case=True)
        return any(regex.fullmatch(part) for part in possible_commands(attempt.command))
    return not subjects and _matches_everything(rule)


def allows(rule: Rule, attempt: Attempt) -> bool:
    """For allow: every path must fit, and a command only as a whole, if it is a single one and opens no other file."""
    if not _names(rule, attempt):
        return False
    if attempt.command is not None and not _allows_command(rule, attempt.command):
        return False
    glob = _path_glob(rule.match, attempt.place, ignore_case=False)
    if any(not glob.fits(_slashes(path)) for path in attempt.paths):
        return False
    return bool(attempt.paths) or attempt.command is not None or _matches_everything(rule)


def is_inside(path: str, folder: str, *, ignore_case: bool) -> bool:
    """Whether `path` is `folder` or lies in it; both absolute and resolved."""
    inner, outer = _slashes(path).rstrip("/"), _slashes(folder).rstrip("/")
    if ignore_case:
        inner, outer = inner.casefold(), outer.casefold()
    return inner == outer or inner.startswith(f"{outer}/")


def _names(rule: Rule, attempt: Attempt) -> bool:
    return bool(_text_regex(rule.tool, ignore_case=False).fullmatch(attempt.tool))


def _matches_everything(rule: Rule) -> bool:
    return rule.match in ("*", "**")


def _allows_command(rule: Rule, command: str) -> bool:
    return (
        is_one_command(command)
        and opens_the_same(command, rule.match)
        and bool(_text_regex(rule.match, ignore_case=False).fullmatch(command.strip()))
    )


def _slashes(path: str) -> str:
    # Only Windows has drive letters, and only there a backslash parts names.
    return path.replace("\\", "/") if re.match(r"[A-Za-z]:[\\/]|\\\\", path) else path


@functools.lru_cache(maxsize=256)
def _text_regex(glob: str, *, ignore_case: bool) -> re.Pattern[str]:
    """The first place of what stands between two stars leaves most to the rest; others are not tried: a rule that
    tries every way to share out a long command among its stars never ends."""
    first, *later = (_characters(run, any_character=".") for run in re.split(r"\*+", glob))
    stars = "".join(f"(?>.*?{run})" for run in later[:-1]) + (f".*{later[-1]}" if later else "")
    return re.compile(first + stars, re.DOTALL | (re.IGNORECASE if ignore_case else 0))


def _characters(run: str, *, any_character: str) -> str:
    return "".join(any_character if char == "?" else re.escape(char) for char in run)


class _PathGlob(Struct, frozen=True):
    """Follows all places where the pieces may end at once: there are no more than the path has characters.

    A regular expression would try every way to share out the path among the stars.
    """

    pieces: Sequence[tuple[str, re.Pattern[str]]]
    """Wildcards, and runs of characters as the glob has them and as expressions of the same width."""
    with_inner: bool
    """What lies in the folder that fits, fits too."""

    def fits(self, path: str) -> bool:
        places = {0}
        for piece, regex in self.pieces:
            if not places:
                return False
            places = set(_places_after(piece, regex, path, places))
        return len(path) in places or (self.with_inner and any(path.startswith("/", place) for place in places))


def _places_after(piece: str, regex: re.Pattern[str], path: str, places: set[int]) -> Iterator[int]:
    if piece == "**":
        yield from range(min(places), len(path) + 1)
    elif piece == "**/":
        yield from ends_of_folders(path, places)
    elif piece == "*":
        yield from ends_in_name(path, places)
    else:
        yield from (place + len(piece) for place in places if regex.match(path, place))


@functools.lru_cache(maxsize=256)
def _path_glob(glob: str, place: Place, *, ignore_case: bool) -> _PathGlob:
    if glob == "*":
        glob = "**"
    elif glob == "~" or glob.startswith("~/"):
        glob = _slashes(place.home).rstrip("/") + glob[1:]
    elif not glob.startswith("**") and not _ABSOLUTE.match(_slashes(glob)):
        glob = f"{_slashes(place.workspace).rstrip('/')}/{glob.removeprefix('./')}"
    glob = _slashes(glob)
    # "/x/**" means the folder x too: who shuts a folder off does not want it listed.
    with_inner = glob.endswith("/**")
    flags = re.DOTALL | (re.IGNORECASE if ignore_case else 0)
    pieces = filter(None, _WILDCARDS.split(glob.removesuffix("/**")))
    runs = tuple((piece, re.compile(_characters(piece, any_character="[^/]"), flags)) for piece in pieces)
    return _PathGlob(runs, with_inner)
