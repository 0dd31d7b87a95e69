"""Writes to a file descriptor without ever blocking the event loop. Refuses to know what the bytes mean.

What surely fits is written at once: a hop to another thread costs more than a small message. The rest is left to a
thread, because no loop can wait for files, and on Windows not for pipes either.
"""

import asyncio
import contextlib
import os
import queue
import select
import socket
import stat
import sys
import threading
from collections.abc import Callable

from rpc_agent.rpc.transport import HungUp

_WRITE_BYTES = 1 << 20
# Some systems refuse a write of 2 GiB or more.

_FEW_PIECES = 4
# Of a pipe's PIPE_BUF: so many are written sooner than a thread is woken, and with more the reader would be woken for
# each while a thread writes them all at once.


class ByteOutput:
    """One writer at a time. Belongs to the event loop that writes first."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._write_now = _non_blocking_writer(fd)
        self._is_atomic = sys.platform != "win32" and stat.S_ISFIFO(os.fstat(fd).st_mode)
        """A pipe takes up to PIPE_BUF bytes whole or not at all (POSIX); a socket may take a part."""
        self._jobs: queue.SimpleQueue[tuple[memoryview, asyncio.Event]] = queue.SimpleQueue()
        self._is_hung_up = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._started: set[str] = set()

    async def write(self, data: bytes) -> None:
        """Returns when all of `data` has left the process. Raises HungUp.

        A caller that is cancelled leaves the rest to the thread, so that no message is cut in two.
        """
        try:
            rest = memoryview(data)[self._write_now(data) :]
        except OSError as error:
            raise HungUp("nobody reads the output") from error
        if rest:
            done = asyncio.Event()
            self._start(self._write_on)
            self._jobs.put((rest, done))
            await done.wait()
            if self._is_hung_up.is_set():
                raise HungUp("nobody reads the output")

    def write_now(self, data: bytes) -> bool:
        """Write all of it or nothing: whether it was written. Only small data, and only while no `write` is at work."""
        if sys.platform == "win32" or not self._is_atomic or len(data) > select.PIPE_BUF:
            return False
        try:
            return self._write_now(data) == len(data)
        except OSError:
            # `write` will meet it too, and says so.
            return False

    async def hung_up(self) -> None:
        """Returns when nobody reads, even if nothing is written. Windows cannot tell before the next write."""
        if sys.platform != "win32":
            self._start(self._watch)
        await self._is_hung_up.wait()

    def _start(self, work: Callable[[], None]) -> None:
        """Start the thread for `work`, once. A daemon: a reader that is stuck must not keep the process alive."""
        self._loop = asyncio.get_running_loop()
        if work.__name__ not in self._started:
            self._started.add(work.__name__)
            threading.Thread(target=work, name=f"output {work.__name__}", daemon=True).start()

    def _write_on(self) -> None:
        """Thread: write one job after the other."""
        while True:
            rest, done = self._jobs.get()
            try:
                _write_all(self._fd, rest)
            except OSError:
                # A closed pipe, a terminal that is gone, a full disk behind a redirection: lost for the reader alike.
                self._in_loop(self._is_hung_up.set)
            self._in_loop(done.set)

    def _watch(self) -> None:
        """Thread: wait for the reader to go."""
        if sys.platform != "win32":
            poll = select.poll()
            # No wanted events: only errors and hang-up end this, not what a socket may still have to say.
            poll.register(self._fd, 0)
            poll.poll()
            self._in_loop(self._is_hung_up.set)

    def _in_loop(self, callback: Callable[[], None]) -> None:
        assert self._loop is not None
        with contextlib.suppress(RuntimeError):  # The loop is closed: nobody is left to care.
            self._loop.call_soon_threadsafe(callback)


def _write_all(fd: int, rest: memoryview) -> None:
    while rest:
        try:
            rest = rest[os.write(fd, rest[:_WRITE_BYTES]) :]
        except BlockingIOError:
            # The parent made its end non-blocking, and on a shared description that is ours too.
            select.select([], [fd], [])


def _non_blocking_writer(fd: int) -> Callable[[bytes], int]:
    """A function that writes what can be written without waiting and says how many bytes that was. Raises OSError."""
    if sys.platform != "win32":
        mode = os.fstat(fd).st_mode
        if stat.S_ISFIFO(mode):
            return _pipe_writer(fd)
        if stat.S_ISSOCK(mode):
            return _socket_writer(fd)
    return lambda data: 0


def _pipe_writer(fd: int) -> Callable[[bytes], int]:
    if sys.platform == "win32":
        raise NotImplementedError("a pipe of Windows cannot be asked for room")
    poll = select.poll()
    poll.register(fd, select.POLLOUT)

    def write(data: bytes) -> int:
        if len(data) > _FEW_PIECES * select.PIPE_BUF:
            return 0
        written = 0
        with contextlib.suppress(BlockingIOError):
            # A pipe that has room takes this many bytes without blocking (POSIX); about more nothing is known.
            while written < len(data) and poll.poll(0):
                written += os.write(fd, data[written : written + select.PIPE_BUF])
        return written

    return write


def _socket_writer(fd: int) -> Callable[[bytes], int]:
    # Node gives its children sockets, not pipes.
    if sys.platform == "win32":
        raise NotImplementedError("standard streams of Windows are no sockets")
    connection = socket.socket(fileno=os.dup(fd))

    def write(data: bytes) -> int:
        with contextlib.suppress(BlockingIOError):
            return connection.send(data, socket.MSG_DONTWAIT)
        return 0

    return write
