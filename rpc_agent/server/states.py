"""Engine values -> wire objects that several methods answer with."""

from typing import Any

from rpc_agent.runtime.live_session import LiveSession
from rpc_agent.runtime.model_context import ContextUsage
from rpc_agent.runtime.session_parts import SessionState
from rpc_agent.server.session_feed import SessionFeed


def state_to_wire(session: LiveSession, feed: SessionFeed) -> dict[str, Any]:
    """The protocol's State."""
    state = session.state()
    optional = {
        "sessionFile": str(state.session_file) if state.session_file else None,
        "sessionName": state.session_name,
        "model": _model_to_wire(state),
        "contextUsage": usage_to_wire(state.context_usage) if state.context_usage else None,
    }
    return {
        "sessionId": state.session_id,
        "streamId": state.stream_id,
        "cwd": str(state.cwd),
        "leafId": state.leaf_id,
        "thinkingLevel": state.thinking_level,
        "isStreaming": state.is_streaming,
        "isCompacting": state.is_compacting,
        "isNavigating": state.is_navigating,
        "steeringMode": state.steering_mode,
        "followUpMode": state.follow_up_mode,
        "autoCompactionEnabled": state.auto_compaction_enabled,
        "autoRetryEnabled": state.auto_retry_enabled,
        "messageCount": state.message_count,
        "pendingMessageCount": state.pending_message_count,
        "lastSeq": feed.last_seq,
        "readOnly": state.read_only,
        "permissions": state.permissions,
        **{name: value for name, value in optional.items() if value is not None},
    }


def _model_to_wire(state: SessionState) -> dict[str, Any] | None:
    usage = state.context_usage
    return None if state.model is None else state.model.to_json(usage.context_window if usage else 0)


def usage_to_wire(usage: ContextUsage) -> dict[str, Any]:
    return {"tokens": usage.tokens, "contextWindow": usage.context_window, "percent": usage.percent}
