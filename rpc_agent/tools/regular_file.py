"""Opens files that are files: a pipe would block for ever, a device never end."""

import difflib
import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from rpc_agent.platform.real_folder import open_real
from rpc_agent.tools.failure import ToolFailure
from rpc_agent.tools.paths import clean_name

# Without O_NONBLOCK opening a pipe waits for its writer, before we could see that it is one.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def open_regular(path: Path) -> BinaryIO:
    """The file, for reading bytes. Raises ToolFailure with advice when it is no regular file, OSError otherwise."""
    return _opened(path, lambda: os.open(path, _FLAGS))


def open_real_regular(path: Path) -> BinaryIO:
    """As `open_regular`, for a path without links: one that is put in the way meanwhile is not followed."""
    return _opened(path, lambda: open_real(path, _FLAGS))


def _opened(path: Path, open_it: Callable[[], int]) -> BinaryIO:
    try:
        descriptor = open_it()
    except FileNotFoundError as error:
        raise ToolFailure(f"There is no file {path}.{_similar(path)}") from error
    except OSError as error:
        if error.errno in (errno.EISDIR, errno.EACCES) and path.is_dir():
            raise ToolFailure(f"{path} is a folder. Use ls to see what is in it.") from error
        raise
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return open(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise ToolFailure(f"{path} is a folder. Use ls to see what is in it.")
    raise ToolFailure(f"{path} is not a regular file but a device, a pipe or a socket.")


def _similar(path: Path) -> str:
    try:
        names = os.listdir(path.parent)
    except OSError:
        return f" Its folder {path.parent} is not there either."
    folded: dict[str, list[str]] = {}
    for name in names:
        folded.setdefault(name.casefold(), []).append(clean_name(name))
    near = [name for each in difflib.get_close_matches(path.name.casefold(), folded, n=3) for name in folded[each]]
    return f" Similar names there: {', '.join(near[:3])}." if near else ""
