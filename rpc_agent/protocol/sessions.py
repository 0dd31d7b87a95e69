"""Values of the methods that make, open, list and end sessions, and the State they answer with."""

from typing import Annotated, Literal, NotRequired, Self

from pydantic import Field, model_validator
from typing_extensions import TypedDict

from rpc_agent.protocol.models import AnyModel, ThinkingLevel
from rpc_agent.protocol.settings import PermissionMode
from rpc_agent.protocol.wire_model import SessionParams, SessionResult, WireModel

QueueMode = Literal["all", "one-at-a-time"]
Limit = Annotated[int, Field(ge=1)]


class ContextUsage(TypedDict):
    """How full the model's window is."""

    tokens: int | None
    """Estimated tokens of the context; null right after a compaction, until the model has counted."""
    contextWindow: int
    """The window in force, in tokens."""
    percent: float | None
    """tokens / contextWindow * 100; null with tokens."""


class State(SessionResult):
    """What a session is doing, and with what."""

    streamId: str
    """Random for each life of the session in a server: another one means that `seq` began anew."""
    sessionFile: NotRequired[str]
    """Absolute path. Absent: kept in memory only. The file is made with the first message."""
    sessionName: NotRequired[str]
    """Absent: it has none."""
    cwd: str
    """Absolute path of the working directory."""
    leafId: str | None
    """The newest entry of the active branch; null in an empty session."""
    model: NotRequired[AnyModel]
    """Which model answers. Absent: none could be found, and a prompt is answered noModel."""
    thinkingLevel: ThinkingLevel
    """How much it thinks."""
    isStreaming: bool
    """True: a run is going on."""
    isCompacting: bool
    """True: a compaction is going on."""
    isNavigating: bool
    """True: navigate_tree is going on."""
    steeringMode: QueueMode
    """How many queued steering messages are delivered at once."""
    followUpMode: QueueMode
    """How many queued follow-up messages are delivered at once."""
    autoCompactionEnabled: bool
    """True: the server compacts by itself when the window fills."""
    autoRetryEnabled: bool
    """True: a failed model call is tried again."""
    messageCount: int
    """Messages of the context, as get_messages counts them."""
    pendingMessageCount: int
    """Messages in both queues."""
    contextUsage: NotRequired[ContextUsage]
    """Absent: the model's window is not known."""
    lastSeq: int
    """The `seq` of the newest notification; 0: none yet."""
    readOnly: bool
    """True: nothing can be written to it."""
    permissions: PermissionMode
    """What tools may do without asking."""


class NewSessionParams(WireModel):
    """How the new session shall be."""

    cwd: str | None = None
    """Its working directory. Absent: the server's."""
    name: str | None = None
    """Its name for people."""
    ephemeral: bool | None = None
    """True: kept in memory only."""
    parent_session: str | None = None
    """Path of the session file that it goes back to."""
    model: str | None = None
    """ "provider/modelId", split at the first slash. Absent: as configured."""
    thinking_level: ThinkingLevel | None = None
    """Absent: as configured."""
    tools: list[str] | None = None
    """Names of the tools it may use. Absent: all."""
    system_prompt: str | None = None
    """Stands for the first part of the built-in system prompt."""


class OpenSessionParams(WireModel):
    """Which session to open: exactly one of path, id and latest."""

    path: str | None = None
    """The session file."""
    id: str | None = None
    """The session's id, or the beginning of it when only one session begins so."""
    latest: bool | None = None
    """True: the one changed last, of the working directory."""
    cwd: str | None = None
    """Its working directory from here on. Absent: the one in the file."""
    read_only: bool | None = None
    """True: open it without writing, also while another program writes it."""

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if [self.path is not None, self.id is not None, self.latest is True].count(True) != 1:
            raise ValueError("give exactly one of path, id and latest: true")
        return self


class OpenWarning(TypedDict):
    """Something in the file that could not be read as it stands. Nothing of it is lost."""

    kind: str
    """A stable word, such as tornTail or missingParent."""
    line: NotRequired[int]
    """The line in the file, from 1."""
    message: str
    """For people."""


class OpenedState(State):
    """The opened session."""

    warnings: list[OpenWarning]
    """What was wrong with the file; empty for a sound one."""


class DeleteSessionParams(SessionParams):
    """Which session to delete: a session of this server, or a file."""

    path: str | None = None
    """A session file inside a sessions directory. Absent: sessionId counts."""


class ListSessionsParams(WireModel):
    """Which sessions to list."""

    cwd: str | None = None
    """Those of this working directory. Absent: the server's."""
    all: bool | None = None
    """True: those of every working directory."""
    query: str | None = None
    """Only those with this text in their name, first message or working directory."""
    cursor: str | None = None
    """The nextCursor of the answer before."""
    limit: Limit | None = None
    """At most this many."""


class SessionListing(TypedDict):
    """One session file."""

    id: str
    """The session's id."""
    path: str
    """Absolute path of its file."""
    name: NotRequired[str]
    """Absent: it has none."""
    cwd: str
    """Its working directory."""
    createdAt: str
    """ISO 8601, UTC."""
    modifiedAt: str
    """ISO 8601, UTC."""
    messageCount: NotRequired[int]
    """Absent: not counted yet, the file is large."""
    firstMessage: NotRequired[str]
    """The beginning of the first user message."""
    bytes: int
    """The file's size."""


class SessionList(TypedDict):
    """One page, the one changed last first."""

    sessions: list[SessionListing]
    """The sessions of this page."""
    nextCursor: NotRequired[str]
    """Absent: there are no more."""


class EntryParams(SessionParams):
    """One entry of the session."""

    entry_id: Annotated[str, Field(min_length=1)]
    """The entry's id."""


class ForkedState(State):
    """The new session, which ends before the entry that was named."""

    text: str
    """The text of that user message, to put into the input field."""


class SetSessionNameParams(SessionParams):
    """The session's name."""

    name: str
    """Trimmed and made one line; empty takes the name away."""
