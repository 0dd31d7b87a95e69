"""Reads what child processes write, in a thread of its own: a flood does not stop the event loop, a pipe that
somebody holds open for ever does not stop us."""

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

import anyio

_READ_BYTES = 64 * 1024


class OutputPipe:
    """A pipe whose `writer` goes to children; each block that arrives is given to `on_bytes`, in the reading thread.

    Use as `with OutputPipe(...) as pipe:`, start the children, then `close_writer`, so that their end is the end.
    After the `with` nothing is passed on any more.
    """

    def __init__(self, on_bytes: Callable[[bytes], None]) -> None:
        self._on_bytes = on_bytes
        self._reader, self.writer = os.pipe()
        self._writer_open = True
        self._deaf = False
        self._blocks = 0
        self._ended = anyio.Event()
        self._loop = asyncio.get_running_loop()

    def __enter__(self) -> Self:
        # A daemon, because an escaped child may hold the pipe open longer than we live.
        threading.Thread(target=self._read, name="output pipe", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._deaf = True
        self.close_writer()

    def close_writer(self) -> None:
        if self._writer_open:
            self._writer_open = False
            os.close(self.writer)

    async def drain(self, *, quiet: float, most: float) -> None:
        """Wait until the last writer is gone, or nothing came for `quiet` seconds, but `most` seconds altogether."""
        with anyio.move_on_after(most):
            while not self._ended.is_set():
                before = self._blocks
                with anyio.move_on_after(quiet):
                    await self._ended.wait()
                if self._blocks == before:
                    return

    async def wait_closed(self) -> None:
        """Wait until the last writer is gone."""
        await self._ended.wait()

    def _read(self) -> None:
        try:
            while block := os.read(self._reader, _READ_BYTES):
                self._blocks += 1
                if not self._deaf:
                    self._on_bytes(block)
        finally:
            os.close(self._reader)
            # The loop may be closed when a pipe that was left behind ends at last.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._ended.set)
