"""Messages come in here: they start a run, wait for the one at work, or are refused at once. Runs nothing itself.

At most one run works at a time. A message is delivered once, by the run that takes it out of the inbox.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Literal

import anyio
from msgspec import Struct

from rpc_agent.agent.inbox import Inbox, QueuedMessage
from rpc_agent.conversation.blocks import UserBlock
from rpc_agent.errors import AuthMissing, NoModel, SessionBusy
from rpc_agent.runtime.broadcast import Broadcast, Spawn
from rpc_agent.runtime.exchanges import Exchange, Exchanges
from rpc_agent.runtime.run import Run, RunEnding, RunLimits, queue_update

Behavior = Literal["steer", "followUp"]
MakeRun = Callable[[], Run]
_logger = logging.getLogger(__name__)


class Accepted(Struct, frozen=True):
    """A message that will be delivered. `begin` starts its run and is called once, after the client knows."""

    disposition: Literal["started", "queued"]
    exchange: Exchange
    run_id: str | None
    begin: Callable[[], None]


class LastRun(Struct, frozen=True):
    """What wait_for_idle answers: how the last run ended, and the last thing the model said in it."""

    stop_reason: str = "stop"
    text: str = ""
    aborted: bool = False


class RunControl:
    """`make_run` builds a run for the session as it is now; it raises NoModel or AuthMissing before anything starts."""

    def __init__(
        self, inbox: Inbox, exchanges: Exchanges, make_run: MakeRun, *, broadcast: Broadcast, spawn: Spawn
    ) -> None:
        self.inbox = inbox
        self.exchanges = exchanges
        self._make_run = make_run
        self._broadcast = broadcast
        self._spawn = spawn
        self._run: Run | None = None
        self._idle = anyio.Event()
        self._idle.set()
        self._idle_waiters = 0
        self.last = LastRun()

    @property
    def is_running(self) -> bool:
        return self._run is not None

    @property
    def is_awaited(self) -> bool:
        """Whether a request waits for what this session is doing."""
        return self._idle_waiters > 0 or any(exchange.awaited for exchange in self.exchanges.all())

    def start(self, content: str | list[UserBlock], limits: RunLimits) -> Accepted:
        """Begin a run with this message. Raises SessionBusy, NoModel, AuthMissing; then nothing happened."""
        message = QueuedMessage(content)
        return self._start([message], self.exchanges.expect(message), limits)

    def resume(self, limits: RunLimits) -> Accepted:
        """Begin a run without a new message."""
        return self._start([], Exchange(QueuedMessage("")), limits)

    def queue(self, content: str | list[UserBlock], behavior: Behavior) -> Accepted:
        """Leave this message for the run at work, or for the next one."""
        message = QueuedMessage(content)
        (self.inbox.steer if behavior == "steer" else self.inbox.follow_up)(message)
        exchange = self.exchanges.expect(message)
        self._broadcast.emit(queue_update(self.inbox))
        return Accepted("queued", exchange, self._run.run_id if self._run else None, lambda: None)

    def clear(self) -> tuple[Sequence[QueuedMessage], Sequence[QueuedMessage]]:
        """Take back every message that waits; whoever waits for its answer is told that it was dropped."""
        cleared = self.inbox.clear()
        for message in (*cleared[0], *cleared[1]):
            self.exchanges.drop(message)
        if cleared != ((), ()):
            self._broadcast.emit(queue_update(self.inbox))
        return cleared

    def withdraw(self, exchange: Exchange) -> None:
        """The one who sent this message no longer wants it: take it back, or stop the run that answers it."""
        if exchange.settled.is_set():
            return  # Its answer is on the way already; what is at work now belongs to others.
        if self.inbox.discard(exchange.message):
            self.exchanges.drop(exchange.message)
            self._broadcast.emit(queue_update(self.inbox))
        elif self.is_running:
            self.request_abort()

    def request_abort(self) -> None:
        if self._run is not None:
            self._run.abort()

    def abort_retry(self) -> None:
        if self._run is not None:
            self._run.abort_retry()

    async def ended(self) -> None:
        """Wait for the end of the run at work, not of those that may follow it."""
        await self._idle.wait()

    async def idle(self) -> LastRun:
        """Wait until no run works."""
        self._idle_waiters += 1
        try:
            while self._run is not None:
                await self._idle.wait()
        finally:
            self._idle_waiters -= 1
        return self.last

    def run_queued(self) -> None:
        """Start a run for messages that came while something else worked. Without a model they stay queued."""
        if self._run is not None or not self.inbox.due(stopping=True):
            return
        try:
            accepted = self._start([], None, RunLimits(), stopping=True)
        except (NoModel, AuthMissing) as error:
            # The model was changed after they were accepted: no run will come by itself, so nobody may wait for one.
            for exchange in self.exchanges.of(self.inbox.all()):
                exchange.stop_reason, exchange.error_message = "error", error.message
                exchange.error_reason = "noModel" if isinstance(error, NoModel) else "authMissing"
            self.leave_queued()
        else:
            accepted.begin()

    def leave_queued(self) -> None:
        """No run follows by itself: whoever waits for a queued message is answered; the messages stay queued."""
        if self._run is None:
            self.exchanges.settle(undelivered_too=True)

    def _start(
        self, first: Sequence[QueuedMessage], exchange: Exchange | None, limits: RunLimits, *, stopping: bool = False
    ) -> Accepted:
        if self._run is not None:
            raise SessionBusy(
                'A run is at work. Send the message with streamingBehavior "steer" or "followUp", or abort first.'
            )
        run = self._make_run()
        self._run = run
        self._idle = anyio.Event()
        exchange = exchange or Exchange(QueuedMessage(""))

        def begin() -> None:
            self._spawn(lambda: self._work(run, first, limits, stopping=stopping))

        return Accepted("started", exchange, run.run_id, begin)

    async def _work(self, run: Run, first: Sequence[QueuedMessage], limits: RunLimits, *, stopping: bool) -> None:
        self._broadcast.run_id = run.run_id
        try:
            await run.execute(first, limits, stopping=stopping)
        finally:
            self.last = _last_run(run)
            self._broadcast.run_id = None
            self._run = None
            self._idle.set()
        if not run.leaves_queue:
            self.run_queued()


def _last_run(run: Run) -> LastRun:
    ending: RunEnding = run.ending
    return LastRun(ending.stop_reason, run.last_text, ending.aborted)
