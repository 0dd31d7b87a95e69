"""Values of the methods that compact a session, foresee, abort and undo it."""

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from rpc_agent.protocol.messages import AnyUsage
from rpc_agent.protocol.runs import LeafGuardParams
from rpc_agent.protocol.wire_model import SessionParams, SessionResult

KeepRecentTokens = Annotated[int, Field(ge=0)]


class CompactParams(LeafGuardParams):
    """How to summarise the older part of the conversation."""

    custom_instructions: str | None = None
    """What the summary shall pay attention to."""
    fallback: bool | None = None
    """True: when the model fails, make a plain summary without it. Absent: a failure changes nothing."""
    keep_recent_tokens: KeepRecentTokens | None = None
    """Keep about this many tokens of the newest messages. Absent: as configured."""


class Compaction(TypedDict):
    """A finished compaction."""

    entryId: str
    """The compaction's entry; give it to undo_compaction."""
    summary: str
    """Markdown, as the model is shown it."""
    firstKeptEntryId: str
    """Where the kept part begins; the same as entryId when nothing is kept."""
    tokensBefore: int
    """Estimated tokens of the context before."""
    estimatedTokensAfter: int
    """Estimated tokens of the context now; always fewer."""
    usage: NotRequired[AnyUsage]
    """Tokens and cost of the summary. Absent: no model was asked."""
    details: dict[str, Any]
    """readFiles and modifiedFiles (paths), ledger, fallback (true: made without a model)."""


class CompactionResult(SessionResult, Compaction):
    """The compaction that was made."""


class PreviewCompactionParams(SessionParams):
    """What to foresee."""

    keep_recent_tokens: KeepRecentTokens | None = None
    """As in compact."""


class TouchedFiles(TypedDict):
    """Files that the summarised part worked with."""

    read: list[str]
    """Only read; sorted."""
    modified: list[str]
    """Edited or written; sorted."""


class CompactionPreview(SessionResult):
    """What compact would do now. Nothing is written and no model is asked."""

    firstKeptEntryId: str
    """Where the kept part would begin."""
    isSplitTurn: bool
    """True: the cut lies inside a turn, whose beginning is then summarised too."""
    turnStartEntryId: NotRequired[str]
    """The beginning of that turn, when it is split."""
    tokensBefore: int
    """Estimated tokens of the context now."""
    estimatedTokensAfter: int
    """Estimated tokens of the context afterwards."""
    summarizedEntryIds: list[str]
    """Entries that the summary would stand for, oldest first."""
    keptEntryIds: list[str]
    """Entries that would stay as they are, oldest first."""
    hasPreviousSummary: bool
    """True: an earlier summary would be carried on."""
    files: TouchedFiles
    """Files that the summary would name."""


class AbortedResult(SessionResult):
    """Whether there was something to stop."""

    aborted: bool
    """False: nothing of the kind was going on."""


class UndoCompactionParams(SessionParams):
    """Which compaction to undo."""

    entry_id: str | None = None
    """The compaction's entry. Absent: the newest on the active branch."""


class UndoneResult(SessionResult):
    """Where the session stands now; navigate_tree back to previousLeafId redoes it."""

    leafId: str | None
    """The new leaf, with the context as it was."""
    previousLeafId: str
    """The leaf before."""
