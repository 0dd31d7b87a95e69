"""The only place where an engine event becomes a wire notification. Pure: name and fields, no sequence number.

The type checker fails here when an event is added.
"""

from collections.abc import Mapping
from typing import Any, assert_never

from rpc_agent.agent.events import (
    AgentEnd,
    AgentSettled,
    AgentStart,
    MessageEnd,
    MessageStart,
    MessageUpdate,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    TurnEnd,
    TurnStart,
)
from rpc_agent.providers.assembly import BlockDelta, BlockEnded, BlockStarted, BlockUpdate
from rpc_agent.runtime.events import (
    AutoRetryEnd,
    AutoRetryStart,
    BashExecutionUpdate,
    BranchSummaryEnd,
    BranchSummaryStart,
    ChangeEvent,
    CompactionEnd,
    CompactionProgress,
    CompactionStart,
    ContextUsageChanged,
    ContextWarning,
    EntryAppended,
    ExtensionError,
    LeafChanged,
    ModelChanged,
    QueueUpdate,
    RecoveryEvent,
    SessionEvent,
    SessionInfoChanged,
    SummarizationRetryAttemptStart,
    SummarizationRetryFinished,
    SummarizationRetryScheduled,
    ThinkingLevelChanged,
)
from rpc_agent.tools.base import ToolResult

Fields = dict[str, Any]
_BLOCK_NAMES = {"text": "text", "thinking": "thinking", "toolCall": "toolcall"}


def to_notification(event: SessionEvent) -> tuple[str, Fields]:
    """The notification's name and its fields; the sender adds sessionId, seq and, within a run, runId."""
    match event:
        case AgentStart():
            return "agent_start", {}
        case AgentEnd(messages, will_retry):
            return "agent_end", {"messages": list(messages), "willRetry": will_retry}
        case AgentSettled(aborted, stop_reason):
            return "agent_settled", {"aborted": aborted, "stopReason": stop_reason}
        case TurnStart():
            return "turn_start", {}
        case TurnEnd(message, tool_results):
            return "turn_end", {"message": message, "toolResults": list(tool_results)}
        case MessageStart(message):
            return "message_start", {"message": message}
        case MessageUpdate(update, usage):
            return "message_update", {"usage": usage, "assistantMessageEvent": block_event(update)}
        case MessageEnd(message, entry_id):
            return "message_end", {"message": message, "entryId": entry_id}
        case ToolExecutionStart(tool_call_id, tool_name, args):
            return "tool_execution_start", _call(tool_call_id, tool_name, args)
        case ToolExecutionUpdate(tool_call_id, tool_name, args, partial):
            return "tool_execution_update", {**_call(tool_call_id, tool_name, args), "partialResult": _result(partial)}
        case ToolExecutionEnd(tool_call_id, tool_name, result, duration_ms):
            return "tool_execution_end", {
                "toolCallId": tool_call_id,
                "toolName": tool_name,
                "result": _result(result),
                "isError": result.is_error,
                "durationMs": duration_ms,
            }
        case _:
            return _to_notification_beside_runs(event)


def _to_notification_beside_runs(event: ChangeEvent | RecoveryEvent) -> tuple[str, Fields]:
    return _change_notification(event) if isinstance(event, ChangeEvent) else _recovery_notification(event)


def _change_notification(event: ChangeEvent) -> tuple[str, Fields]:
    match event:
        case EntryAppended(entry):
            return "entry_appended", {"entry": entry.raw}
        case LeafChanged(leaf_id, previous_leaf_id):
            return "leaf_changed", {"leafId": leaf_id, "previousLeafId": previous_leaf_id}
        case QueueUpdate(steering, follow_up):
            return "queue_update", {"steering": list(steering), "followUp": list(follow_up)}
        case SessionInfoChanged(name):
            return "session_info_changed", _present(name=name)
        case ModelChanged(model, window):
            return "model_changed", {"model": model.to_json(window)}
        case ThinkingLevelChanged(level):
            return "thinking_level_changed", {"level": level}
        case ContextUsageChanged(tokens, context_window, percent):
            return "context_usage_changed", {"tokens": tokens, "contextWindow": context_window, "percent": percent}
        case BashExecutionUpdate(delta, request_id):
            return "bash_execution_update", {"delta": delta, **_present(requestId=request_id)}
        case ContextWarning(kind, fields):
            return "context_warning", {"kind": kind, **fields}
        case ExtensionError(extension, hook, error):
            return "extension_error", {"extension": extension, "hook": hook, "error": error}
        case _:
            assert_never(event)


def _recovery_notification(event: RecoveryEvent) -> tuple[str, Fields]:
    match event:
        case CompactionStart(compaction_id, reason):
            return "compaction_start", {"compactionId": compaction_id, "reason": reason}
        case CompactionProgress(compaction_id, phase, chunk, chunks, received):
            counts = _present(chunk=chunk, chunks=chunks, receivedChars=received)
            return "compaction_progress", {"compactionId": compaction_id, "phase": phase, **counts}
        case CompactionEnd():
            return "compaction_end", _compaction_end(event)
        case BranchSummaryStart():
            return "branch_summary_start", {}
        case BranchSummaryEnd(aborted, summary_entry, error_message):
            entry = summary_entry.raw if summary_entry else None
            return "branch_summary_end", {
                "aborted": aborted,
                **_present(summaryEntry=entry, errorMessage=error_message),
            }
        case AutoRetryStart(attempt, max_attempts, delay_ms, message):
            return "auto_retry_start", _retry(attempt, max_attempts, delay_ms, message)
        case AutoRetryEnd(success, attempt, final_error):
            return "auto_retry_end", {"success": success, "attempt": attempt, **_present(finalError=final_error)}
        case SummarizationRetryScheduled(attempt, max_attempts, delay_ms, message, compaction_id):
            retry = _retry(attempt, max_attempts, delay_ms, message)
            return "summarization_retry_scheduled", {**retry, **_present(compactionId=compaction_id)}
        case SummarizationRetryAttemptStart(attempt, compaction_id):
            return "summarization_retry_attempt_start", {"attempt": attempt, **_present(compactionId=compaction_id)}
        case SummarizationRetryFinished(success, attempt, compaction_id):
            finished = {"success": success, "attempt": attempt}
            return "summarization_retry_finished", {**finished, **_present(compactionId=compaction_id)}
        case _:
            assert_never(event)


def block_event(update: BlockUpdate) -> Fields:
    """The assistantMessageEvent of a piece of an answer."""
    match update:
        case BlockStarted():
            name = _BLOCK_NAMES[update.kind]
            call = {"id": update.id, "toolName": update.name} if update.kind == "toolCall" else {}
            return {"type": f"{name}_start", "contentIndex": update.index, **call}
        case BlockDelta():
            return {"type": f"{_BLOCK_NAMES[update.kind]}_delta", "contentIndex": update.index, "delta": update.delta}
        case BlockEnded():
            block = update.block
            name = _BLOCK_NAMES[block["type"]]
            if block["type"] == "toolCall":
                return {"type": f"{name}_end", "contentIndex": update.index, "toolCall": block}
            content = block["text"] if block["type"] == "text" else block["thinking"]
            return {"type": f"{name}_end", "contentIndex": update.index, "content": content}
        case _:
            assert_never(update)


def _result(result: ToolResult) -> Fields:
    return {"content": list(result.content), **_present(details=result.details)}


def _call(tool_call_id: str, tool_name: str, args: Mapping[str, Any]) -> Fields:
    return {"toolCallId": tool_call_id, "toolName": tool_name, "args": dict(args)}


def _retry(attempt: int, max_attempts: int, delay_ms: int, message: str) -> Fields:
    return {"attempt": attempt, "maxAttempts": max_attempts, "delayMs": delay_ms, "errorMessage": message}


def _compaction_end(event: CompactionEnd) -> Fields:
    return {
        "compactionId": event.compaction_id,
        "reason": event.reason,
        "status": event.status,
        "aborted": event.status == "cancelled",
        "willRetry": event.will_retry,
        **_present(result=event.result, errorMessage=event.error_message),
    }


def _present(**fields: object) -> Fields:
    """The fields that have a value: an absent field is left out, never null."""
    return {name: value for name, value in fields.items() if value is not None}
