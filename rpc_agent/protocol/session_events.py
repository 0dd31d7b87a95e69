"""Params of the notifications about the session itself: entries, tree, model, compaction, warnings. Shapes only."""

from typing import Literal, NotRequired

from rpc_agent.protocol.compaction import Compaction
from rpc_agent.protocol.entries import AnyEntry
from rpc_agent.protocol.models import AnyModel, ThinkingLevel
from rpc_agent.protocol.run_events import SessionEvent
from rpc_agent.protocol.sessions import ContextUsage
from rpc_agent.protocol.wire_model import open_object

CompactionReason = Literal["manual", "threshold", "overflow"]


class EntryAppended(SessionEvent):
    """An entry is on disk."""

    runId: NotRequired[str]
    """The run that made it. Absent: no run did."""
    entry: AnyEntry
    """The whole entry."""


class LeafChanged(SessionEvent):
    """The session stands at another place of its tree. Not sent when an entry is merely put behind the leaf."""

    leafId: str | None
    """The leaf now; null before the first entry."""
    previousLeafId: str | None
    """The leaf before."""


class SessionInfoChanged(SessionEvent):
    """The session's name has changed."""

    name: NotRequired[str]
    """Absent: it has none any more."""


class ModelChanged(SessionEvent):
    """Another model answers from here on."""

    model: AnyModel
    """The whole model."""


class ThinkingLevelChanged(SessionEvent):
    """The model thinks more or less from here on."""

    level: ThinkingLevel
    """The level now."""


class ContextUsageChanged(SessionEvent, ContextUsage):
    """The context has grown or shrunk."""

    runId: NotRequired[str]
    """The run that changed it. Absent: no run did."""


class CompactionEvent(SessionEvent):
    """What every notification of a compaction says."""

    compactionId: str
    """The same from start to end."""
    runId: NotRequired[str]
    """The run that it belongs to. Absent: it belongs to none."""


class CompactionStart(CompactionEvent):
    """A compaction begins; there is something to compact."""

    reason: CompactionReason
    """`manual`: asked for by compact. `threshold`: the window fills. `overflow`: the model refused the context."""


class CompactionProgress(CompactionEvent):
    """A compaction goes on. May be left out of any display."""

    phase: str
    """What is being done, such as summarizing or merging; new words may come."""
    chunk: NotRequired[int]
    """Which of `chunks`, from 1."""
    chunks: NotRequired[int]
    """How many model calls are planned."""
    receivedChars: NotRequired[int]
    """Characters of the summary that have come so far."""


class CompactionEnd(CompactionEvent):
    """A compaction is over: exactly one for each start. One without a start says why none is tried any more."""

    reason: CompactionReason
    """As at the start."""
    status: Literal["completed", "failed", "cancelled"]
    """`failed` and `cancelled`: nothing has changed."""
    result: NotRequired[Compaction]
    """When completed."""
    aborted: bool
    """True: somebody stopped it."""
    willRetry: bool
    """True: the run goes on by itself."""
    errorMessage: NotRequired[str]
    """When failed: why, for people."""


class BranchSummaryStart(SessionEvent):
    """The summary of the branch that is left begins."""


class BranchSummaryEnd(SessionEvent):
    """The summary of the branch that is left is over."""

    summaryEntry: NotRequired[AnyEntry]
    """The branch_summary entry. Absent: none was made."""
    aborted: bool
    """True: somebody stopped it."""
    errorMessage: NotRequired[str]
    """Why none was made, for people."""


class SummarizationRetryScheduled(SessionEvent):
    """A summary's model call failed; it is made again after a wait."""

    compactionId: NotRequired[str]
    """The compaction that it is for. Absent: a branch summary."""
    attempt: int
    """From 1."""
    maxAttempts: int
    """After this many the summary is given up."""
    delayMs: int
    """Milliseconds until then."""
    errorMessage: str
    """Why, for people."""


class SummarizationRetryAttemptStart(SessionEvent):
    """The wait is over, the summary's model call is made again."""

    compactionId: NotRequired[str]
    """The compaction that it is for. Absent: a branch summary."""
    attempt: int
    """From 1."""


class SummarizationRetryFinished(SessionEvent):
    """The retries of a summary's model call are over."""

    compactionId: NotRequired[str]
    """The compaction that it is for. Absent: a branch summary."""
    success: bool
    """True: the model has answered."""
    attempt: int
    """The number of the last try."""
    finalError: NotRequired[str]
    """Why it was given up, for people."""


class BashExecutionUpdate(SessionEvent):
    """Output of a command that the method bash runs."""

    requestId: NotRequired[str | int | float]
    """The id of that request. Absent: it had none."""
    delta: str
    """The new piece."""


@open_object
class ContextWarning(SessionEvent):
    """Something about the window that a person should know. Fields beside `kind` depend on it."""

    kind: Literal["silentTruncation", "unreachableThreshold", "limitLearned"]
    """`silentTruncation`: the service counted far less than was sent. `unreachableThreshold`: what cannot be compacted
    is already too much. `limitLearned`: a refusal told the true window."""
    message: NotRequired[str]
    """For people."""
    runId: NotRequired[str]
    """The run it was noticed in."""


class ExtensionError(SessionEvent):
    """An extension failed and was passed over."""

    extension: str
    """Its name, or "client" for a hook that the client answers."""
    hook: str
    """Where it failed."""
    error: str
    """What happened, for people."""
