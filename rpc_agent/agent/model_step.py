"""One call of the model, streamed: events as they come, and at the end always a message, whatever happened."""

from collections.abc import Awaitable, Callable
from contextlib import aclosing

from msgspec import Struct

from rpc_agent.agent.abort import Abort
from rpc_agent.agent.events import AgentEvent, MessageStart, MessageUpdate
from rpc_agent.conversation.messages import AssistantMessage
from rpc_agent.providers.assembly import Assembly
from rpc_agent.providers.base import ChatModel, ModelCallFailed, ModelRequest, Stopped

Emit = Callable[[AgentEvent], None]
"""Announces an event. Never waits: the order of calls is the order on the wire."""

Drained = Callable[[], Awaitable[None]]
"""Waits while the listeners are behind, so that a slow reader slows the model instead of filling memory."""


class Answer(Struct, frozen=True):
    """`failure` is set when the message's stopReason is "error"."""

    message: AssistantMessage
    failure: ModelCallFailed | None = None


async def ask_model(
    request: ModelRequest,
    chat_model: ChatModel,
    *,
    abort: Abort,
    emit: Emit,
    drained: Drained,
    timestamp: int,
) -> Answer:
    """The model's answer; a partial one with stopReason "aborted" or "error" when it was cut."""
    assembly = Assembly()
    emit(MessageStart(assembly.message(request.model, timestamp=timestamp, stop_reason="stop")))
    failure: ModelCallFailed | None = None
    stopped: Stopped | None = None
    with abort.interruptible():
        try:
            async with aclosing(chat_model.stream(request)) as batches:
                async for batch in batches:
                    for event in batch:
                        if type(event) is Stopped:
                            stopped = event
                        for update in assembly.apply(event):
                            emit(MessageUpdate(update, assembly.usage))
                    await drained()
        except ModelCallFailed as error:
            failure = error
    return _finish(request, assembly, timestamp, stopped=stopped, failure=failure, aborted=abort.requested)


def _finish(
    request: ModelRequest,
    assembly: Assembly,
    timestamp: int,
    *,
    stopped: Stopped | None,
    failure: ModelCallFailed | None,
    aborted: bool,
) -> Answer:
    if stopped is not None and failure is None:
        # An abort that comes after the last byte takes nothing away: the answer is whole.
        return Answer(assembly.message(request.model, timestamp=timestamp, stop_reason=stopped.reason))
    if aborted:
        return Answer(
            assembly.message(
                request.model, timestamp=timestamp, stop_reason="aborted", error_message="The answer was stopped."
            )
        )
    cut = failure or ModelCallFailed("The answer broke off before it was complete.", kind="transport")
    message = assembly.message(request.model, timestamp=timestamp, stop_reason="error", error_message=cut.message)
    return Answer(message, cut)
