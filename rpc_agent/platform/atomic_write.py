"""Replaces a whole file at once: readers see the old bytes or the new ones, never a mixture, whatever dies."""

import contextlib
import errno
import os
import secrets
import stat
import sys
from pathlib import Path
from typing import BinaryIO

from rpc_agent.platform.real_folder import RealFolder, real_folder

# A full path component may have 255 bytes; the rest is for the dots and the random part.
_LONGEST_NAME_KEPT = 40


def replace_file(path: Path, data: bytes) -> None:
    """Write `data` as the file `path` (a link is followed, its folder must be there); mode and owner stay as they were.

    Raises OSError and leaves the old file as it was when the disk or the permissions say no.
    """
    replace_real_file(Path(os.path.realpath(path)), data)


def replace_real_file(path: Path, data: bytes) -> None:
    """As `replace_file`, for an absolute path without links: one that is put in the way meanwhile is not followed."""
    with real_folder(path.parent) as folder:
        _replace(folder, path.name, data)


def _replace(folder: RealFolder, name: str, data: bytes) -> None:
    old = folder.status(name)
    if old is not None and not stat.S_ISREG(old.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(folder.path / name))
    if old is not None and not folder.may_be_written(name):
        # The rename would succeed: it asks the folder, not the file. A file made read-only is meant.
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder.path / name))
    beside = f".{name[:_LONGEST_NAME_KEPT]}.{secrets.token_hex(6)}.tmp"
    try:
        descriptor = folder.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    except PermissionError:
        if old is None:
            raise
        # A folder we may not write into with a file in it that we may: in place is all there is.
        with open(folder.open(name, os.O_WRONLY | os.O_TRUNC), "wb") as file:
            _fill(file, data)
        return
    try:
        with open(descriptor, "wb") as file:
            _fill(file, data)
            if old is not None:
                _keep_attributes(folder, name, file.fileno(), old)
        if old is not None and sys.platform == "win32":
            os.chmod(folder.path / beside, stat.S_IMODE(old.st_mode))
        folder.rename(beside, name)
    except BaseException:
        with contextlib.suppress(OSError):
            folder.remove(beside)
        raise


def _fill(file: BinaryIO, data: bytes) -> None:
    file.write(data)
    file.flush()
    # Renamed before it is on disk, the file could be empty after a power cut.
    os.fsync(file.fileno())


def _keep_attributes(folder: RealFolder, name: str, written: int, old: os.stat_result) -> None:
    if sys.platform == "win32":
        return
    new = os.fstat(written)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        # Only root may give a file away; the group alone can often be kept.
        with contextlib.suppress(OSError):
            os.fchown(written, -1, old.st_gid)
        with contextlib.suppress(OSError):
            os.fchown(written, old.st_uid, -1)
    if sys.platform == "linux":
        # Access control lists and labels live in extended attributes. Who may not read the old file leaves them.
        with contextlib.suppress(OSError):
            _copy_attributes(folder.open(name, os.O_RDONLY | os.O_NONBLOCK), written)
    # Last, because giving a file away clears its set-user-id bits.
    os.fchmod(written, stat.S_IMODE(old.st_mode))


def _copy_attributes(source: int, target: int) -> None:
    """Between open files; closes the source."""
    try:
        if sys.platform == "linux":
            for name in os.listxattr(source):
                os.setxattr(target, name, os.getxattr(source, name))
    finally:
        os.close(source)
