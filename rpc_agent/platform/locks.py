"""An exclusive lock on a file name, held by this process while it is open.

The system frees the lock when its owner dies, however it dies. The pid inside the file is only for messages:
nobody decides by it, because pids are given out again.
"""

import contextlib
import errno
import os
import stat
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

# Windows locks are mandatory, so the locked byte lies where nobody reads: behind the pid, behind any end of file.
_LOCKED_BYTE = 1 << 30
_PID_BYTES = 20
# Whoever gives us a folder may have put a link or a pipe there by the name of a lock.
_OPEN = os.O_RDWR | os.O_CREAT
for _flag in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK"):
    _OPEN |= getattr(os, _flag, 0)


class Lock:
    """A held lock. `release` (or the end of a `with`) frees it and removes its file; more than once is harmless."""

    __slots__ = ("_descriptor", "path")

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            _release(self.path, descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def try_lock(path: Path) -> Lock | None:
    """The lock named by the file `path` (made if it is not there), or None when somebody holds it. Never waits.

    A second call in the same process gets None too. Raises OSError when the folder does not allow the file, or
    its file system has no locks.
    """
    while True:
        descriptor = os.open(path, _OPEN, 0o600)
        try:
            _refuse_what_is_no_lock(path, descriptor)
            locked = _take(descriptor)
            current = locked and _is_still_named(path, descriptor)
            if current:
                _write_pid(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        if current:
            return Lock(path, descriptor)
        os.close(descriptor)
        if not locked:
            return None
        # The owner removed the file between our open and our lock: what we hold has no name any more.


def holder_pid(path: Path) -> int | None:
    """Who wrote itself into the lock file last, for a message; None when nobody can be named."""
    try:
        with open(path, "rb") as file:
            text = file.read(_PID_BYTES).split(b"\n")[0]
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def _is_still_named(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _refuse_what_is_no_lock(path: Path, descriptor: int) -> None:
    """A pid is all that a lock holds; writing ours would destroy anything else."""
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode) and status.st_size <= _PID_BYTES:
        text = os.read(descriptor, _PID_BYTES)
        if not text.strip(b"0123456789\n"):
            return
    raise FileExistsError(errno.EEXIST, "something that is no lock has its name", str(path))


def _write_pid(descriptor: int) -> None:
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, b"%d\n" % os.getpid())


if sys.platform == "win32":
    import msvcrt

    def _take(descriptor: int) -> bool:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except (PermissionError, BlockingIOError):
            return False
        return True

    def _release(path: Path, descriptor: int) -> None:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        with contextlib.suppress(OSError):
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
        os.close(descriptor)
        # Windows refuses to remove a file that the next owner has open already, which is what we want.
        with contextlib.suppress(OSError):
            os.unlink(path)

else:
    import fcntl

    def _take(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _release(path: Path, descriptor: int) -> None:
        # Removed while still locked: whoever opened the old name meanwhile notices that it is gone, and tries again.
        with contextlib.suppress(OSError):
            if _is_still_named(path, descriptor):
                os.unlink(path)
        os.close(descriptor)
