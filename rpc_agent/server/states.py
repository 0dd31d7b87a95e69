"""Engine values -> wire objects that several methods answer with."""

from collections.abc import Mapping
from typing import Any

from rpc_agent.runtime.live_session import LiveSession
from rpc_agent.runtime.model_context import ContextUsage
from rpc_agent.runtime.session_parts import SessionState
from rpc_agent.server.session_feed import SessionFeed


def state_to_wire(session: LiveSession, feed: SessionFeed) -> Mapping[str, Any]:
    """The protocol's State. Clients ask for it far more often than it changes, so the last one is kept."""
    state, seq = session.state(), feed.last_seq
    if feed.last_state is None or feed.last_state[:2] != (state, seq):
        feed.last_state = (state, seq, _state_to_wire(state, seq))
    return feed.last_state[2]


def _state_to_wire(state: SessionState, seq: int) -> Mapping[str, Any]:
    usage = state.context_usage
    optional = {
        "sessionFile": str(state.session_file) if state.session_file else None,
        "sessionName": state.session_name,
        "model": state.model.to_json(usage.context_window if usage else 0) if state.model else None,
        "contextUsage": usage_to_wire(usage) if usage else None,
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
        "lastSeq": seq,
        "readOnly": state.read_only,
        "permissions": state.permissions,
        **{name: value for name, value in optional.items() if value is not None},
    }


def usage_to_wire(usage: ContextUsage) -> dict[str, Any]:
    return {"tokens": usage.tokens, "contextWindow": usage.context_window, "percent": usage.percent}
