"""Whether a rule fits an attempt. Pure. In doubt a rule that forbids fits, and a rule that allows does not."""

import functools
import re
from collections.abc import Iterable, Iterator

from rpc_agent.permissions.rules import Attempt, Place, Rule

_CHAINING = re.compile(r"[;&|`\n\r]|\$\(|[<>]\(")
"""What makes one command line more than one command: more may happen than the beginning shows."""

_ABSOLUTE = re.compile(r"/|[A-Za-z]:/")


def forbids(rule: Rule, attempt: Attempt) -> bool:
    """For deny and ask: one of the paths, the command, or a part of a chain of commands is enough; case is ignored."""
    if not _names(rule, attempt):
        return False
    subjects = [_slashes(path) for path in attempt.paths]
    if any(_path_regex(rule.match, attempt.place, ignore_case=True).fullmatch(path) for path in subjects):
        return True
    if attempt.command is not None:
        regex = _text_regex(rule.match, ignore_case=True)
        return any(regex.fullmatch(part) for part in _command_parts(attempt.command))
    return not subjects and _matches_everything(rule)


def allows(rule: Rule, attempt: Attempt) -> bool:
    """For allow: every path must fit, and a command only as a whole, if it is a single one."""
    if not _names(rule, attempt):
        return False
    if attempt.command is not None and not _allows_command(rule, attempt.command):
        return False
    regex = _path_regex(rule.match, attempt.place, ignore_case=False)
    if any(not regex.fullmatch(_slashes(path)) for path in attempt.paths):
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
    return not _CHAINING.search(command) and bool(_text_regex(rule.match, ignore_case=False).fullmatch(command.strip()))


def _command_parts(command: str) -> Iterator[str]:
    yield command
    yield command.strip()
    for part in _CHAINING.split(command):
        yield part.strip().rstrip(")").strip()


def _slashes(path: str) -> str:
    # Only Windows has drive letters, and only there a backslash parts names.
    return path.replace("\\", "/") if re.match(r"[A-Za-z]:[\\/]|\\\\", path) else path


@functools.lru_cache(maxsize=256)
def _text_regex(glob: str, *, ignore_case: bool) -> re.Pattern[str]:
    pattern = "".join({"*": ".*", "?": "."}.get(char, re.escape(char)) for char in glob)
    return re.compile(pattern, re.DOTALL | (re.IGNORECASE if ignore_case else 0))


@functools.lru_cache(maxsize=256)
def _path_regex(glob: str, place: Place, *, ignore_case: bool) -> re.Pattern[str]:
    if glob == "*":
        glob = "**"
    elif glob == "~" or glob.startswith("~/"):
        glob = _slashes(place.home).rstrip("/") + glob[1:]
    elif not glob.startswith("**") and not _ABSOLUTE.match(_slashes(glob)):
        glob = f"{_slashes(place.workspace).rstrip('/')}/{glob.removeprefix('./')}"
    return re.compile("".join(_path_pieces(_slashes(glob))), re.DOTALL | (re.IGNORECASE if ignore_case else 0))


def _path_pieces(glob: str) -> Iterable[str]:
    # "/x/**" means the folder x too: who shuts a folder off does not want it listed.
    if glob.endswith("/**"):
        glob, end = glob[:-3], "(?:/.*)?"
    else:
        end = ""
    for piece in re.split(r"(\*\*/|\*\*|\*|\?)", glob):
        yield {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(piece, re.escape(piece))
    yield end
