"""Which request waits for which: the in-order methods of a session queue up, sessions never block each other.

Requests reach `turn` in the order they arrived (the peer starts handlers so), and a fair lock keeps that order.
A request that names no session means the current one, so it first waits for earlier requests that may change which
session is current.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import anyio
from msgspec import Struct, field

MESSAGES = frozenset(("prompt", "steer", "follow_up"))
"""What begins a run or is queued for one."""


class _Place(Struct, frozen=True, eq=False):
    """A request that others wait for, from its arrival to the end of its turn. `session_id` is the one it names."""

    method: str
    session_id: str | None
    is_over: anyio.Event = field(default_factory=anyio.Event)

    def may_be_before(self, session_id: str | None) -> bool:
        return self.session_id is None or session_id is None or self.session_id == session_id

    @property
    def is_message(self) -> bool:
        return self.method in MESSAGES

    @property
    def is_short(self) -> bool:
        return self.is_message or self.method.startswith("set_")


class Ordering:
    def __init__(self) -> None:
        self._sessions: dict[str, anyio.Lock] = {}
        self._current = anyio.Lock()
        self._line: dict[_Place, None] = {}
        """A dictionary as a set that keeps its order."""
        self._coming = 0

    def is_free(self, session_id: str) -> bool:
        """Whether no earlier request is looking for its session, or has its turn in this one."""
        return not self._current.locked() and session_id not in self._sessions

    @property
    def is_anybody_in_line(self) -> bool:
        """Whether an in-order method, a message, or what is about the run of one, has not had its turn."""
        return bool(self._line or self._coming)

    @contextmanager
    def coming(self) -> Iterator[None]:
        """Around the wait of what is about runs for the messages before it."""
        self._coming += 1
        try:
            yield
        finally:
            self._coming -= 1

    @contextmanager
    def place(self, method: str, session_id: str | None) -> Iterator[None]:
        """Around an in-order method or a message from its arrival on, when it does not yet know its session."""
        place = _Place(method, session_id)
        self._line[place] = None
        try:
            yield
        finally:
            del self._line[place]
            place.is_over.set()

    def messages_before(self, session_id: str | None) -> list[anyio.Event]:
        """The ends of the turns of messages that are on their way; none where something long is in front of them, as
        what stops that must not wait for it."""
        before = [place for place in self._line if place.may_be_before(session_id)]
        while before and not before[-1].is_message:
            before.pop()
        if not all(place.is_short for place in before):
            return []
        return [place.is_over for place in before if place.is_message]

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
