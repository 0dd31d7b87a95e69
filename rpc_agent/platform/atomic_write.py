"""Replaces a whole file at once: readers see the old bytes or the new ones, never a mixture, whatever dies."""

import contextlib
import errno
import os
import secrets
import stat
import sys
from pathlib import Path

# A full path component may have 255 bytes; the rest is for the dots and the random part.
_LONGEST_NAME_KEPT = 40


def replace_file(path: Path, data: bytes) -> None:
    """Write `data` as the file `path` (a link is followed, its folder must be there); mode and owner stay as they were.

    Raises OSError and leaves the old file as it was when the disk or the permissions say no.
    """
    target = Path(os.path.realpath(path))
    old = _stat_or_none(target)
    if old is not None and not stat.S_ISREG(old.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(target))
    if old is not None and not os.access(target, os.W_OK):
        # The rename would succeed: it asks the folder, not the file. A file made read-only is meant.
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    beside = target.with_name(f".{target.name[:_LONGEST_NAME_KEPT]}.{secrets.token_hex(6)}.tmp")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    except PermissionError:
        if old is None:
            raise
        # A folder we may not write into with a file in it that we may: in place is all there is.
        target.write_bytes(data)
        return
    try:
        _fill(descriptor, data)
        if old is not None:
            _keep_attributes(target, beside, old)
        os.replace(beside, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise


def _fill(descriptor: int, data: bytes) -> None:
    with open(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        # Renamed before it is on disk, the file could be empty after a power cut.
        os.fsync(file.fileno())


def _stat_or_none(path: Path) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _keep_attributes(source: Path, target: Path, old: os.stat_result) -> None:
    if sys.platform != "win32":
        new = os.stat(target)
        if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
            # Only root may give a file away; the group alone can often be kept.
            with contextlib.suppress(OSError):
                os.chown(target, -1, old.st_gid)
            with contextlib.suppress(OSError):
                os.chown(target, old.st_uid, -1)
    if sys.platform == "linux":
        # Access control lists and labels live in extended attributes.
        with contextlib.suppress(OSError):
            for name in os.listxattr(source):
                os.setxattr(target, name, os.getxattr(source, name))
    # Last, because giving a file away clears its set-user-id bits.
    os.chmod(target, stat.S_IMODE(old.st_mode))
