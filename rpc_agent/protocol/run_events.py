"""Params of the notifications about runs: agent, turns, messages, tools, queues, retries. Shapes only."""

from typing import Annotated, Any, Literal, NotRequired

from typing_extensions import TypeAliasType, TypedDict

from rpc_agent.protocol.content import ToolCallBlock, UserContent
from rpc_agent.protocol.messages import AnyMessage, AnyUsage, StopReason, ToolResultMessage
from rpc_agent.protocol.wire_model import AnyObject, Documented


class SessionEvent(TypedDict):
    """What every notification about a session says."""

    sessionId: str
    """The session that this is about."""
    seq: int
    """Grows by one for each notification of the session, without gaps."""


class RunEvent(SessionEvent):
    """What every notification of a run says."""

    runId: str
    """The run, as in the answer to prompt."""


class AgentStart(RunEvent):
    """The agent begins to work; again after a retry or a recovery within one run."""


class AgentEnd(RunEvent):
    """The agent stops working for now."""

    messages: list[AnyMessage]
    """What was said since agent_start."""
    willRetry: bool
    """True: it goes on by itself, after a wait or a compaction."""


class AgentSettled(RunEvent):
    """The run is over: the last of its notifications, exactly one for each run."""

    aborted: bool
    """True: somebody stopped it."""
    stopReason: StopReason
    """How the last answer ended."""


class TurnStart(RunEvent):
    """A turn begins: one answer of the model and the tools it asks for."""


class TurnEnd(RunEvent):
    """The turn is over and on disk."""

    message: AnyMessage
    """The model's answer."""
    toolResults: list[Annotated[AnyObject, Documented(ToolResultMessage)]]
    """What its tools answered, in the order of the calls."""


class MessageStart(RunEvent):
    """A message begins: the user's and a tool's whole, the model's still empty."""

    message: AnyMessage
    """The message so far."""


class TextStart(TypedDict):
    """A block of text begins."""

    type: Literal["text_start"]
    contentIndex: int
    """Its place in the message's content, from 0."""


class TextDelta(TypedDict):
    """Text to put behind what there is."""

    type: Literal["text_delta"]
    contentIndex: int
    """The block's place."""
    delta: str
    """The new piece."""


class TextEnd(TypedDict):
    """The block of text is complete."""

    type: Literal["text_end"]
    contentIndex: int
    """The block's place."""
    content: str
    """All of its text."""


class ThinkingStart(TypedDict):
    """A block of thinking begins."""

    type: Literal["thinking_start"]
    contentIndex: int
    """Its place in the message's content, from 0."""


class ThinkingDelta(TypedDict):
    """Thinking to put behind what there is."""

    type: Literal["thinking_delta"]
    contentIndex: int
    """The block's place."""
    delta: str
    """The new piece."""


class ThinkingEnd(TypedDict):
    """The block of thinking is complete."""

    type: Literal["thinking_end"]
    contentIndex: int
    """The block's place."""
    content: str
    """All of its text."""


class ToolCallStart(TypedDict):
    """A tool call begins."""

    type: Literal["toolcall_start"]
    contentIndex: int
    """Its place in the message's content, from 0."""
    id: str
    """The call's id."""
    toolName: str
    """The tool's name."""


class ToolCallDelta(TypedDict):
    """A piece of the arguments."""

    type: Literal["toolcall_delta"]
    contentIndex: int
    """The block's place."""
    delta: str
    """A piece of the arguments' JSON text."""


class ToolCallEnd(TypedDict):
    """The tool call is complete; it runs when the message has ended."""

    type: Literal["toolcall_end"]
    contentIndex: int
    """The block's place."""
    toolCall: Annotated[AnyObject, Documented(ToolCallBlock)]
    """The whole call."""


AssistantMessageEvent = TypeAliasType(
    "AssistantMessageEvent",
    TextStart
    | TextDelta
    | TextEnd
    | ThinkingStart
    | ThinkingDelta
    | ThinkingEnd
    | ToolCallStart
    | ToolCallDelta
    | ToolCallEnd,
)
"""A piece of an answer; `type` tells which."""


class MessageUpdate(RunEvent):
    """A piece of the model's answer."""

    usage: AnyUsage
    """Tokens so far, as far as the provider says."""
    assistantMessageEvent: Annotated[AnyObject, Documented(AssistantMessageEvent)]
    """The piece."""


class MessageEnd(RunEvent):
    """The message is complete and on disk."""

    message: AnyMessage
    """The whole message."""
    entryId: str
    """The entry that holds it."""


class ToolOutcome(TypedDict):
    """What a tool has answered, so far or at last."""

    content: list[Annotated[AnyObject, Documented(UserContent)]]
    """What the model is told."""
    details: NotRequired[Any]
    """What a front end may show besides; its shape is the tool's."""


class ToolExecutionStart(RunEvent):
    """A tool begins."""

    toolCallId: str
    """The call's id."""
    toolName: str
    """The tool's name."""
    args: dict[str, Any]
    """Its arguments."""


class ToolExecutionUpdate(ToolExecutionStart):
    """A tool shows what it has so far."""

    partialResult: ToolOutcome
    """All of it, not only what is new."""


class ToolExecutionEnd(RunEvent):
    """A tool is done. Its toolResult message follows, in the order of the calls."""

    toolCallId: str
    """The call's id."""
    toolName: str
    """The tool's name."""
    result: ToolOutcome
    """What it answered."""
    isError: bool
    """True: it failed, was refused, or does not exist."""
    durationMs: int
    """Milliseconds it took."""


class QueueUpdate(SessionEvent):
    """The queues have changed."""

    runId: NotRequired[str]
    """The run that delivers a message. Absent: one was added or taken out."""
    steering: list[str]
    """Texts that wait for the end of the current tools, oldest first."""
    followUp: list[str]
    """Texts that wait for the end of the run, oldest first."""


class AutoRetryStart(RunEvent):
    """The model's service failed; it is asked again after a wait."""

    attempt: int
    """From 1."""
    maxAttempts: int
    """After this many the run ends in error."""
    delayMs: int
    """Milliseconds until then; abort_retry ends the wait."""
    errorMessage: str
    """Why, for people."""


class AutoRetryEnd(RunEvent):
    """The retries are over."""

    success: bool
    """True: the model has answered."""
    attempt: int
    """The number of the last try."""
    finalError: NotRequired[str]
    """Why it was given up, for people."""
