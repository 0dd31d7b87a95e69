"""The requests and notifications being handled now: what a handler sees of its call, and how the other side cancels it.

Refuses to parse, to encode, and to know where answers go.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from rpc_agent.rpc.envelopes import JsonId, Params

if TYPE_CHECKING:
    from rpc_agent.rpc.peer import Peer

__all__ = ["Call", "Calls", "Handler", "Methods", "Params", "Quick"]


class Call:
    """One request (or notification) of the other side, given to its handler with the params."""

    __slots__ = ("_after_answer", "_is_started", "_on_cancel", "_task", "id", "is_cancelled", "method", "peer")

    def __init__(self, peer: "Peer", method: str, id: JsonId) -> None:
        self.peer = peer
        self.method = method
        self.id = id
        self.is_cancelled = False
        self._after_answer: list[Callable[[], None]] = []
        self._on_cancel: Callable[[], None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_started = False

    def after_answer(self, callback: Callable[[], None]) -> None:
        """Run `callback` as soon as this call's answer is on its way, ahead of all that is posted later.

        Not run when the call fails or is cancelled. In a batch the answer waits for the others; see `batches`.
        """
        self._after_answer.append(callback)

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """When the other side cancels this call, run `callback` instead of cancelling the handler.

        The handler then ends by itself, with the result that says so.
        """
        self._on_cancel = callback

    def cannot_be_cancelled(self) -> None:
        """From here on a cancellation does nothing: what is done is done, and its answer is to say so."""
        self._on_cancel = _goes_on

    def start(self) -> list[Callable[[], None]]:
        """For the peer, when the handler begins: the list that `after_answer` will fill."""
        self._is_started = True
        return self._after_answer

    def attach(self, task: asyncio.Task[None]) -> None:
        self._task = task

    def cancel(self) -> None:
        """The other side no longer wants the result."""
        if self._is_started and self._on_cancel is not None:
            return self._on_cancel()
        self.is_cancelled = True
        # A task that is cancelled before its first step runs nothing, so nothing would answer.
        if self._is_started and self._task is not None:
            self._task.cancel()

    def give_up(self) -> None:
        """This side is closing."""
        if self._is_started and self._task is not None:
            self._task.cancel()


def _goes_on() -> None: ...


Handler = Callable[[Call, Params], Awaitable[Any]]


class Quick(NamedTuple):
    """A method that as a rule needs no wait.

    `now` gives the result in the turn in which the request was read, without a task of its own, or None where
    something has to come first: then `later` answers.
    """

    now: Callable[[Call, Params], Any]
    later: Handler


Methods = Mapping[str, Handler | Quick]


class Calls:
    """The calls in flight. Two may have the same id: both are answered, and both are cancelled by it."""

    def __init__(self) -> None:
        self._calls: dict[Call, None] = {}
        self._not_begun = 0
        self._is_empty = asyncio.Event()
        self._is_empty.set()

    def __len__(self) -> int:
        return len(self._calls)

    def __iter__(self) -> Iterator[Call]:
        return iter(list(self._calls))

    @property
    def have_begun(self) -> bool:
        """Whether the handlers of all of them have had their first step: what runs now overtakes none of them."""
        return not self._not_begun

    def add(self, call: Call) -> None:
        self._calls[call] = None
        self._not_begun += 1
        self._is_empty.clear()

    def begin(self, call: Call) -> list[Callable[[], None]]:
        """At the first step of its handler: the list that `after_answer` will fill."""
        self._not_begun -= 1
        return call.start()

    def remove(self, call: Call) -> None:
        del self._calls[call]
        if not self._calls:
            self._is_empty.set()

    def cancel(self, id: Any) -> None:
        """Cancel what has this id; an id of nothing in flight is no fault, for the answer may be under way."""
        for call in self:
            if type(call.id) is type(id) and call.id == id:
                call.cancel()

    async def none_left(self) -> None:
        await self._is_empty.wait()
