"""Lines of a session file, the header and the eleven kinds of entry, as file and wire show them. Shapes only."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypeAliasType, TypedDict

from rpc_agent.protocol.content import AssistantContent, UserContent
from rpc_agent.protocol.messages import AnyMessage, AnyUsage, SystemMessage
from rpc_agent.protocol.wire_model import AnyObject, Documented, open_object

KNOWN_ENTRY_TYPES = (
    "message",
    "thinking_level_change",
    "model_change",
    "usage",
    "compaction",
    "branch_summary",
    "context_edit",
    "custom",
    "custom_message",
    "label",
    "session_info",
)


@open_object
class SessionHeader(TypedDict):
    """The first line of a session file."""

    type: Literal["session"]
    version: Literal[3]
    """The format's version."""
    id: str
    """The session's id, a version 7 UUID."""
    timestamp: str
    """When the session was made: ISO 8601, UTC, milliseconds."""
    cwd: str
    """Absolute path of the working directory."""
    parentSession: NotRequired[str]
    """Path of the file that this session was forked or cloned from."""


@open_object
class EntryFields(TypedDict):
    """What every entry has."""

    id: str
    """Unique in the session, usually 8 hexadecimal digits."""
    parentId: str | None
    """The entry before it on its branch; null for the first one."""
    timestamp: str
    """ISO 8601, UTC, milliseconds."""


@open_object
class MessageEntry(EntryFields):
    """A message of the conversation."""

    type: Literal["message"]
    message: AnyMessage
    """Any message but a branchSummary, compactionSummary or custom one: those have entries of their own."""


@open_object
class ThinkingLevelChangeEntry(EntryFields):
    """From here on the model thinks this much."""

    type: Literal["thinking_level_change"]
    thinkingLevel: str
    """As in set_thinking_level."""


@open_object
class ModelChangeEntry(EntryFields):
    """From here on this model answers."""

    type: Literal["model_change"]
    provider: str
    """The provider's name."""
    modelId: str
    """The model's id at that provider."""


@open_object
class UsageEntry(EntryFields):
    """A paid model call that has no entry of its own, such as a rejected summary."""

    type: Literal["usage"]
    kind: str
    """What the call was for."""
    provider: str
    """Who was asked."""
    model: str
    """The model's id."""
    usage: AnyUsage
    """Tokens and cost of the call."""
    note: NotRequired[str]
    """Why nothing came of it, for people."""


@open_object
class CompactionEntry(EntryFields):
    """A compaction: the context continues with the summary and what is kept."""

    type: Literal["compaction"]
    summary: str
    """Markdown."""
    firstKeptEntryId: str
    """Where the kept part begins; the entry's own id keeps nothing."""
    tokensBefore: int
    """Estimated tokens of the context before it."""
    details: NotRequired[dict[str, Any]]
    """readFiles and modifiedFiles (paths), ledger, fallback (true: made without a model)."""
    usage: NotRequired[AnyUsage]
    """Tokens and cost of the summary. Absent: no model was asked."""
    fromHook: NotRequired[bool]
    """True: an extension or the client made the summary."""
    systemMessage: NotRequired[SystemMessage]
    """The system prompt as it was then."""
    retainedTail: NotRequired[list[AnyMessage]]
    """The kept messages themselves, so that nothing older is needed."""


@open_object
class BranchSummaryEntry(EntryFields):
    """A summary of the branch that was left."""

    type: Literal["branch_summary"]
    fromId: str
    """The entry where that branch ended, or "root"."""
    summary: str
    """Markdown; empty: the model is not shown it."""
    details: NotRequired[dict[str, Any]]
    """readFiles and modifiedFiles (paths)."""
    usage: NotRequired[AnyUsage]
    """Tokens and cost of the summary."""
    fromHook: NotRequired[bool]
    """True: an extension or the client made the summary."""


@open_object
class Replacement(TypedDict):
    """What stands for an entry's content in the context."""

    content: str | list[UserContent | AssistantContent]
    """Text, or blocks that fit the entry's role."""


@open_object
class ContextEditEntry(EntryFields):
    """Another entry is shown differently to the model from here on."""

    type: Literal["context_edit"]
    targetId: str
    """The entry that is edited."""
    replacement: Replacement | None
    """Null: the model is not shown it at all."""


@open_object
class CustomEntry(EntryFields):
    """Data of an extension, or a marker of the server (customType `leaf`); the model is not shown it."""

    type: Literal["custom"]
    customType: str
    """Whose data it is."""
    data: NotRequired[Any]
    """Whatever its owner put there."""


@open_object
class CustomMessageEntry(EntryFields):
    """A message that an extension put in."""

    type: Literal["custom_message"]
    customType: str
    """The extension's name for this kind of message."""
    content: str | list[UserContent]
    """Text, or blocks of text and images."""
    display: bool
    """False: meant for the model only."""
    details: NotRequired[Any]
    """The extension's own data."""


@open_object
class LabelEntry(EntryFields):
    """A name for another entry."""

    type: Literal["label"]
    targetId: str
    """The entry that is named."""
    label: NotRequired[str]
    """Absent: the name is taken away."""


@open_object
class SessionInfoEntry(EntryFields):
    """The session's name from here on."""

    type: Literal["session_info"]
    name: NotRequired[str]
    """Absent or empty: the name is taken away."""


@open_object
class UnknownEntry(EntryFields):
    """A kind of a later version or of another program: part of the tree, not shown to the model. Ignore it."""

    type: Annotated[str, Field(json_schema_extra={"not": {"enum": list(KNOWN_ENTRY_TYPES)}})]
    """Any other word."""


Entry = TypeAliasType(
    "Entry",
    MessageEntry
    | ThinkingLevelChangeEntry
    | ModelChangeEntry
    | UsageEntry
    | CompactionEntry
    | BranchSummaryEntry
    | ContextEditEntry
    | CustomEntry
    | CustomMessageEntry
    | LabelEntry
    | SessionInfoEntry
    | UnknownEntry,
)
"""An entry of the session's tree; `type` tells which."""
AnyEntry = Annotated[AnyObject, Documented(Entry)]
SessionFileLine = TypeAliasType("SessionFileLine", SessionHeader | Entry)
"""One line of a session file: the header first, then one entry a line."""
