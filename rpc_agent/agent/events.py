"""What happens in a run, as frozen values. `server` turns them into notifications; nobody else needs to know how."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from rpc_agent.conversation.messages import AssistantMessage, Message, ToolResultMessage
from rpc_agent.conversation.usage import Usage
from rpc_agent.providers.assembly import BlockUpdate
from rpc_agent.tools.base import ToolResult


class AgentStart(Struct, frozen=True):
    """The model is about to work; one for each attempt of a run."""


class AgentEnd(Struct, frozen=True):
    messages: Sequence[Message]
    """Every message this attempt added, in order."""
    will_retry: bool


class AgentSettled(Struct, frozen=True):
    """The run is over, retries and compactions included: the last event of every run."""

    aborted: bool
    stop_reason: str


class TurnStart(Struct, frozen=True):
    """One answer of the model and the tools it calls."""


class TurnEnd(Struct, frozen=True):
    message: AssistantMessage
    tool_results: Sequence[ToolResultMessage]


class MessageStart(Struct, frozen=True):
    message: Message


class MessageUpdate(Struct, frozen=True):
    """A piece of the answer that is being streamed."""

    update: BlockUpdate
    usage: Usage | None


class MessageEnd(Struct, frozen=True):
    message: Message
    entry_id: str


class ToolExecutionStart(Struct, frozen=True):
    tool_call_id: str
    tool_name: str
    args: Mapping[str, Any]


class ToolExecutionUpdate(Struct, frozen=True):
    tool_call_id: str
    tool_name: str
    args: Mapping[str, Any]
    partial_result: ToolResult


class ToolExecutionEnd(Struct, frozen=True):
    tool_call_id: str
    tool_name: str
    result: ToolResult
    duration_ms: int


AgentEvent = (
    AgentStart
    | AgentEnd
    | AgentSettled
    | TurnStart
    | TurnEnd
    | MessageStart
    | MessageUpdate
    | MessageEnd
    | ToolExecutionStart
    | ToolExecutionUpdate
    | ToolExecutionEnd
)
