"""The model call that writes a summary: without tools, without cache writes, tried again as other calls are."""

from collections.abc import Callable
from contextlib import aclosing

import anyio

from rpc_agent.agent.retry import RetryAfter, RetryPolicy, decide_retry
from rpc_agent.compaction.asking import SummaryAnswer, SummaryRequest
from rpc_agent.conversation.blocks import blocks_text
from rpc_agent.conversation.messages import AssistantMessage, tool_calls
from rpc_agent.conversation.models import Model
from rpc_agent.providers.assembly import Assembly
from rpc_agent.providers.base import ChatModel, ModelCallFailed, ModelRequest, TextDelta
from rpc_agent.runtime.events import (
    SessionEvent,
    SummarizationRetryAttemptStart,
    SummarizationRetryFinished,
    SummarizationRetryScheduled,
)

_REPORT_EVERY_CHARS = 200
"""Progress is for people: more often than every few lines nobody can read it."""


class SummaryCaller:
    """Asks `model`. `received` hears how many characters have come, now and then.

    `compaction_id` is None for a branch summary.
    """

    def __init__(
        self,
        model: Model,
        chat_model: ChatModel,
        *,
        thinking_level: str,
        retry_policy: RetryPolicy,
        fresh_id: Callable[[], str],
        now_ms: Callable[[], int],
        emit: Callable[[SessionEvent], None],
        received: Callable[[int], None],
        compaction_id: str | None,
    ) -> None:
        self._model = model
        self._chat_model = chat_model
        self._thinking_level = thinking_level if model.reasoning else "off"
        self._retry_policy = retry_policy
        self._fresh_id = fresh_id
        self._now_ms = now_ms
        self._emit = emit
        self._received = received
        self._compaction_id = compaction_id

    async def __call__(self, request: SummaryRequest) -> SummaryAnswer:
        """The answer, complete or not; a failure that no retry mended is an answer with stop reason "error"."""
        attempt = 1
        while True:
            try:
                message = await self._ask_once(request)
            except ModelCallFailed as failure:
                verdict = decide_retry(self._retry_policy, failure, attempt=attempt)
                if not isinstance(verdict, RetryAfter):
                    self._finished(attempt, success=False)
                    return SummaryAnswer(text="", stop_reason="error", error_message=failure.message)
                await self._wait(attempt, verdict.delay_ms, failure.message)
                attempt += 1
            else:
                self._finished(attempt, success=True)
                return _answer(message)

    async def _ask_once(self, request: SummaryRequest) -> AssistantMessage:
        assembly = Assembly()
        characters, reported = 0, 0
        async with aclosing(self._chat_model.stream(self._request(request))) as batches:
            async for batch in batches:
                for event in batch:
                    assembly.apply(event)
                    if isinstance(event, TextDelta):
                        characters += len(event.text)
                if characters - reported >= _REPORT_EVERY_CHARS:
                    reported = characters
                    self._received(characters)
        if assembly.stopped is None:
            raise ModelCallFailed("The summary broke off before it was complete.", kind="transport")
        return assembly.message(self._model, timestamp=self._now_ms(), stop_reason=assembly.stopped.reason)

    def _request(self, request: SummaryRequest) -> ModelRequest:
        now = self._now_ms()
        return ModelRequest(
            model=self._model,
            messages=(
                {"role": "system", "content": request.system, "timestamp": now},
                {"role": "user", "content": request.prompt, "timestamp": now},
            ),
            max_tokens=request.max_tokens,
            thinking_level=self._thinking_level,
            routing_id=self._fresh_id(),
            cache=False,
        )

    async def _wait(self, attempt: int, delay_ms: int, message: str) -> None:
        most = self._retry_policy.max_retries
        self._emit(SummarizationRetryScheduled(attempt, most, delay_ms, message, self._compaction_id))
        await anyio.sleep(delay_ms / 1000)
        self._emit(SummarizationRetryAttemptStart(attempt, self._compaction_id))

    def _finished(self, attempt: int, *, success: bool) -> None:
        if attempt > 1:
            self._emit(SummarizationRetryFinished(success, attempt - 1, self._compaction_id))


def _answer(message: AssistantMessage) -> SummaryAnswer:
    return SummaryAnswer(
        text=blocks_text(message["content"]),
        stop_reason=message["stopReason"],
        usage=message["usage"],
        called_tools=bool(tool_calls(message)),
    )
