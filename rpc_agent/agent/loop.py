"""The agent loop: turns until the model asks for no more tools and no message waits. Knows no session, file or wire.

What it needs of a session it takes through `Host`; retries and compaction of whole attempts wrap it (runtime).
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct

from rpc_agent.agent.abort import Abort
from rpc_agent.agent.events import AgentStart, TurnEnd, TurnStart
from rpc_agent.agent.inbox import QueuedMessage
from rpc_agent.agent.model_step import Answer, Drained, Emit, ask_model
from rpc_agent.agent.tool_step import Toolbox, result_message, run_tools
from rpc_agent.conversation.messages import ToolResultMessage, tool_calls
from rpc_agent.providers.base import ChatModel, ModelRequest


class Host(Protocol):
    """The session side of a run. Everything but the three waits is immediate, so that events keep their order."""

    def deliver(self, first: Sequence[QueuedMessage], *, stopping: bool) -> None:
        """Record `first` and the queued messages that are due in this turn; `stopping`: follow-ups are due too."""
        ...

    def waiting(self, *, stopping: bool) -> bool:
        """Whether a queued message would be delivered in a next turn."""
        ...

    async def next_request(self) -> tuple[ModelRequest, ChatModel]:
        """What to ask now, and whom: the model may have been changed since the last turn."""
        ...

    def record_answer(self, answer: Answer) -> None: ...

    def record_result(self, message: ToolResultMessage) -> None: ...

    async def end_turn(self, answer: Answer, results: Sequence[ToolResultMessage]) -> bool:
        """Returns when everything recorded so far is on the disk: whether the run goes on although it would stop."""
        ...

    async def between_turns(self) -> None:
        """Called when another request follows: the place to compact."""
        ...


class Machinery(Struct, frozen=True, kw_only=True):
    """What a run works with."""

    toolbox: Toolbox
    abort: Abort
    emit: Emit
    drained: Drained
    now_ms: Callable[[], int]


class Turn(Struct, frozen=True):
    answer: Answer
    results: Sequence[ToolResultMessage]
    ends_run: bool
    """A tool asked to stop after this batch."""
    goes_on: bool = False
    """Somebody asked for another answer, whatever the tools say."""


class Attempt(Struct, frozen=True):
    """One agent_start ... agent_end. `turns_spent` says that it ended because no turn was left."""

    last: Turn
    turns: int
    turns_spent: bool = False


async def run_attempt(
    host: Host, machinery: Machinery, first: Sequence[QueuedMessage], *, stopping: bool, max_turns: int | None
) -> Attempt:
    """Run turns until there is nothing left to do, the model fails, or the run is aborted."""
    machinery.emit(AgentStart())
    turns = 0
    while True:
        machinery.emit(TurnStart())
        host.deliver(first, stopping=stopping)
        turn = await run_turn(host, machinery)
        first, turns = (), turns + 1
        wants_more = turn.goes_on or (bool(turn.results) and not turn.ends_run)
        stopping = not wants_more
        if _is_over(turn, machinery.abort) or not (wants_more or host.waiting(stopping=stopping)):
            return Attempt(turn, turns)
        if max_turns is not None and turns >= max_turns:
            return Attempt(turn, turns, turns_spent=True)
        if turn.goes_on or not turn.ends_run:
            await host.between_turns()
        if machinery.abort.requested:
            return Attempt(turn, turns)


async def run_turn(host: Host, machinery: Machinery) -> Turn:
    """One answer of the model, and the tools it calls. The turn is on the disk before its end is announced."""
    request, chat_model = await host.next_request()
    answer = await ask_model(
        request,
        chat_model,
        abort=machinery.abort,
        emit=machinery.emit,
        drained=machinery.drained,
        timestamp=machinery.now_ms(),
    )
    host.record_answer(answer)
    results: list[ToolResultMessage] = []
    ends_run = False
    if answer.message["stopReason"] in ("toolUse", "stop", "length") and tool_calls(answer.message):
        outcomes = await run_tools(
            answer.message,
            machinery.toolbox,
            abort=machinery.abort,
            emit=machinery.emit,
            now_ms=machinery.now_ms,
        )
        for outcome in outcomes:
            results.append(result_message(outcome, timestamp=machinery.now_ms()))
            host.record_result(results[-1])
        ends_run = any(outcome.result.ends_run for outcome in outcomes)
    goes_on = await host.end_turn(answer, results)
    machinery.emit(TurnEnd(answer.message, results))
    return Turn(answer, results, ends_run, goes_on)


def _is_over(turn: Turn, abort: Abort) -> bool:
    return turn.answer.failure is not None or abort.requested
