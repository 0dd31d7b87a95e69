"""From the session to whoever listens: events in order, and a way to wait for a slow listener. Stores nothing."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from rpc_agent.runtime.events import BashExecutionUpdate, SessionEvent


class Listener(Protocol):
    def hear(self, event: SessionEvent, run_id: str | None) -> None:
        """Take one event; never waits."""
        ...

    async def drained(self) -> None:
        """Returns when the listener can take more without growing."""
        ...


class Broadcast:
    """Without a listener events go nowhere: a session that nobody watches works all the same."""

    def __init__(self) -> None:
        self._listener: Listener | None = None
        self.run_id: str | None = None
        """The run that events belong to, while there is one."""

    def listen(self, listener: Listener) -> None:
        self._listener = listener

    def emit(self, event: SessionEvent) -> None:
        if self._listener is not None:
            # What the user does in a shell of their own belongs to no run.
            run_id = None if isinstance(event, BashExecutionUpdate) else self.run_id
            self._listener.hear(event, run_id)

    async def drained(self) -> None:
        if self._listener is not None:
            await self._listener.drained()


Spawn = Callable[[Callable[[], Awaitable[None]]], None]
"""Starts a task in the scope that all sessions live in."""
