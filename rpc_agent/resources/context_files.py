"""Finds the instructions that users and projects wrote for agents, and reads them.

They are read before anybody trusts a project, and go to the model's service. So a project's may be no link to a file
that is nobody's instructions: a key, or our own configuration.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from rpc_agent.platform.real_folder import open_real
from rpc_agent.resources.plain_text import decoded

_NAMES = ("AGENTS.override.md", "AGENTS.md", "CLAUDE.md")
"""In a folder the first of them counts."""

_MOST_BYTES = 256 * 1024
"""More than any instructions have; a mistaken file must not fill the model's window."""


class ContextFile(Struct, frozen=True):
    """`truncated`: the file was longer than what is kept."""

    path: Path
    text: str
    truncated: bool = False


class ContextFiles(Struct, frozen=True):
    """In the order in which they count: the user's, then from the root of the file system down to the folder.

    `unreadable` holds sentences about files that are there but could not be read.
    """

    files: tuple[ContextFile, ...]
    unreadable: tuple[str, ...]


def read_context_files(cwd: Path, user_dir: Path) -> ContextFiles:
    """One file at most from `user_dir`, and from each folder down to `cwd`; empty ones are passed over."""
    files: list[ContextFile] = []
    unreadable: list[str] = []
    for path in _paths(cwd, user_dir):
        real = Path(os.path.realpath(path))
        if path.parent != user_dir and not _are_instructions(real, path):
            unreadable.append(f"{path}: it is a link to {real}, which lies elsewhere and is named otherwise")
            continue
        try:
            file = _read(path, real)
        except OSError as error:
            unreadable.append(f"{path}: {error.strerror or error}")
            continue
        if file is None:
            unreadable.append(f"{path}: it is no text")
        elif file.text.strip():
            files.append(file)
    return ContextFiles(tuple(files), tuple(unreadable))


def _paths(cwd: Path, user_dir: Path) -> Iterator[Path]:
    seen: set[str] = set()
    here = Path(os.path.abspath(cwd))
    for folder in (user_dir, *reversed(here.parents), here):
        path = _first_in(folder)
        # The user's folder may lie on the way, and one link may lead to another file of the list.
        if path is not None and (real := os.path.realpath(path)) not in seen:
            seen.add(real)
            yield path


def _first_in(folder: Path) -> Path | None:
    for name in _NAMES:
        path = folder / name
        try:
            # A pipe of that name would block whoever reads it.
            if stat.S_ISREG(path.stat().st_mode):
                return path
        except OSError:
            continue
    return None


def _are_instructions(real: Path, path: Path) -> bool:
    return real.name in _NAMES or real.is_relative_to(os.path.realpath(path.parent))


def _read(path: Path, real: Path) -> ContextFile | None:
    with open(open_real(real, os.O_RDONLY), "rb") as file:
        data = file.read(_MOST_BYTES + 1)
    truncated = len(data) > _MOST_BYTES
    text = decoded(data[:_MOST_BYTES], is_cut=truncated)
    return None if text is None else ContextFile(path, text, truncated)
