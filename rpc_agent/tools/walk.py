"""Goes through a folder in a fixed order and leaves out what .gitignore leaves out. Hidden files are gone through too.

As ripgrep does it: rules of the folders above count as far up as the repository reaches, or all the way up when
there is none; `.git` itself is never entered; links are named but not followed; a path that was asked for is never
left out itself.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from msgspec import Struct

from rpc_agent.tools.gitignore import Rule, is_ignored, parse_rules

_RULES = ".gitignore"
_RULES_BYTES = 1024 * 1024
"""No .gitignore of people is larger; a mistaken one must not eat the memory."""


class Found(Struct, frozen=True):
    """`path` starts at the folder of the walk, with forward slashes; bytes that are no UTF-8 are surrogate escapes."""

    path: str
    is_folder: bool
    is_link: bool


class _Level(Struct, frozen=True):
    """The rules that count in one folder, whose own name is `name`."""

    rules: tuple[Rule, ...]
    is_top: bool
    """A repository begins here, and the rules above are none of its."""
    above: "_Level | None"
    name: str

    @classmethod
    def read(cls, folder: str, name: str, above: "_Level | None", *, repositories: bool) -> Self:
        return cls(_read_rules(folder), repositories and _is_repository(folder), above, name)

    def leaves_out(self, name: str, is_folder: bool) -> bool:
        level: _Level | None = self
        path = name
        while level is not None:
            verdict = is_ignored(path, folder=is_folder, rules=level.rules)
            if verdict is not None:
                return verdict
            if level.is_top:
                return False
            path = f"{level.name}/{path}"
            level = level.above
        return False


def walk(folder: Path) -> Iterator[Found]:
    """Everything below `folder`, each folder before what is in it. Folders that may not be read are passed over."""
    # A stack of our own: trees may be deeper than Python recurses.
    waiting = [_listing(str(folder), "", _level_of(folder), in_repository(folder))]
    while waiting:
        found = next(waiting[-1], None)
        if found is None:
            waiting.pop()
            continue
        entry, below = found
        yield entry
        if below is not None:
            waiting.append(below)


def in_repository(folder: Path) -> bool:
    real = Path(os.path.realpath(folder))
    return any(_is_repository(str(place)) for place in (real, *real.parents))


def entries(folder: Path) -> tuple[list[Found], int]:
    """What lies directly in `folder`, and how many entries .gitignore left out. Raises OSError."""
    level = _level_of(folder)
    with os.scandir(folder) as scan:
        everything = [(entry.name, _is_folder(entry), entry.is_symlink()) for entry in scan]
    kept = [
        Found(name, folder, link)
        for name, folder, link in everything
        if not level.leaves_out(name, folder and not link)
    ]
    return kept, len(everything) - len(kept)


def has_odd_rules(folder: Path) -> bool:
    """Whether, in the folder or above it, something is called .gitignore that is no file."""
    real = Path(os.path.realpath(folder))
    places = [os.path.join(place, _RULES) for place in (real, *real.parents)]
    return any(os.path.lexists(place) and not os.path.isfile(place) for place in places)


_Listing = Iterator[tuple[Found, "_Listing | None"]]


def _listing(folder: str, prefix: str, level: _Level, repositories: bool) -> _Listing:
    """The entries of one folder in order, each folder with its own listing."""
    try:
        with os.scandir(folder) as scan:
            listing = sorted(scan, key=lambda entry: os.fsencode(entry.name))
    except OSError:
        return
    for entry in listing:
        is_link = entry.is_symlink()
        enters = _is_folder(entry) and not is_link
        if entry.name == ".git" or level.leaves_out(entry.name, enters):
            continue
        path = prefix + entry.name
        below = _folder_listing(entry.path, path, level, repositories) if enters else None
        yield Found(path, enters, is_link), below


def _folder_listing(folder: str, path: str, above: _Level, repositories: bool) -> _Listing:
    level = _Level.read(folder, os.path.basename(folder), above, repositories=repositories)
    yield from _listing(folder, f"{path}/", level, repositories)


def _level_of(folder: Path) -> _Level:
    real = Path(os.path.realpath(folder))
    repositories = in_repository(real)
    level: _Level | None = None
    for place in [*reversed(real.parents), real]:
        level = _Level.read(str(place), place.name, level, repositories=repositories)
    assert level is not None
    return level


def _is_repository(folder: str) -> bool:
    return os.path.lexists(os.path.join(folder, ".git"))


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _read_rules(folder: str) -> tuple[Rule, ...]:
    path = os.path.join(folder, _RULES)
    try:
        # Most folders have none; asking first is cheaper than a refused open. A pipe of that name would block.
        if not os.path.isfile(path):
            return ()
        with open(path, "rb") as file:
            return parse_rules(os.fsdecode(file.read(_RULES_BYTES)))
    except OSError:
        return ()
