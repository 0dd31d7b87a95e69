"""One lock for each real path, so that two changes of one file never mix. Locks nobody wants are forgotten."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio


class PathLocks:
    def __init__(self) -> None:
        self._locks: dict[str, anyio.Lock] = {}
        self._wanted: dict[str, int] = {}

    @asynccontextmanager
    async def hold(self, path: Path) -> AsyncIterator[None]:
        """Wait for the file that `path` leads to; links to one file share its lock."""
        key = _key(path)
        lock = self._locks.setdefault(key, anyio.Lock())
        self._wanted[key] = self._wanted.get(key, 0) + 1
        try:
            async with lock:
                yield
        finally:
            self._wanted[key] -= 1
            if not self._wanted[key]:
                del self._wanted[key], self._locks[key]

    def __len__(self) -> int:
        return len(self._locks)


def _key(path: Path) -> str:
    real = os.path.normcase(os.path.realpath(path))
    # The usual file system of macOS does not tell cases apart.
    return real.casefold() if sys.platform == "darwin" else real
