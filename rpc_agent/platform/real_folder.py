"""A folder held by its real path, and files in it: a link that is put in the way afterwards is not followed.

Between the look at a path and its use anybody may turn a folder into a link. So each name on the way is opened from the
one before it, and none of them may be a link. Where the system has no handles of folders (Windows), or does not let us
have one, paths are looked at once more just before each use; what is left is a moment.
"""

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_HAS_HANDLES = sys.platform != "win32"
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
# Linux has handles for folders that one may pass through but not list.
_FOLDER = getattr(os, "O_DIRECTORY", 0) | _NO_LINK | getattr(os, "O_PATH", os.O_RDONLY) | _BINARY


class RealFolder:
    """Names are those of files in it, never paths. Raises OSError, ELOOP where a link stands now."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path = path
        self._descriptor = descriptor

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        place = self._place(name)
        try:
            return os.open(place, flags | _NO_LINK | _BINARY, mode, dir_fd=self._descriptor)
        except OSError as error:
            raise _told(error, self.path / name) from error

    def status(self, name: str) -> os.stat_result | None:
        """None where there is nothing. Raises for a link."""
        try:
            found = os.stat(self._place(name), dir_fd=self._descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None
        if stat.S_ISLNK(found.st_mode):
            raise _turned(self.path / name)
        return found

    def may_be_written(self, name: str) -> bool:
        return os.access(self._place(name), os.W_OK, dir_fd=self._descriptor)

    def rename(self, old: str, new: str) -> None:
        """What has the new name is replaced; a link too, and not what it leads to."""
        places = self._place(old), self._place(new)
        os.replace(*places, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def remove(self, name: str) -> None:
        os.unlink(self._place(name), dir_fd=self._descriptor)

    def _place(self, name: str) -> str:
        if self._descriptor is not None:
            return name
        place = self.path / name
        if os.path.normcase(os.path.realpath(self.path)) != os.path.normcase(self.path) or place.is_symlink():
            raise _turned(place)
        return str(place)


@contextmanager
def real_folder(path: Path, *, make: bool = False) -> Iterator[RealFolder]:
    """`path` is absolute and without links; `make` makes what is missing. Raises OSError."""
    descriptor = _opened(path, make) if _HAS_HANDLES else None
    if descriptor is None and make:
        os.makedirs(path, exist_ok=True)
    try:
        yield RealFolder(path, descriptor)
    finally:
        if descriptor is not None:
            os.close(descriptor)


def open_real(path: Path, flags: int) -> int:
    """A descriptor of the file at `path`, which is absolute and without links. Raises OSError."""
    with real_folder(path.parent) as folder:
        return folder.open(path.name or os.curdir, flags)


def _opened(path: Path, make: bool) -> int | None:
    """None for a folder that may be passed through, but of which this system gives no handle."""
    _refuse_too_long(path)
    root, *names = path.parts
    at, descriptor = Path(root), os.open(root, _FOLDER)
    for name in names:
        at, above = at / name, descriptor
        try:
            descriptor = _made_step(above, name) if make else _step(above, name)
        except OSError as error:
            if isinstance(error, PermissionError) and not hasattr(os, "O_PATH"):
                return None
            raise _told(error, at) from error
        finally:
            os.close(above)
    return descriptor


def _refuse_too_long(path: Path) -> None:
    """Step by step one gets deeper than any path can say; what is made there, nobody opens again."""
    try:
        os.lstat(path)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise


def _made_step(above: int, name: str) -> int:
    try:
        return _step(above, name)
    except FileNotFoundError:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=above)
        return _step(above, name)


def _step(above: int, name: str) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=above)
    except NotADirectoryError:
        # Linux says the same of a link and of a file.
        if stat.S_ISLNK(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode):
            raise _turned(Path(name)) from None
        raise


def _told(error: OSError, path: Path) -> OSError:
    """With the whole path, where the system was given a name."""
    if error.errno == errno.ELOOP:
        return _turned(path)
    return OSError(error.errno, error.strerror, str(path))


def _turned(path: Path) -> OSError:
    return OSError(errno.ELOOP, "a link stands there now, which is not followed", str(path))
