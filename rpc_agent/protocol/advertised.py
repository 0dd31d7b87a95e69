"""What `initialize` says the server offers, by name. Must not import pydantic: the first answer does not wait for it.

A test compares the names with the tables.
"""

PROTOCOL_VERSION = 1

_MAIN_JOB = (
    "initialize",
    "ping",
    "shutdown",
    "new_session",
    "open_session",
    "close_session",
    "get_state",
    "get_messages",
    "get_context",
    "get_entries",
    "get_tree",
    "prompt",
    "abort",
    "wait_for_idle",
    "compact",
    "abort_compaction",
    "navigate_tree",
    "set_model",
    "get_available_models",
)
_SESSIONS = (
    "delete_session",
    "list_sessions",
    "fork_session",
    "clone_session",
    "set_session_name",
    "get_session_stats",
    "get_entry",
    "get_fork_messages",
    "get_last_assistant_text",
    "set_label",
    "edit_context",
    "export_session",
    "get_events",
)
_CONTROL = (
    "steer",
    "follow_up",
    "clear_queue",
    "get_queue",
    "set_steering_mode",
    "set_follow_up_mode",
    "continue_run",
    "bash",
    "abort_bash",
    "abort_retry",
    "set_auto_retry",
)
_COMPACTION = (
    "preview_compaction",
    "undo_compaction",
    "set_auto_compaction",
    "abort_branch_summary",
)
_MODELS = (
    "cycle_model",
    "set_thinking_level",
    "cycle_thinking_level",
    "get_available_thinking_levels",
    "get_settings",
    "update_settings",
    "set_permissions",
    "trust_project",
    "get_commands",
)
METHOD_NAMES = _MAIN_JOB + _SESSIONS + _CONTROL + _COMPACTION + _MODELS

NOTIFICATION_NAMES = (
    "agent_start",
    "agent_end",
    "agent_settled",
    "turn_start",
    "turn_end",
    "message_start",
    "message_update",
    "message_end",
    "tool_execution_start",
    "tool_execution_update",
    "tool_execution_end",
    "queue_update",
    "entry_appended",
    "leaf_changed",
    "session_info_changed",
    "model_changed",
    "thinking_level_changed",
    "context_usage_changed",
    "compaction_start",
    "compaction_progress",
    "compaction_end",
    "branch_summary_start",
    "branch_summary_end",
    "auto_retry_start",
    "auto_retry_end",
    "summarization_retry_scheduled",
    "summarization_retry_attempt_start",
    "summarization_retry_finished",
    "bash_execution_update",
    "context_warning",
    "extension_error",
)

CLIENT_REQUEST_NAMES = (
    "request_permission",
    "run_hook",
    "call_tool",
    "read_file",
    "write_file",
    "ui_select",
    "ui_confirm",
    "ui_input",
    "ui_notify",
)
