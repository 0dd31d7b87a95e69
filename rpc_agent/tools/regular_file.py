"""Opens files that are files: a pipe would block for ever, a device never end."""

import difflib
import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from rpc_agent.tools.failure import ToolFailure


def open_regular(path: Path) -> BinaryIO:
    """The file, for reading bytes. Raises ToolFailure with advice when it is no regular file, OSError otherwise."""
    try:
        # Without O_NONBLOCK opening a pipe waits for its writer, before we could see that it is one.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
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
    near = difflib.get_close_matches(path.name, names, n=3)
    return f" Similar names there: {', '.join(near)}." if near else ""
