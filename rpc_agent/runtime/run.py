"""One run: from an accepted message to agent_settled, with its retries and compactions inside.

Every wait in here can be interrupted by the run's Abort; what follows an interruption is ordinary code, so a partial
answer is stored, the turn ends, and agent_settled is sent exactly once, whatever happened.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol

import anyio
from msgspec import Struct

from rpc_agent.agent.abort import Abort
from rpc_agent.agent.events import AgentEnd, AgentSettled
from rpc_agent.agent.inbox import Inbox, QueuedMessage
from rpc_agent.agent.loop import Attempt, Machinery, run_attempt
from rpc_agent.agent.model_step import Answer
from rpc_agent.agent.retry import GiveUp, RetryAfter, RetryPolicy, decide_retry
from rpc_agent.conversation.blocks import blocks_text
from rpc_agent.conversation.messages import AssistantMessage, Message, SystemMessage, ToolResultMessage, user_message
from rpc_agent.errors import ContextOverflow, StorageFailed
from rpc_agent.providers.base import ChatModel, ModelRequest
from rpc_agent.runtime.events import AutoRetryEnd, AutoRetryStart, QueueUpdate, SessionEvent
from rpc_agent.runtime.exchanges import Exchanges
from rpc_agent.runtime.session_log import SessionLog

_logger = logging.getLogger(__name__)


class RunLimits(Struct, frozen=True, kw_only=True):
    """Bounds that one prompt sets for its run; None = no bound."""

    max_turns: int | None = None
    timeout_s: float | None = None


class RunEnding(Struct, frozen=True):
    """How a run ended, as wait_for_idle and agent_settled tell it."""

    stop_reason: str
    aborted: bool
    error_message: str | None = None
    error_reason: str | None = None


class Compaction(Protocol):
    """When a run gives way to compaction. Each returns when the compaction it called for is over."""

    async def before_prompt(self, incoming: Sequence[QueuedMessage], abort: Abort) -> None:
        """Check point 3. Raises ContextOverflow when the new message can never fit."""
        ...

    async def between_turns(self, abort: Abort) -> None: ...

    async def after_attempt(self, answer: Answer, abort: Abort) -> bool:
        """Check point 2; whether the model is to be asked again, in a smaller context."""
        ...


class Context(Protocol):
    """What is sent to the model, made from the session as it is now."""

    def system_patch(self) -> SystemMessage | None:
        """What the system prompt lacks of what it shall say, None when it says it already."""
        ...

    def next_request(self) -> tuple[ModelRequest, ChatModel]: ...

    def heard(self, answer: Answer, entry_id: str) -> None:
        """An answer was recorded: its usage tells how full the context is."""
        ...


class Hooks(Protocol):
    """What extensions and the client have to say in a run; the last two return whether it is to go on."""

    async def context(self, request: ModelRequest) -> ModelRequest: ...

    async def turn_end(self, message: AssistantMessage, results: Sequence[ToolResultMessage]) -> bool: ...

    async def before_settle(self, messages: Sequence[Message]) -> bool: ...


class Run:
    """One run of one session. `abort` may be called at any time, more than once."""

    def __init__(
        self,
        run_id: str,
        *,
        log: SessionLog,
        context: Context,
        compaction: Compaction,
        hooks: Hooks,
        machinery: Machinery,
        inbox: Inbox,
        exchanges: Exchanges,
        retry_policy: Callable[[], RetryPolicy],
        emit: Callable[[SessionEvent], None],
        before_turn_end: Callable[[], None],
    ) -> None:
        self.run_id = run_id
        self._log = log
        self._context = context
        self._compaction = compaction
        self._hooks = hooks
        self._machinery = machinery
        self._inbox = inbox
        self._exchanges = exchanges
        self._retry_policy = retry_policy
        self._emit = emit
        self._before_turn_end = before_turn_end
        self._first: Sequence[QueuedMessage] = ()
        self._added: list[Message] = []
        self._said: list[Message] = []
        """Everything of the run; `_added` is what the attempt at work added."""
        self._answer_entry_id = ""
        self._result_entry_ids: list[str] = []
        self._failed_tries = 0
        self._retry_wait: anyio.CancelScope | None = None
        self._timed_out = False
        self._is_attempting = False
        self.last_text = ""
        """The last thing the model wrote in this run."""
        self.ending = RunEnding("aborted", True)

    @property
    def abort_signal(self) -> Abort:
        return self._machinery.abort

    @property
    def leaves_queue(self) -> bool:
        """Whether no run follows by itself: this one failed or was aborted, be it after its last word."""
        return self.ending.aborted or self.ending.error_message is not None or self.abort_signal.requested

    def abort(self) -> None:
        self._machinery.abort.request()

    def abort_retry(self) -> None:
        """End the wait for another try, if there is one: the run settles with the error it has."""
        if self._retry_wait is not None:
            self._retry_wait.cancel()

    async def execute(self, first: Sequence[QueuedMessage], limits: RunLimits, *, stopping: bool = False) -> None:
        """Work until settled. Raises nothing but cancellation from outside; the outcome is `ending`."""
        self._first = first
        try:
            async with anyio.create_task_group() as group:
                if limits.timeout_s is not None:
                    group.start_soon(self._abort_after, limits.timeout_s)
                self.ending = await self._work(first, limits, stopping)
                group.cancel_scope.cancel()
        except* StorageFailed as failures:
            self._fail(failures, "storageFailed")
        except* ContextOverflow as failures:
            self._fail(failures, "contextOverflow")
        except* Exception as failures:
            # The fourth boundary: the request that started this run was answered long ago, so there is no dispatcher
            # above to catch a fault of ours, and one session's fault must not end the others.
            _logger.error("a run failed unexpectedly", exc_info=failures)
            self.ending = RunEnding("error", False, "The run failed because of an internal error.", "internalError")
        finally:
            self._settle()

    def _fail(self, failures: BaseExceptionGroup[BaseException], reason: str) -> None:
        self.ending = RunEnding("error", False, str(failures.exceptions[0]), reason)

    async def _abort_after(self, seconds: float) -> None:
        await anyio.sleep(seconds)
        self._timed_out = True
        self.abort()

    def _settle(self) -> None:
        for exchange in self._exchanges.current or self._exchanges.of(self._first):
            if self.ending.error_message is not None:
                exchange.stop_reason = self.ending.stop_reason
                exchange.error_message = self.ending.error_message
                exchange.error_reason = self.ending.error_reason
                if self.ending.error_reason is not None:
                    # The last answer's failure, be it an overflow that was being mended, is not why this ended.
                    exchange.failure = None
            elif self.ending.aborted and exchange.stop_reason in ("toolUse", "error"):
                # Stopped in a tool, a retry's wait or a recovery: the answer before it is not how this ended.
                exchange.stop_reason, exchange.error_message, exchange.failure = "aborted", None, None
        with suppress(StorageFailed):
            # A run that failed has told why already; what waited for its turn's end is written if it can be.
            self._before_turn_end()
        if self._is_attempting:
            self._emit(AgentEnd(tuple(self._added), will_retry=False))
        self._emit(AgentSettled(self.ending.aborted, self.ending.stop_reason))
        self._exchanges.settle(undelivered_too=self.leaves_queue)

    async def _work(self, first: Sequence[QueuedMessage], limits: RunLimits, stopping: bool) -> RunEnding:
        await self._compaction.before_prompt(first, self.abort_signal)
        turns_left = limits.max_turns
        while True:
            self._added.clear()
            self._is_attempting = True
            attempt = await run_attempt(self, self._machinery, first, stopping=stopping, max_turns=turns_left)
            first = ()
            turns_left = None if turns_left is None else turns_left - attempt.turns
            retry = self._decide_retry(attempt)
            self._is_attempting = False
            self._emit(AgentEnd(tuple(self._added), will_retry=isinstance(retry, RetryAfter)))
            if isinstance(retry, RetryAfter):
                if await self._wait_for_retry(attempt, retry):
                    stopping = False
                    continue
                return self._ending(attempt)
            self._report_giving_up(attempt, retry)
            repeats = await self._after_attempt(attempt)
            again = repeats or self._was_asked_more(attempt) or await self._before_settle(attempt)
            if again and (turns_left is None or turns_left > 0):
                # A recovery answers the same message once more: what is to follow its answer waits for that.
                stopping = not repeats
                continue
            return self._ending(attempt)

    async def _after_attempt(self, attempt: Attempt) -> bool:
        """Whether the model is asked again, after a recovery."""
        if attempt.turns_spent:
            return False
        again = await self._compaction.after_attempt(attempt.last.answer, self.abort_signal)
        return again and not self.abort_signal.requested

    def _was_asked_more(self, attempt: Attempt) -> bool:
        """Whether messages that came meanwhile are to be answered."""
        ended_well = attempt.last.answer.failure is None and not attempt.turns_spent
        return ended_well and not self.abort_signal.requested and self.waiting(stopping=True)

    async def _before_settle(self, attempt: Attempt) -> bool:
        """Whether a hook wants another answer; never after a failure, which is for retries to mend."""
        wanted = False
        if not self.abort_signal.requested:
            with self.abort_signal.interruptible():
                wanted = await self._hooks.before_settle(self._said)
        can = attempt.last.answer.failure is None and not attempt.turns_spent and not self.abort_signal.requested
        return wanted and can

    def _ending(self, attempt: Attempt) -> RunEnding:
        message = attempt.last.answer.message
        if self._timed_out:
            return RunEnding("aborted", True, "The time limit of the prompt was reached.", "timeout")
        if attempt.turns_spent:
            return RunEnding(message["stopReason"], False, "The turn limit of the prompt was reached.", "maxTurns")
        if self.abort_signal.requested:
            return RunEnding("aborted", True)
        return RunEnding(message["stopReason"], False, message.get("errorMessage"))

    # Retry

    def _decide_retry(self, attempt: Attempt) -> RetryAfter | GiveUp:
        failure = attempt.last.answer.failure
        if failure is None or self.abort_signal.requested:
            return GiveUp()
        return decide_retry(self._retry_policy(), failure, attempt=self._failed_tries + 1)

    async def _wait_for_retry(self, attempt: Attempt, retry: RetryAfter) -> bool:
        """Whether the wait ended by itself, so that the next try is due."""
        self._failed_tries += 1
        error = attempt.last.answer.message.get("errorMessage", "")
        self._emit(AutoRetryStart(self._failed_tries, self._retry_policy().max_retries, retry.delay_ms, error))
        self._log.omit([self._answer_entry_id, *self._result_entry_ids])
        ended_by_itself = False
        with self.abort_signal.interruptible() as self._retry_wait:
            await anyio.sleep(retry.delay_ms / 1000)
            ended_by_itself = True
        self._retry_wait = None
        if not ended_by_itself:
            self._emit(AutoRetryEnd(False, self._failed_tries, "The wait for another try was stopped."))
        return ended_by_itself

    def _report_giving_up(self, attempt: Attempt, verdict: GiveUp) -> None:
        failure = attempt.last.answer.failure
        if failure is not None and self._failed_tries:
            final = f"{failure.message} ({verdict.reason})" if verdict.reason else failure.message
            self._emit(AutoRetryEnd(False, self._failed_tries, final))
            self._failed_tries = 0

    # The loop's host

    def deliver(self, first: Sequence[QueuedMessage], *, stopping: bool) -> None:
        patch = self._context.system_patch()
        if patch is not None:
            self._log.record(patch)
        for message in first:
            self._record_user(message)
        for _ in range(self._inbox.due(stopping=stopping)):
            queued = self._inbox.take()
            if queued is not None:
                self._emit(queue_update(self._inbox))
                self._record_user(queued)

    def _record_user(self, queued: QueuedMessage) -> None:
        self._exchanges.deliver(queued, self.run_id)
        message = user_message(queued.content, timestamp=self._machinery.now_ms())
        self._log.record(message)
        self._add(message)

    def _add(self, message: Message) -> None:
        self._added.append(message)
        self._said.append(message)

    def waiting(self, *, stopping: bool) -> bool:
        return self._inbox.due(stopping=stopping) > 0

    async def next_request(self) -> tuple[ModelRequest, ChatModel]:
        request, chat_model = self._context.next_request()
        with self.abort_signal.interruptible():
            request = await self._hooks.context(request)
        return request, chat_model

    def record_answer(self, answer: Answer) -> None:
        entry = self._log.record_end(answer.message)
        self._answer_entry_id = entry.id
        self._result_entry_ids.clear()
        self._add(answer.message)
        self._exchanges.hear(answer)
        self.last_text = blocks_text(answer.message["content"]) or self.last_text
        self._context.heard(answer, entry.id)
        if answer.failure is None and self._failed_tries:
            self._emit(AutoRetryEnd(True, self._failed_tries))
            self._failed_tries = 0

    def record_result(self, message: ToolResultMessage) -> None:
        self._result_entry_ids.append(self._log.record(message).id)
        self._add(message)

    async def end_turn(self, answer: Answer, results: Sequence[ToolResultMessage]) -> bool:
        self._before_turn_end()
        goes_on = False
        if not self.abort_signal.requested:
            with self.abort_signal.interruptible():
                goes_on = await self._hooks.turn_end(answer.message, results)
        await self._log.sync()
        return goes_on

    async def between_turns(self) -> None:
        await self._compaction.between_turns(self.abort_signal)


def queue_update(inbox: Inbox) -> QueueUpdate:
    return QueueUpdate([m.text for m in inbox.steering], [m.text for m in inbox.follow_ups])
