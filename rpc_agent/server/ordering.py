"""Which request waits for which: the in-order methods of a session queue up, sessions never block each other.

Requests reach `turn` in the order they arrived (the peer starts handlers so), and a fair lock keeps that order.
A request that names no session means the current one, so it first waits for earlier requests that may change which
session is current.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio


class Ordering:
    def __init__(self) -> None:
        self._sessions: dict[str, anyio.Lock] = {}
        self._current = anyio.Lock()

    def is_free(self, session_id: str) -> bool:
        """Whether no earlier request is looking for its session, or has its turn in this one."""
        return not self._current.locked() and session_id not in self._sessions

    @asynccontextmanager
    async def choosing(self) -> AsyncIterator[None]:
        """Around a method that makes or ends a session, and around looking up the current one."""
        async with self._current:
            yield

    @asynccontextmanager
    async def turn(self, session_id: str) -> AsyncIterator[None]:
        """Around an in-order method of one session."""
        lock = self._sessions.setdefault(session_id, anyio.Lock())
        try:
            async with lock:
                yield
        finally:
            # A lock that somebody waits for goes over to them at once; one that is free now is nobody's.
            if not lock.locked():
                self._sessions.pop(session_id, None)
