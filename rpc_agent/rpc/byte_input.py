"""Reads a file descriptor for an event loop, in bounded memory. Refuses to know what the bytes mean.

Where the loop can watch the descriptor (a pipe or a socket, not on Windows) it reads when there is something. A file,
a terminal, the null device, and everything on Windows, is read by a thread. One hop between threads costs more than
reading, parsing and answering a small message together.
"""

import asyncio
import contextlib
import os
import select
import stat
import sys
import threading
from collections import deque
from collections.abc import Callable

_READ_BYTES = 256 << 10
# Larger reads were no faster; a pipe holds 64 KiB unless somebody enlarged it.

_CHUNKS_AHEAD = 8
# 2 MiB may wait for whoever reads. Then nothing is read, and the pipe makes the other side wait.


class ByteInput:
    """The bytes of `fd` in order. Belongs to the event loop that reads first.

    `take` is offered each chunk that somebody already waits for, before it is read: whether it took it.
    """

    def __init__(self, fd: int, take: Callable[[bytes], bool] | None = None) -> None:
        self._fd = fd
        self._take = take
        self._chunks: deque[bytes] = deque()
        self._has_chunks = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_watched = False
        self._is_awaited = False
        self._is_by_thread = not can_watch(fd)
        self._room = threading.Semaphore(_CHUNKS_AHEAD)

    async def read(self) -> bytes:
        """The next bytes, at least one; none at the end, nor after it, nor when the descriptor cannot be read."""
        self._start()
        while not self._chunks:
            self._has_chunks.clear()
            self._is_awaited = True
            try:
                await self._has_chunks.wait()
            finally:
                self._is_awaited = False
        if not self._chunks[0]:
            return b""
        if self._is_by_thread:
            self._room.release()
        return self._chunks.popleft()

    def _start(self) -> None:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            if self._is_by_thread:
                # A daemon: a thread that waits for the other side must not keep the process alive.
                threading.Thread(target=self._read_on, name="read input", daemon=True).start()
        if not self._is_by_thread and not self._is_watched and len(self._chunks) < _CHUNKS_AHEAD:
            self._watch(self._loop)

    # By the loop.

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        if not (self._chunks and not self._chunks[-1]):
            loop.add_reader(self._fd, self._readable)
            self._is_watched = True

    def _readable(self) -> None:
        with contextlib.suppress(BlockingIOError):  # Somebody else read it first.
            chunk = _read(self._fd)
            # A turn of the loop for whoever waits is a tenth of the time in which a small request is answered.
            if chunk and self._take is not None and self._is_awaited and not self._chunks and self._take(chunk):
                return
            self._arrived(chunk)
        if self._chunks and (len(self._chunks) >= _CHUNKS_AHEAD or not self._chunks[-1]):
            assert self._loop is not None
            self._loop.remove_reader(self._fd)
            self._is_watched = False

    def _arrived(self, chunk: bytes) -> None:
        self._chunks.append(chunk)
        self._has_chunks.set()

    # By a thread.

    def _read_on(self) -> None:
        assert self._loop is not None
        chunk = b"x"
        while chunk:
            self._room.acquire()
            chunk = _read_patiently(self._fd)
            with contextlib.suppress(RuntimeError):  # The loop is closed: nobody is left to care.
                self._loop.call_soon_threadsafe(self._arrived, chunk)


def can_watch(fd: int) -> bool:
    """Whether an event loop can tell when `fd` is ready: epoll refuses files, kqueue some terminals, Windows all."""
    if sys.platform == "win32":
        return False
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _read_patiently(fd: int) -> bytes:
    while True:
        try:
            return _read(fd)
        except BlockingIOError:
            # The parent made its end non-blocking, and on a shared description that is ours too.
            select.select([fd], [], [])


def _read(fd: int) -> bytes:
    """The next bytes, none at the end. Raises BlockingIOError when there are none yet and the descriptor says so."""
    try:
        return os.read(fd, _READ_BYTES)
    except BlockingIOError:
        raise
    except OSError:  # A terminal that is gone, a socket that was reset: an end like any other.
        return b""
