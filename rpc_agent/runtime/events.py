"""What happens to a session beside its runs, as frozen values; with the agent's events, all that a client can hear."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from rpc_agent.agent.events import AgentEvent
from rpc_agent.conversation.models import Model
from rpc_agent.session.entries import Entry

CompactionReason = Literal["manual", "threshold", "overflow"]
CompactionStatus = Literal["completed", "failed", "cancelled"]


class EntryAppended(Struct, frozen=True):
    entry: Entry


class LeafChanged(Struct, frozen=True):
    """The leaf moved by other means than an append: navigation, fork, undo."""

    leaf_id: str | None
    previous_leaf_id: str | None


class QueueUpdate(Struct, frozen=True):
    """The texts that wait, after a change."""

    steering: Sequence[str]
    follow_up: Sequence[str]


class SessionInfoChanged(Struct, frozen=True):
    name: str | None


class ModelChanged(Struct, frozen=True):
    """`window` is the one in force, which refusals may have taught."""

    model: Model
    window: int


class ThinkingLevelChanged(Struct, frozen=True):
    level: str


class ContextUsageChanged(Struct, frozen=True):
    """Tokens are None right after a compaction, until a model reports usage again."""

    tokens: int | None
    context_window: int
    percent: float | None


class CompactionStart(Struct, frozen=True):
    compaction_id: str
    reason: CompactionReason


class CompactionProgress(Struct, frozen=True):
    compaction_id: str
    phase: str
    chunk: int | None = None
    chunks: int | None = None
    received_chars: int | None = None


class CompactionEnd(Struct, frozen=True):
    compaction_id: str
    reason: CompactionReason
    status: CompactionStatus
    will_retry: bool
    result: Mapping[str, Any] | None = None
    error_message: str | None = None


class BranchSummaryStart(Struct, frozen=True):
    pass


class BranchSummaryEnd(Struct, frozen=True):
    aborted: bool
    summary_entry: Entry | None = None
    error_message: str | None = None


class AutoRetryStart(Struct, frozen=True):
    attempt: int
    max_attempts: int
    delay_ms: int
    error_message: str


class AutoRetryEnd(Struct, frozen=True):
    success: bool
    attempt: int
    final_error: str | None = None


class SummarizationRetryScheduled(Struct, frozen=True):
    attempt: int
    max_attempts: int
    delay_ms: int
    error_message: str
    compaction_id: str | None = None
    """None: a branch summary."""


class SummarizationRetryAttemptStart(Struct, frozen=True):
    attempt: int
    compaction_id: str | None = None


class SummarizationRetryFinished(Struct, frozen=True):
    success: bool
    attempt: int
    compaction_id: str | None = None


class BashExecutionUpdate(Struct, frozen=True):
    delta: str
    request_id: str | int | float | None = None


class ContextWarning(Struct, frozen=True):
    kind: Literal["silentTruncation", "unreachableThreshold", "limitLearned"]
    fields: Mapping[str, Any]


class ExtensionError(Struct, frozen=True):
    """A hook failed and was passed over; `hook` is "load" when the extension could not even be loaded."""

    extension: str
    hook: str
    error: str


ChangeEvent = (
    EntryAppended
    | LeafChanged
    | QueueUpdate
    | SessionInfoChanged
    | ModelChanged
    | ThinkingLevelChanged
    | ContextUsageChanged
    | BashExecutionUpdate
    | ContextWarning
    | ExtensionError
)
"""The session, or what works for it, is not what it was."""

RecoveryEvent = (
    CompactionStart
    | CompactionProgress
    | CompactionEnd
    | BranchSummaryStart
    | BranchSummaryEnd
    | AutoRetryStart
    | AutoRetryEnd
    | SummarizationRetryScheduled
    | SummarizationRetryAttemptStart
    | SummarizationRetryFinished
)
"""Work on the context or on a failure, which takes time and can be stopped."""

SessionEvent = AgentEvent | ChangeEvent | RecoveryEvent
