"""One session file, open for writing: whole lines are appended or nothing is. Knows bytes, not entries.

Every append is one write of whole lines at the end of the file. If the system takes less than all of it, the file
is cut back to what it was, so that a reader never meets half a line of ours after an error we survived.
"""

import contextlib
import errno
import itertools
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from rpc_agent.errors import SessionLocked, StorageFailed
from rpc_agent.platform.locks import Lock, holder_pid, try_lock

_BINARY = getattr(os, "O_BINARY", 0)
_CLOSE_ON_EXEC = getattr(os, "O_CLOEXEC", 0)
_OPEN = os.O_RDWR | os.O_APPEND | _BINARY | _CLOSE_ON_EXEC
_OWNER_ONLY_FILE = 0o600
_OWNER_ONLY_FOLDER = 0o700
_KEPT = ".before-migration-"


class SessionFile:
    """The one writer of a file, while it is open. All errors of the system come out as StorageFailed."""

    def __init__(self, path: Path, descriptor: int, lock: Lock, *, is_new: bool) -> None:
        self.path = path
        self._descriptor = descriptor
        self._lock = lock
        self._folder_is_synced = not is_new
        self._closing = threading.Lock()
        """`sync` runs in a thread: the number of a closed file may be another file's by then."""
        self.size = os.fstat(descriptor).st_size
        """Bytes known to us: everything before this offset was read or written here."""
        self.needs_newline = self.size > 0 and read_range(path, self.size - 1, self.size) != b"\n"

    @classmethod
    def open(cls, path: Path) -> "SessionFile":
        """Open an existing file and lock it. Raises SessionLocked when another program writes it."""
        with storage_errors(path):
            return cls._locked(path, _OPEN, is_new=False)

    @classmethod
    def create(cls, path: Path, data: bytes) -> "SessionFile":
        """Make a new file that holds `data` from its first moment on, or no file at all."""
        with storage_errors(path):
            make_private_folder(path.parent)
            file = cls._locked(path, _OPEN | os.O_CREAT | os.O_EXCL, is_new=True)
        try:
            file.append(data)
        except BaseException:
            file.close(remove=True)
            raise
        return file

    @classmethod
    def _locked(cls, path: Path, flags: int, *, is_new: bool) -> "SessionFile":
        lock = lock_session(path)
        try:
            descriptor = os.open(path, flags, _OWNER_ONLY_FILE)
            try:
                return cls(path, descriptor, lock, is_new=is_new)
            except BaseException:
                os.close(descriptor)
                raise
        except BaseException:
            lock.release()
            raise

    def append(self, lines: bytes) -> None:
        """Add whole lines (each with its newline) in one write. On StorageFailed the file is as before."""
        data = b"\n" + lines if self.needs_newline else lines
        with storage_errors(self.path):
            written = os.write(self._descriptor, data)
            if written < len(data):
                self._take_back(written)
                # The system says why only when asked again; what was cut short is nearly always a full disk.
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.size = os.lseek(self._descriptor, 0, os.SEEK_CUR)
        self.needs_newline = False

    def growth(self) -> int:
        """How many bytes another program has added behind what we know.

        Raises StorageFailed when the file was cut, removed or replaced: what we would write could not be found again.
        """
        with storage_errors(self.path):
            status = os.fstat(self._descriptor)
            if not os.path.samestat(status, os.stat(self.path)) or status.st_size < self.size:
                raise OSError(errno.ESTALE, "the session file was removed, replaced or cut by another program")
        return status.st_size - self.size

    def accept_growth(self) -> bytes:
        """The bytes another program added; from now on they count as known."""
        with storage_errors(self.path):
            data = read_range(self.path, self.size, self.size + self.growth())
        self.size += len(data)
        self.needs_newline = not data.endswith(b"\n") if data else self.needs_newline
        return data

    def was_read(self, size: int) -> None:
        """The first `size` bytes are known, of the file that has our name now: a migration may have replaced it."""
        with storage_errors(self.path):
            if not os.path.samestat(os.fstat(self._descriptor), os.stat(self.path)):
                # The new one first: where it cannot be opened, `close` must not meet a number that is another file's.
                replaced, self._descriptor = self._descriptor, os.open(self.path, _OPEN)
                os.close(replaced)
            self.size = size
            self.needs_newline = read_range(self.path, size - 1, size) != b"\n"

    def sync(self) -> None:
        """Wait until the disk has everything that was appended."""
        with storage_errors(self.path):
            with self._closing:
                if self._descriptor < 0:
                    return  # `close` was quicker than the thread that was to do this.
                descriptor = os.dup(self._descriptor)
            try:
                _sync_data(descriptor)
            finally:
                os.close(descriptor)
            if not self._folder_is_synced:
                sync_folder(self.path.parent)
                self._folder_is_synced = True

    def close(self, *, remove: bool = False) -> None:
        """Give the file and its lock free; more than once is harmless. `remove` takes the file away as well."""
        with self._closing:
            descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)
            if remove:
                # Between the two: Windows removes no open file, and without the lock it may be another's by then.
                with contextlib.suppress(OSError):
                    self.path.unlink()
            self._lock.release()

    def _take_back(self, written: int) -> None:
        """Cut off the piece of a line that a short write left, unless another program wrote behind it meanwhile."""
        end = os.lseek(self._descriptor, 0, os.SEEK_CUR)
        if os.fstat(self._descriptor).st_size != end:
            return
        try:
            os.ftruncate(self._descriptor, end - written)
        except OSError:
            # The piece stays, so the next line must not be glued to it.
            self.needs_newline = True
            self.size = end


@contextlib.contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """The system's refusals inside, as StorageFailed about `path`."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise StorageFailed(
            f"The session file {path} could not be read or written: {reason}. "
            "Nothing that was stored before is changed; make room or give access, then try again.",
            errno=error.errno or 0,
            path=str(path),
        ) from error


def lock_path(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


def lock_session(path: Path) -> Lock:
    """The lock of a session file. Raises SessionLocked with the pid of who holds it, as far as it is known."""
    lock = try_lock(lock_path(path))
    if lock is None:
        pid = holder_pid(lock_path(path))
        owner = f"process {pid}" if pid is not None else "another process"
        raise SessionLocked(
            f"The session {path.name} is being written by {owner}. Close it there, or open it read-only; "
            "clone_session then goes on in a copy.",
            pid=pid,
        )
    return lock


def read_range(path: Path, start: int, end: int) -> bytes:
    with open(path, "rb") as file:
        file.seek(start)
        return file.read(end - start)


def make_private_folder(folder: Path) -> None:
    """Make a folder and what is missing above it, readable by its owner only."""
    missing = [folder, *folder.parents]
    for place in reversed(missing[: next((i for i, place in enumerate(missing) if place.exists()), len(missing))]):
        place.mkdir(mode=_OWNER_ONLY_FOLDER, exist_ok=True)


def replace_file(path: Path, data: bytes) -> None:
    """Put `data` in the place of a file: whole and on disk, or not at all."""
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    with storage_errors(path):
        try:
            _write_new(beside, data)
            os.replace(beside, path)
        except BaseException:
            with contextlib.suppress(OSError):
                beside.unlink()
            raise
        sync_folder(path.parent)


def keep_original(path: Path) -> Path:
    """Keep what a file holds now under a name beside it, which is given back. Lists do not show it."""
    with storage_errors(path):
        for number in itertools.count(1):
            kept = path.with_name(f"{path.name}{_KEPT}{number}")
            try:
                _link_or_copy(path, kept)
            except FileExistsError:
                # The one that a kill left here between this and the replacement serves as well.
                if not kept.samefile(path):
                    continue
            sync_folder(path.parent)
            return kept
    raise AssertionError("the count of names has no end")


def originals_of(path: Path) -> list[Path]:
    """What `keep_original` kept of a file."""
    beside = (entry.name for entry in os.scandir(path.parent) if entry.name.startswith(path.name + _KEPT))
    return [path.with_name(name) for name in sorted(beside)]


def _link_or_copy(path: Path, kept: Path) -> None:
    try:
        os.link(path, kept)
    except FileExistsError:
        raise
    except OSError:
        # Not every file system has links.
        _write_new(kept, path.read_bytes())


def _write_new(path: Path, data: bytes) -> None:
    """A file that was not there, whole and on the disk."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, _OWNER_ONLY_FILE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Make a new name in a folder survive a power cut; Windows does so by itself and cannot be asked."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_data(descriptor: int) -> None:
    if sys.platform == "linux":
        os.fdatasync(descriptor)
    else:
        os.fsync(descriptor)
