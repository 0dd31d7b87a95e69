"""Every notification the server sends about a session, one row each."""

from collections.abc import Mapping

from msgspec import Struct

from rpc_agent.protocol import run_events as run
from rpc_agent.protocol import session_events as session


class Notification(Struct, frozen=True):
    """One row. `params` is a TypedDict; the first line of its docstring is the published summary."""

    name: str
    params: type
    since: int = 1

    @property
    def summary(self) -> str:
        return (self.params.__doc__ or "").strip()


_ROWS = (
    Notification("agent_start", run.AgentStart),
    Notification("agent_end", run.AgentEnd),
    Notification("agent_settled", run.AgentSettled),
    Notification("turn_start", run.TurnStart),
    Notification("turn_end", run.TurnEnd),
    Notification("message_start", run.MessageStart),
    Notification("message_update", run.MessageUpdate),
    Notification("message_end", run.MessageEnd),
    Notification("tool_execution_start", run.ToolExecutionStart),
    Notification("tool_execution_update", run.ToolExecutionUpdate),
    Notification("tool_execution_end", run.ToolExecutionEnd),
    Notification("queue_update", run.QueueUpdate),
    Notification("entry_appended", session.EntryAppended),
    Notification("leaf_changed", session.LeafChanged),
    Notification("session_info_changed", session.SessionInfoChanged),
    Notification("model_changed", session.ModelChanged),
    Notification("thinking_level_changed", session.ThinkingLevelChanged),
    Notification("context_usage_changed", session.ContextUsageChanged),
    Notification("compaction_start", session.CompactionStart),
    Notification("compaction_progress", session.CompactionProgress),
    Notification("compaction_end", session.CompactionEnd),
    Notification("branch_summary_start", session.BranchSummaryStart),
    Notification("branch_summary_end", session.BranchSummaryEnd),
    Notification("auto_retry_start", run.AutoRetryStart),
    Notification("auto_retry_end", run.AutoRetryEnd),
    Notification("summarization_retry_scheduled", session.SummarizationRetryScheduled),
    Notification("summarization_retry_attempt_start", session.SummarizationRetryAttemptStart),
    Notification("summarization_retry_finished", session.SummarizationRetryFinished),
    Notification("bash_execution_update", session.BashExecutionUpdate),
    Notification("context_warning", session.ContextWarning),
    Notification("extension_error", session.ExtensionError),
)

NOTIFICATIONS: Mapping[str, Notification] = {row.name: row for row in _ROWS}
