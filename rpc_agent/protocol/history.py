"""Values of the methods that read a session's messages, entries, tree and events, and edit or export them."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from rpc_agent.protocol.entries import AnyEntry
from rpc_agent.protocol.messages import AnyMessage
from rpc_agent.protocol.sessions import ContextUsage, EntryParams, Limit
from rpc_agent.protocol.wire_model import JsonObject, SessionParams, SessionResult, WireModel


class TokenTotals(TypedDict):
    """Tokens of all model calls of the session."""

    input: int
    """Fresh input."""
    output: int
    """Answers."""
    cacheRead: int
    """Input read from the providers' caches."""
    cacheWrite: int
    """Input written to the providers' caches."""
    total: int
    """The sum."""


class SessionStats(SessionResult):
    """What the whole session consists of and has cost."""

    userMessages: int
    """Messages of the user."""
    assistantMessages: int
    """Answers of the model."""
    toolCalls: int
    """Calls in those answers."""
    toolResults: int
    """Answers of tools."""
    totalMessages: int
    """All messages."""
    tokens: TokenTotals
    """All model calls, summaries included."""
    cost: float
    """US dollars, by the models' price lists."""
    contextUsage: NotRequired[ContextUsage]
    """Absent: the model's window is not known."""
    entries: int
    """Entries in the file, all branches."""
    compactions: int
    """Compactions among them."""
    fileBytes: int
    """Size of the file; 0 while there is none."""


class MessagesResult(SessionResult):
    """What the model is shown."""

    messages: list[AnyMessage]
    """The projection of the active branch, oldest first."""


class ContextMessage(TypedDict):
    """One message of the context."""

    entryId: str
    """The entry it comes from."""
    message: AnyMessage
    """As the model is shown it."""
    tokens: int
    """Estimated."""


class ContextResult(SessionResult):
    """What fills the model's window."""

    messages: list[ContextMessage]
    """Oldest first."""
    tokens: int
    """Estimated tokens of all."""
    contextWindow: int
    """The window in force; 0: not known."""
    thresholdTokens: int
    """Above this the server compacts by itself; 0: never."""
    percent: float | None
    """tokens / contextWindow * 100; null when the window is not known."""


class GetEntriesParams(SessionParams):
    """Which entries, in the order of the file."""

    since: str | None = None
    """An entry's id: only what stands after it. Absent: from the beginning."""
    limit: Limit | None = None
    """At most this many."""


class EntriesResult(SessionResult):
    """Entries of all branches, in the order of the file."""

    entries: list[AnyEntry]
    """As they stand in the file."""
    leafId: str | None
    """The newest entry of the active branch."""
    nextCursor: NotRequired[str]
    """Give it as `since` for the next page. Absent: there are no more."""


class EntryResult(SessionResult):
    """One entry."""

    entry: AnyEntry
    """As it stands in the file."""


class GetTreeParams(SessionParams):
    """How much of the tree, and in which form."""

    form: Literal["flat", "nested"] | None = None
    """`flat` (default): a list in the order of the file, for any size. `nested`: children inside their parents."""
    root_id: str | None = None
    """Only this entry and what hangs below it."""
    depth: Annotated[int, Field(ge=1)] | None = None
    """Only so many levels."""
    cursor: str | None = None
    """The nextCursor of the answer before; flat only."""
    limit: Limit | None = None
    """At most this many nodes; flat only."""


class TreeNode(TypedDict):
    """One entry of the tree, in short."""

    entryId: str
    """The entry's id."""
    parentId: str | None
    """Null at the root."""
    type: str
    """The entry's type."""
    role: NotRequired[str]
    """The message's role, for message entries."""
    timestamp: str
    """ISO 8601, UTC."""
    preview: str
    """The beginning of its text, one line."""
    label: NotRequired[str]
    """Its name. Absent: it has none."""
    labelTimestamp: NotRequired[str]
    """When it was named."""
    childCount: int
    """Entries that hang on it."""


class FlatTree(SessionResult):
    """The tree as a list."""

    nodes: list[TreeNode]
    """In the order of the file: a parent always comes before its children."""
    leafId: str | None
    """The newest entry of the active branch."""
    nextCursor: NotRequired[str]
    """Absent: there are no more."""


class NestedNode(TypedDict):
    """One entry with what hangs on it."""

    entry: AnyEntry
    """As it stands in the file."""
    children: "list[NestedNode]"
    """In the order of the file."""
    label: NotRequired[str]
    """Its name. Absent: it has none."""
    labelTimestamp: NotRequired[str]
    """When it was named."""
    more: NotRequired[Literal[True]]
    """It has children that are not shown: ask again with its id as rootId."""


class NestedTree(SessionResult):
    """The tree as trees, at most 100 levels deep."""

    tree: list[NestedNode]
    """The roots."""
    leafId: str | None
    """The newest entry of the active branch."""


class ForkMessage(TypedDict):
    """A place where the session can be forked."""

    entryId: str
    """Give it to fork_session."""
    text: str
    """The user's message."""


class ForkMessagesResult(SessionResult):
    """The user messages of the active branch."""

    messages: list[ForkMessage]
    """Oldest first."""


class LastAssistantTextResult(SessionResult):
    """What the model said last."""

    text: str | None
    """Null: it has not said anything yet."""


class SetLabelParams(EntryParams):
    """A name for an entry."""

    label: str | None
    """Null or empty takes the name away."""


class EntryIdResult(SessionResult):
    """The entry that records the change."""

    entryId: str
    """Its id; it is the new leaf."""


class EditContent(WireModel):
    """What the model shall be shown instead."""

    content: str | list[JsonObject]
    """Text, or blocks that fit the entry's role."""


class EditContextParams(SessionParams):
    """Which entry the model shall see differently."""

    target_id: Annotated[str, Field(min_length=1)]
    """A user, assistant, toolResult or custom_message entry of the active branch."""
    replacement: EditContent | None
    """Null: the model is not shown it at all. The entry itself stays as it is."""


class ExportSessionParams(SessionParams):
    """In which form, and where to."""

    format: Literal["html", "markdown", "jsonl"]
    """`html` is one file that needs no other."""
    output_path: str | None = None
    """The file to write; one that is there is replaced. Absent: the text is in the answer."""


class ExportedFile(SessionResult):
    """The export was written."""

    path: str
    """Absolute path."""


class ExportedText(SessionResult):
    """The export itself."""

    text: str
    """The whole of it."""


class GetEventsParams(SessionParams):
    """Which notifications to send again."""

    since: Annotated[int, Field(ge=0)]
    """The `seq` of the last one that arrived; 0: from the first."""
    limit: Limit | None = None
    """At most this many."""
    stream_id: str | None = None
    """The streamId that `since` belongs to; when the session has another by now, the answer is truncated."""


class Event(TypedDict):
    """A notification as it was sent."""

    method: str
    """The notification's name."""
    params: dict[str, Any]
    """Its params."""


class EventsResult(SessionResult):
    """Notifications from the server's bounded memory."""

    events: list[Event]
    """In the order of `seq`."""
    firstSeq: int
    """The oldest `seq` that the server still has."""
    lastSeq: int
    """The newest."""
    truncated: bool
    """True: some after `since` are gone, read the state anew (get_state, get_entries)."""
