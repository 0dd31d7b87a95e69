"""What happens in a run, as frozen values. `server` turns them into notifications; nobody else needs to know how."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rpc_agent.conversation.messages import AssistantMessage, Message, ToolResultMessage
from rpc_agent.conversation.usage import Usage
from rpc_agent.providers.assembly import BlockUpdate
from rpc_agent.tools.base import ToolResult


@dataclass(frozen=True, slots=True)
class AgentStart:
    """The model is about to work; one for each attempt of a run."""


@dataclass(frozen=True, slots=True)
class AgentEnd:
    messages: Sequence[Message]
    """Every message this attempt added, in order."""
    will_retry: bool


@dataclass(frozen=True, slots=True)
class AgentSettled:
    """The run is over, retries and compactions included: the last event of every run."""

    aborted: bool
    stop_reason: str


@dataclass(frozen=True, slots=True)
class TurnStart:
    """One answer of the model and the tools it calls."""


@dataclass(frozen=True, slots=True)
class TurnEnd:
    message: AssistantMessage
    tool_results: Sequence[ToolResultMessage]


@dataclass(frozen=True, slots=True)
class MessageStart:
    message: Message


class MessageUpdate(NamedTuple):
    """A piece of the answer that is being streamed. A named tuple for speed: one is made for every delta."""

    update: BlockUpdate
    usage: Usage | None


@dataclass(frozen=True, slots=True)
class MessageEnd:
    message: Message
    entry_id: str


@dataclass(frozen=True, slots=True)
class ToolExecutionStart:
    tool_call_id: str
    tool_name: str
    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolExecutionUpdate:
    tool_call_id: str
    tool_name: str
    args: Mapping[str, Any]
    partial_result: ToolResult


@dataclass(frozen=True, slots=True)
class ToolExecutionEnd:
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
