"""Messages, in the JSON shape of the session file and of the wire, and the few questions everybody asks of them.

`read_message` is the one gate: what passes it has the texts, blocks and flags its type promises, and nothing behind it
checks them again. Numbers and what is optional stay as the file has them: whoever reads one looks at it.
"""

from typing import Any, Literal, NotRequired, TypedDict, cast

from rpc_agent.conversation.blocks import (
    AssistantBlock,
    Block,
    ToolCallBlock,
    UserBlock,
    blocks_text,
    read_blocks,
)
from rpc_agent.conversation.json_values import as_id, as_object, as_text
from rpc_agent.conversation.usage import Usage, make_usage

StopReason = Literal["stop", "length", "toolUse", "error", "aborted"]


class SystemMessage(TypedDict):
    """The system prompt, or a later patch of it: a section that is null is removed."""

    role: Literal["system"]
    content: str
    timestamp: int
    sections: NotRequired[dict[str, str | None]]
    toolsAdded: NotRequired[list[dict[str, Any]]]
    toolsRemoved: NotRequired[list[dict[str, Any]]]


class UserMessage(TypedDict):
    role: Literal["user"]
    content: str | list[UserBlock]
    timestamp: int
    """Milliseconds since the epoch, as in every message."""


class AssistantMessage(TypedDict):
    role: Literal["assistant"]
    content: list[AssistantBlock]
    api: str
    provider: str
    model: str
    usage: Usage
    stopReason: StopReason
    timestamp: int
    errorMessage: NotRequired[str]
    responseId: NotRequired[str]


class ToolResultMessage(TypedDict):
    role: Literal["toolResult"]
    toolCallId: str
    toolName: str
    content: list[UserBlock]
    isError: bool
    timestamp: int
    details: NotRequired[Any]
    usage: NotRequired[Usage]


class BashExecutionMessage(TypedDict):
    """A command the user ran beside the model, to be shown to it."""

    role: Literal["bashExecution"]
    command: str
    output: str
    exitCode: int | None
    cancelled: bool
    truncated: bool
    timestamp: int
    fullOutputPath: NotRequired[str]
    excludeFromContext: NotRequired[bool]


class CustomMessage(TypedDict):
    role: Literal["custom"]
    customType: str
    content: str | list[UserBlock]
    display: bool
    timestamp: int
    details: NotRequired[Any]


class BranchSummaryMessage(TypedDict):
    role: Literal["branchSummary"]
    summary: str
    fromId: str
    timestamp: int


class CompactionSummaryMessage(TypedDict):
    role: Literal["compactionSummary"]
    summary: str
    tokensBefore: int
    timestamp: int


Message = (
    SystemMessage
    | UserMessage
    | AssistantMessage
    | ToolResultMessage
    | BashExecutionMessage
    | CustomMessage
    | BranchSummaryMessage
    | CompactionSummaryMessage
)
ModelMessage = SystemMessage | UserMessage | AssistantMessage | ToolResultMessage
"""What a provider is sent; the other four roles are told to it as user messages."""

_ROLES = frozenset(
    {
        "system",
        "user",
        "assistant",
        "toolResult",
        "bashExecution",
        "custom",
        "branchSummary",
        "compactionSummary",
    }
)


def read_message(value: object) -> Message | None:
    """A message with the texts, blocks and flags its role promises, or None for a role nobody knows.

    Null content becomes "" (system) or [] (the rest), null arguments {}, broken blocks are left out;
    unknown fields are kept. The object given in is never changed.
    """
    raw = as_object(value)
    role = as_text(raw.get("role"))
    if role not in _ROLES:
        return None
    message: dict[str, Any] = {"timestamp": 0, **raw}
    match role:
        case "system":
            message["content"] = as_text(raw.get("content"))
        case "user" | "custom":
            content = raw.get("content")
            message["content"] = content if isinstance(content, str) else _only(content, "text", "image")
        case "assistant":
            message["content"] = _only(raw.get("content"), "text", "thinking", "toolCall")
            message["usage"] = {**make_usage(), **as_object(raw.get("usage"))}
            for name in ("api", "provider", "model"):
                message[name] = as_text(raw.get(name))
            message["stopReason"] = raw.get("stopReason") or "stop"
        case "toolResult":
            message["content"] = _only(raw.get("content"), "text", "image")
            message["isError"] = raw.get("isError") is True
            message["toolCallId"] = as_id(raw.get("toolCallId"))
            message["toolName"] = as_text(raw.get("toolName"))
        case "bashExecution":
            for name in ("command", "output"):
                message[name] = as_text(raw.get(name))
            message["exitCode"] = raw.get("exitCode")
            for name in ("cancelled", "truncated"):
                message[name] = raw.get(name) is True
        case _:
            message["summary"] = as_text(raw.get("summary"))
    return cast(Message, message)


def user_message(content: str | list[UserBlock], *, timestamp: int) -> UserMessage:
    return {"role": "user", "content": content, "timestamp": timestamp}


def tool_calls(message: AssistantMessage) -> list[ToolCallBlock]:
    """The calls of one answer, in the order the model made them."""
    return [block for block in message["content"] if block["type"] == "toolCall"]


def system_texts(message: SystemMessage) -> list[str]:
    """The content and the sections, without those of nothing but space, which services refuse."""
    texts = (message["content"], *message.get("sections", {}).values())
    return [text for text in texts if text and text.strip()]


def message_text(message: Message) -> str:
    """What a person would read in the message: its text blocks, its summary, or command and output."""
    match message["role"]:
        case "branchSummary" | "compactionSummary":
            return message["summary"]
        case "bashExecution":
            return f"{message['command']}\n{message['output']}"
        case _:
            return blocks_text(message["content"])


def _only(content: object, *kinds: str) -> list[Block]:
    return [block for block in read_blocks(content) if block["type"] in kinds]
