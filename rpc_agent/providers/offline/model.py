"""The offline model as a ChatModel: streams like a service, reports usage, refuses what does not fit its window."""

from collections.abc import AsyncGenerator, Iterator, Sequence

import anyio

from rpc_agent.conversation.blocks import ToolCallBlock
from rpc_agent.conversation.messages import ModelMessage, ToolResultMessage, message_text, tool_calls
from rpc_agent.conversation.usage import make_usage
from rpc_agent.providers.base import (
    ModelCallFailed,
    ModelRequest,
    Stopped,
    StreamEvent,
    TextDelta,
    ToolCallDelta,
    UsageReport,
)
from rpc_agent.providers.json_bytes import to_json
from rpc_agent.providers.offline import answering
from rpc_agent.providers.offline.calling import Call, NotOffered, call_for
from rpc_agent.providers.offline.summarising import is_summary_request, summarise
from rpc_agent.providers.offline.understanding import understand
from rpc_agent.providers.offline.wishes import Introduce
from rpc_agent.providers.request_size import estimate_request, utf16_units

_DELTA = 12
"""Characters a delta: two or three words' worth, as services send."""


class OfflineModel:
    """`first_line` begins every answer to a person (not summaries, not calls); `pace_ms` is the wait before a delta."""

    def __init__(self, *, first_line: str = "", pace_ms: float = 0) -> None:
        self._first_line = first_line
        self._pace = pace_ms / 1000

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[StreamEvent], None]:
        size = estimate_request(request)
        window = request.model.context_window
        if window and size > window:
            raise ModelCallFailed(
                f"the prompt is too long: {size} tokens > {window} maximum", kind="overflow", limit=window
            )
        text, calls = self._answer(request)
        limit = request.max_tokens * 4
        is_cut = bool(limit) and len(text) > limit
        output = 0
        for event in _events(text[:limit] if is_cut else text, calls, len(request.messages)):
            # Also at pace 0 a checkpoint, so that an abort is seen between two deltas.
            await anyio.sleep(self._pace)
            output += utf16_units(event.text if isinstance(event, TextDelta) else event.name + event.arguments)
            yield [event]
        yield [UsageReport(make_usage(input=size, output=-(-output // 4)))]
        yield [Stopped("length" if is_cut else "toolUse" if calls else "stop")]

    def _answer(self, request: ModelRequest) -> tuple[str, list[Call]]:
        prompt, after = _last_prompt(request.messages)
        if is_summary_request(prompt, has_tools=bool(request.tools)):
            return summarise(prompt, max_tokens=request.max_tokens), []
        made, results = _work_done(after)
        if results:
            return self._spoken(answering.answer(made, results)), []
        text, calls = _first_step(prompt, request)
        return (self._spoken(text) if text else ""), calls

    def _spoken(self, text: str) -> str:
        return f"{self._first_line}\n\n{text}" if self._first_line else text


def _first_step(prompt: str, request: ModelRequest) -> tuple[str, list[Call]]:
    """The calls a prompt asks for, or what to say where there are none to make."""
    asked = prompt.rpartition("</summary>")[2].strip()
    wishes = understand(asked) if asked else []
    if not wishes:
        return answering.not_understood(asked or "(there is no new request)"), []
    offered = {tool.name: tool for tool in request.tools}
    steps = [call_for(wish, offered) for wish in wishes if not isinstance(wish, Introduce)]
    missing = [answering.not_offered(step) for step in steps if isinstance(step, NotOffered)]
    calls = [step for step in steps if isinstance(step, Call)]
    if not steps:
        return answering.INTRODUCTION, []
    return ("\n".join(dict.fromkeys(missing)) if not calls else ""), calls


def _last_prompt(messages: Sequence[ModelMessage]) -> tuple[str, Sequence[ModelMessage]]:
    """The newest user message's text and what came after it."""
    for index in range(len(messages) - 1, -1, -1):
        if messages[index]["role"] == "user":
            return message_text(messages[index]), messages[index + 1 :]
    return "", messages


def _work_done(after: Sequence[ModelMessage]) -> tuple[list[ToolCallBlock], dict[str, ToolResultMessage]]:
    calls: list[ToolCallBlock] = []
    results: dict[str, ToolResultMessage] = {}
    for message in after:
        if message["role"] == "assistant":
            calls += tool_calls(message)
        elif message["role"] == "toolResult":
            results[message["toolCallId"]] = message
    return calls, results


def _events(text: str, calls: Sequence[Call], turn: int) -> Iterator[TextDelta | ToolCallDelta]:
    for at in range(0, len(text), _DELTA):
        yield TextDelta(text[at : at + _DELTA])
    for number, call in enumerate(calls):
        # The number of messages makes the id differ from those of the turns before.
        call_id = f"call_{turn}_{number + 1}"
        yield ToolCallDelta(call_id, call_id, call.tool)
        yield ToolCallDelta(call_id, arguments=to_json(dict(call.arguments)).decode())
