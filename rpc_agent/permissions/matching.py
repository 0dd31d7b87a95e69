"""Whether a rule fits an attempt. Pure. In doubt a rule that forbids fits, and a rule that allows does not."""

import functools
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from rpc_agent.permissions.command_lines import is_one_command, opens_the_same, possible_commands
from rpc_agent.permissions.rules import Attempt, Place, Rule
from rpc_agent.wildcards import ends_in_name, ends_of_folders

_WILDCARDS = re.compile(r"(\*\*/|\*\*|\*)")
_STEP = re.compile(r"(\.\.?)(?:/+|$)")
_CHOICE = re.compile(r"\{([^{}]*,[^{}]*)\}")
_MOST_ALTERNATIVES = 100
"""Each choice in a glob multiplies what it comes to."""
_ABSOLUTE = re.compile(r"/|[A-Za-z]:/")


def forbids(rule: Rule, attempt: Attempt) -> bool:
    """For deny and ask: one of the paths, the command, or a part of a chain of commands is enough; case is ignored."""
    if not _names(rule, attempt):
        return False
    subjects = [_slashes(path) for path in attempt.paths]
    globs = [_path_glob(match, attempt.place, forbids=True) for match in _alternatives(rule.match)]
    if any(glob.fits(path) for glob in globs for path in subjects):
        return True
    if attempt.command is not None:
        regex = _text_regex(rule.match, ignore_case=True)
        # Who forbids "git push *" means the bare "git push" too.
        bare = _text_regex(rule.match.removesuffix(" *"), ignore_case=True)
        return any(regex.fullmatch(part) or bare.fullmatch(part) for part in possible_commands(attempt.command))
    return not subjects and _matches_everything(rule)


def allows(rule: Rule, attempt: Attempt) -> bool:
    """For allow: every path must fit, and a command only as a whole, if it is a single one and opens no other file."""
    if not _names(rule, attempt):
        return False
    if attempt.command is not None and not _allows_command(rule, attempt.command):
        return False
    globs = [_path_glob(match, attempt.place, forbids=False) for match in _alternatives(rule.match)]
    if any(not any(glob.fits(_slashes(path)) for glob in globs) for path in attempt.paths):
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
    # A line break at its end begins no second command, and models write one there.
    command = command.strip()
    return (
        is_one_command(command)
        and opens_the_same(command, rule.match)
        and bool(_text_regex(rule.match, ignore_case=False).fullmatch(command))
    )


@functools.lru_cache(maxsize=256)
def _alternatives(glob: str) -> Sequence[str]:
    """The glob as it stands, as a name may have braces, and what its choices (`*.{pem,key}`) come to."""
    found, at = [glob], 0
    while at < len(found) <= _MOST_ALTERNATIVES:
        if choice := _CHOICE.search(found[at]):
            before, after = found[at][: choice.start()], found[at][choice.end() :]
            found += [before + word + after for word in choice[1].split(",")]
        at += 1
    return tuple(found)


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
def _path_glob(glob: str, place: Place, *, forbids: bool) -> _PathGlob:
    glob = _slashes(_absolute(glob, place))
    if forbids:
        glob = glob.rstrip("/")
        # Who forbids "~/.ssh" means what lies in it too.
        glob += "" if re.search(r"[*?][^/]*$", glob) else "/**"
    # "/x/**" means the folder x too: who shuts a folder off does not want it listed.
    with_inner = glob.endswith("/**")
    flags = re.DOTALL | (re.IGNORECASE if forbids else 0)
    pieces = filter(None, _WILDCARDS.split(glob.removesuffix("/**")))
    runs = tuple((piece, re.compile(_characters(piece, any_character="[^/]"), flags)) for piece in pieces)
    return _PathGlob(runs, with_inner)


def _absolute(glob: str, place: Place) -> str:
    if glob == "*":
        return "**"
    if glob == "~" or glob.startswith("~/"):
        return _slashes(place.home).rstrip("/") + glob[1:]
    if glob.startswith("**") or _ABSOLUTE.match(_slashes(glob)):
        return glob
    folder = _slashes(place.workspace).rstrip("/")
    while up := _STEP.match(glob):
        glob = glob[up.end() :]
        folder = folder.rpartition("/")[0] if up[1] == ".." else folder
    return f"{folder}/{glob}"
