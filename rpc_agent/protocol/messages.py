"""Messages of a session as the wire and the session file show them. Shapes only; extra fields are allowed."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypeAliasType, TypedDict

from rpc_agent.protocol.content import AssistantContent, UserContent
from rpc_agent.protocol.wire_model import AnyObject, Documented, JsonObject, open_object

StopReason = TypeAliasType("StopReason", Literal["stop", "length", "toolUse", "error", "aborted"])
"""How an answer of the model ended."""


@open_object
class Cost(TypedDict):
    """US dollars."""

    input: float
    """For fresh input."""
    output: float
    """For the answer, thinking included."""
    cacheRead: float
    """For input read from the provider's cache."""
    cacheWrite: float
    """For input written to the provider's cache."""
    total: float
    """The sum of the four."""


@open_object
class Usage(TypedDict):
    """What a model call consumed, in tokens; 0 where the provider did not say."""

    input: int
    """Fresh input: what was neither read from nor written to the provider's cache."""
    output: int
    """The answer, thinking included."""
    cacheRead: int
    """Input read from the provider's cache."""
    cacheWrite: int
    """Input written to the provider's cache."""
    totalTokens: int
    """The sum of the four."""
    reasoning: NotRequired[int]
    """The part of `output` that was thinking. Absent: the provider did not say."""
    cost: Cost
    """What that costs by the model's price list; zeros for a model without prices."""


AnyUsage = Annotated[AnyObject, Documented(Usage)]


@open_object
class SystemMessage(TypedDict):
    """The system prompt, or a later change of it."""

    role: Literal["system"]
    content: str
    """Text before the sections; often empty."""
    timestamp: int
    """Milliseconds since 1970 (UTC), as in every message."""
    sections: NotRequired[dict[str, str | None]]
    """Named parts of the prompt. In a later message only those that changed; null removes one."""
    toolsAdded: NotRequired[list[JsonObject]]
    """Declarations of tools that the model has from here on."""
    toolsRemoved: NotRequired[list[JsonObject]]
    """Tools that it no longer has."""


@open_object
class UserMessage(TypedDict):
    """What the user said."""

    role: Literal["user"]
    content: str | list[UserContent]
    """Text, or blocks of text and images."""
    timestamp: int
    """Milliseconds since 1970 (UTC)."""


@open_object
class AssistantMessage(TypedDict):
    """One answer of the model."""

    role: Literal["assistant"]
    content: list[AssistantContent]
    """In the order the model made them. A partial answer after an abort or an error holds what had come."""
    api: str
    """The provider's dialect, such as openai-completions."""
    provider: str
    """Who answered, such as openai."""
    model: str
    """The model's id at that provider."""
    usage: AnyUsage
    """Tokens and cost of this one call."""
    stopReason: StopReason
    """`stop`: finished. `toolUse`: wants its tools run. `length`: cut at the output limit. `error`: see errorMessage.
    `aborted`: stopped by the user."""
    timestamp: int
    """Milliseconds since 1970 (UTC)."""
    errorMessage: NotRequired[str]
    """For people, when stopReason is `error` or `aborted`."""
    responseId: NotRequired[str]
    """The provider's id of the answer."""


@open_object
class ToolResultMessage(TypedDict):
    """What a tool answered to the model."""

    role: Literal["toolResult"]
    toolCallId: str
    """The id of the call's block."""
    toolName: str
    """The tool's name."""
    content: list[UserContent]
    """What the model is told."""
    details: NotRequired[Any]
    """What a front end may show besides, such as the diff of an edit; its shape is the tool's."""
    isError: bool
    """True: the tool failed, was refused, or does not exist; the run goes on."""
    timestamp: int
    """Milliseconds since 1970 (UTC)."""
    usage: NotRequired[AnyUsage]
    """Model calls that the tool made itself."""


@open_object
class BashExecutionMessage(TypedDict):
    """A command that the user ran with the method `bash`, shown to the model as text."""

    role: Literal["bashExecution"]
    command: str
    """The whole command line."""
    output: str
    """stdout and stderr as they came, the end of it when long."""
    exitCode: int | None
    """Null: killed before it ended."""
    cancelled: bool
    """True: stopped by abort_bash."""
    truncated: bool
    """True: `output` is only the end of it."""
    fullOutputPath: NotRequired[str]
    """A file with all of the output, when truncated."""
    excludeFromContext: NotRequired[bool]
    """True: the model is not shown it."""
    timestamp: int
    """Milliseconds since 1970 (UTC)."""


@open_object
class CustomMessage(TypedDict):
    """A message that an extension put in; the model sees it as the user's."""

    role: Literal["custom"]
    customType: str
    """The extension's name for this kind of message."""
    content: str | list[UserContent]
    """Text, or blocks of text and images."""
    display: bool
    """False: meant for the model only, do not show it."""
    details: NotRequired[Any]
    """The extension's own data."""
    timestamp: int
    """Milliseconds since 1970 (UTC)."""


@open_object
class BranchSummaryMessage(TypedDict):
    """What was done on a branch that the session came back from."""

    role: Literal["branchSummary"]
    summary: str
    """Markdown."""
    fromId: str
    """The entry where the branch ended, or "root"."""
    timestamp: int
    """Milliseconds since 1970 (UTC)."""


@open_object
class CompactionSummaryMessage(TypedDict):
    """What stands for the compacted part of the conversation."""

    role: Literal["compactionSummary"]
    summary: str
    """Markdown, with the ledger of the user's own words in it."""
    tokensBefore: int
    """Estimated tokens of the context before the compaction."""
    timestamp: int
    """Milliseconds since 1970 (UTC)."""


Message = TypeAliasType(
    "Message",
    Annotated[
        SystemMessage
        | UserMessage
        | AssistantMessage
        | ToolResultMessage
        | BashExecutionMessage
        | CustomMessage
        | BranchSummaryMessage
        | CompactionSummaryMessage,
        Field(discriminator="role"),
    ],
)
"""A message of the conversation; `role` tells which."""
AnyMessage = Annotated[AnyObject, Documented(Message)]
