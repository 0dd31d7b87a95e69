"""From the session to whoever listens: events in order, and a way to wait for a slow listener. Stores nothing."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from rpc_agent.runtime.events import (
    BashExecutionUpdate,
    ExtensionError,
    ModelChanged,
    SessionEvent,
    SessionInfoChanged,
    SummarizationRetryAttemptStart,
    SummarizationRetryFinished,
    SummarizationRetryScheduled,
    ThinkingLevelChanged,
)

_OF_NO_RUN: frozenset[type] = frozenset(
    {
        BashExecutionUpdate,
        ExtensionError,
        ModelChanged,
        SessionInfoChanged,
        SummarizationRetryScheduled,
        SummarizationRetryAttemptStart,
        SummarizationRetryFinished,
        ThinkingLevelChanged,
    }
)
"""What the user does beside a run belongs to none, the retries of a summary belong to its compaction, and a fault of
an extension's to the extension."""


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
            run_id = None if type(event) in _OF_NO_RUN else self.run_id
            self._listener.hear(event, run_id)

    async def drained(self) -> None:
        if self._listener is not None:
            await self._listener.drained()


Spawn = Callable[[Callable[[], Awaitable[None]]], None]
"""Starts a task in the scope that all sessions live in."""
