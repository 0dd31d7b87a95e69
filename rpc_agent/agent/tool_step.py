"""The tool calls of one answer: side by side unless one asks for sequence; results in the order of the calls."""

from collections.abc import Callable, Sequence
from typing import Protocol

import anyio
from msgspec import Struct

from rpc_agent.agent.abort import Abort
from rpc_agent.agent.events import ToolExecutionEnd, ToolExecutionStart, ToolExecutionUpdate
from rpc_agent.agent.model_step import Emit
from rpc_agent.conversation.blocks import ToolCallBlock
from rpc_agent.conversation.messages import AssistantMessage, ToolResultMessage, tool_calls
from rpc_agent.tools.base import ToolResult, error_result

ABORTED = "The call was stopped before it finished."
CUT_BY_LENGTH = (
    "Not run: the answer reached its length limit, so the arguments of this call may be cut. "
    "Make the call again, with smaller arguments if they were long."
)


class Toolbox(Protocol):
    """Runs a call. Refusals and failures are results; it raises only when cancelled."""

    def is_sequential(self, name: str) -> bool: ...

    async def run(self, call: ToolCallBlock, update: Callable[[ToolResult], None]) -> ToolResult: ...


class ToolOutcome(Struct, frozen=True):
    call: ToolCallBlock
    result: ToolResult


async def run_tools(
    message: AssistantMessage, toolbox: Toolbox, *, abort: Abort, emit: Emit, now_ms: Callable[[], int]
) -> Sequence[ToolOutcome]:
    """One outcome for each call of the message: a call that an abort reached has an error result."""
    calls = tool_calls(message)
    results: dict[int, ToolResult] = {}

    async def run_one(index: int) -> None:
        call = calls[index]
        started = now_ms()
        results[index] = error_result(ABORTED)
        try:
            results[index] = await toolbox.run(call, lambda partial: emit(_update(call, partial)))
        finally:
            emit(ToolExecutionEnd(call["id"], call["name"], results[index], now_ms() - started))

    if message["stopReason"] == "length":
        return [_not_run(call, emit) for call in calls]
    in_sequence = any(toolbox.is_sequential(call["name"]) for call in calls)
    started: list[int] = []
    with abort.interruptible():
        async with anyio.create_task_group() as group:
            for index, call in enumerate(calls):
                emit(_start(call))
                started.append(index)
                if in_sequence:
                    await run_one(index)
                else:
                    group.start_soon(run_one, index)
    for index in set(started) - results.keys():
        # Cancelled before its task took a first step.
        results[index] = error_result(ABORTED)
        emit(ToolExecutionEnd(calls[index]["id"], calls[index]["name"], results[index], 0))
    return [ToolOutcome(call, results.get(index) or error_result(ABORTED)) for index, call in enumerate(calls)]


def result_message(outcome: ToolOutcome, *, timestamp: int) -> ToolResultMessage:
    message: ToolResultMessage = {
        "role": "toolResult",
        "toolCallId": outcome.call["id"],
        "toolName": outcome.call["name"],
        "content": list(outcome.result.content),
        "isError": outcome.result.is_error,
        "timestamp": timestamp,
    }
    if outcome.result.details is not None:
        message["details"] = outcome.result.details
    return message


def _not_run(call: ToolCallBlock, emit: Emit) -> ToolOutcome:
    result = error_result(CUT_BY_LENGTH)
    emit(_start(call))
    emit(ToolExecutionEnd(call["id"], call["name"], result, 0))
    return ToolOutcome(call, result)


def _start(call: ToolCallBlock) -> ToolExecutionStart:
    return ToolExecutionStart(call["id"], call["name"], call["arguments"])


def _update(call: ToolCallBlock, partial: ToolResult) -> ToolExecutionUpdate:
    return ToolExecutionUpdate(call["id"], call["name"], call["arguments"], partial)
