"""What happens to a session beside its runs, as frozen values; with the agent's events, all that a client can hear."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rpc_agent.agent.events import AgentEvent
from rpc_agent.conversation.models import Model
from rpc_agent.session.entries import Entry

CompactionReason = Literal["manual", "threshold", "overflow"]
CompactionStatus = Literal["completed", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class EntryAppended:
    entry: Entry


@dataclass(frozen=True, slots=True)
class LeafChanged:
    """The leaf moved by other means than an append: navigation, fork, undo."""

    leaf_id: str | None
    previous_leaf_id: str | None


@dataclass(frozen=True, slots=True)
class QueueUpdate:
    """The texts that wait, after a change."""

    steering: Sequence[str]
    follow_up: Sequence[str]


@dataclass(frozen=True, slots=True)
class SessionInfoChanged:
    name: str | None


@dataclass(frozen=True, slots=True)
class ModelChanged:
    """`window` is the one in force, which refusals may have taught."""

    model: Model
    window: int


@dataclass(frozen=True, slots=True)
class ThinkingLevelChanged:
    level: str


@dataclass(frozen=True, slots=True)
class ContextUsageChanged:
    """Tokens are None right after a compaction, until a model reports usage again."""

    tokens: int | None
    context_window: int
    percent: float | None


@dataclass(frozen=True, slots=True)
class CompactionStart:
    compaction_id: str
    reason: CompactionReason


@dataclass(frozen=True, slots=True)
class CompactionProgress:
    compaction_id: str
    phase: str
    chunk: int | None = None
    chunks: int | None = None
    received_chars: int | None = None


@dataclass(frozen=True, slots=True)
class CompactionEnd:
    compaction_id: str
    reason: CompactionReason
    status: CompactionStatus
    will_retry: bool
    result: Mapping[str, Any] | None = None
    error_message: str | None = None


@dataclass(frozen=True, slots=True)
class BranchSummaryStart:
    pass


@dataclass(frozen=True, slots=True)
class BranchSummaryEnd:
    aborted: bool
    summary_entry: Entry | None = None
    error_message: str | None = None


@dataclass(frozen=True, slots=True)
class AutoRetryStart:
    attempt: int
    max_attempts: int
    delay_ms: int
    error_message: str


@dataclass(frozen=True, slots=True)
class AutoRetryEnd:
    success: bool
    attempt: int
    final_error: str | None = None


@dataclass(frozen=True, slots=True)
class SummarizationRetryScheduled:
    attempt: int
    max_attempts: int
    delay_ms: int
    error_message: str
    compaction_id: str | None = None
    """None: a branch summary."""


@dataclass(frozen=True, slots=True)
class SummarizationRetryAttemptStart:
    attempt: int
    compaction_id: str | None = None


@dataclass(frozen=True, slots=True)
class SummarizationRetryFinished:
    success: bool
    attempt: int
    compaction_id: str | None = None


@dataclass(frozen=True, slots=True)
class BashExecutionUpdate:
    delta: str
    request_id: str | int | float | None = None


@dataclass(frozen=True, slots=True)
class ContextWarning:
    kind: Literal["silentTruncation", "unreachableThreshold", "limitLearned"]
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ExtensionError:
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
