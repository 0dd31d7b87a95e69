"""Who waits for which answer. An exchange is one user message and what the model said until the next one.

Pure bookkeeping but for the event a waiter sleeps on.
"""

from collections.abc import Iterable

import anyio
from msgspec import Struct, field

from rpc_agent.agent.inbox import QueuedMessage
from rpc_agent.agent.model_step import Answer
from rpc_agent.conversation.blocks import blocks_text
from rpc_agent.conversation.usage import Usage
from rpc_agent.providers.base import ModelCallFailed


class Exchange(Struct):
    """`text` is the last text the model wrote for this very message, "" until then."""

    message: QueuedMessage
    run_id: str | None = None
    text: str = ""
    stop_reason: str = "aborted"
    usage: Usage | None = None
    model: str | None = None
    error_message: str | None = None
    failure: ModelCallFailed | None = None
    error_reason: str | None = None
    dropped: bool = False
    """The message was taken out of the queue before it was delivered."""
    awaited: bool = False
    """A request waits for it."""
    settled: anyio.Event = field(default_factory=anyio.Event)

    def hear(self, answer: Answer, *, to_this: bool) -> None:
        """`to_this`: nobody spoke between this message and the answer, so the text is its own."""
        message = answer.message
        if to_this:
            self.text = blocks_text(message["content"]) or self.text
        self.stop_reason = message["stopReason"]
        self.usage = message["usage"]
        self.model = f"{message['provider']}/{message['model']}"
        self.error_message = message.get("errorMessage")
        self.failure = answer.failure


class Exchanges:
    """The exchanges of one session: those whose message still waits, and those of the run at work."""

    def __init__(self) -> None:
        self._waiting: dict[QueuedMessage, Exchange] = {}
        self._delivered: list[Exchange] = []
        self._answered = 0

    @property
    def current(self) -> list[Exchange]:
        """The exchanges that the next answer, or the last one, belongs to: messages delivered together share it."""
        return self._delivered[self._answered :] or self._delivered[-1:]

    def of(self, messages: Iterable[QueuedMessage]) -> list[Exchange]:
        """The exchanges of messages that are not delivered yet."""
        return [self._waiting[message] for message in messages if message in self._waiting]

    def all(self) -> list[Exchange]:
        return [*self._delivered, *self._waiting.values()]

    def expect(self, message: QueuedMessage) -> Exchange:
        """The exchange of a message that was accepted just now."""
        exchange = self._waiting[message] = Exchange(message)
        return exchange

    def deliver(self, message: QueuedMessage, run_id: str) -> None:
        exchange = self._waiting.pop(message, None) or Exchange(message)
        exchange.run_id = run_id
        self._delivered.append(exchange)

    def hear(self, answer: Answer) -> None:
        for exchange in self.current:
            exchange.hear(answer, to_this=exchange is self._delivered[-1])
        self._answered = len(self._delivered)

    def drop(self, message: QueuedMessage) -> None:
        """The message was taken back before anybody read it."""
        exchange = self._waiting.pop(message, None)
        if exchange is not None:
            exchange.dropped = True
            exchange.settled.set()

    def settle(self, *, undelivered_too: bool) -> None:
        """A run is over: its exchanges are complete.

        `undelivered_too`: no run follows by itself, so whoever waits for a message that is still queued is answered
        too, with the text "" and the stop reason "aborted"; the message stays queued.
        """
        over = self.all() if undelivered_too else list(self._delivered)
        self._delivered.clear()
        self._answered = 0
        if undelivered_too:
            self._waiting.clear()
        for exchange in over:
            exchange.settled.set()
