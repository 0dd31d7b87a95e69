"""Every RPC method the server offers, one row each. Dispatch, contract, clients and tests read this table."""

from collections.abc import Mapping
from functools import partial

from rpc_agent.protocol import compaction, handshake, history, models, runs, sessions, settings, tree
from rpc_agent.protocol.method import ClientNotification, Method
from rpc_agent.protocol.wire_model import Empty, NoParams, SessionParams, SessionResult

_in_order = partial(Method, ordering="in-order", scope="session")
_alongside = partial(Method, ordering="alongside", scope="session")
_connection = partial(Method, ordering="connection", scope="connection")
_anytime = partial(Method, ordering="alongside", scope="connection")

_CAN_WRITE = ("sessionReadOnly", "storageFailed")
_CAN_RUN = ("noModel", "authMissing", *_CAN_WRITE)
_CAN_OPEN = ("sessionNotFound", "sessionLocked", "sessionUnreadable", "storageFailed")

MAIN_JOB = (
    _connection(
        "initialize",
        handshake.InitializeParams,
        handshake.InitializeResult,
        "Say who you are and what you can do; optional, and again to replace what was said.",
    ),
    _anytime("ping", NoParams, Empty, "Answer at once."),
    _connection("shutdown", NoParams, None, "Stop everything and flush; then send the notification exit."),
    _connection(
        "new_session",
        sessions.NewSessionParams,
        sessions.State,
        "Make a session, which becomes the current one.",
        positional=("cwd", "name"),
        errors=("modelNotFound", "storageFailed"),
    ),
    _connection(
        "open_session",
        sessions.OpenSessionParams,
        sessions.OpenedState,
        "Open a session file, which becomes the current session; opened twice it is the same live session.",
        errors=_CAN_OPEN,
    ),
    _in_order(
        "close_session",
        SessionParams,
        SessionResult,
        "Stop what the session does, flush it and let go of its file.",
        errors=("storageFailed",),
    ),
    _alongside("get_state", SessionParams, sessions.State, "What the session is doing."),
    _alongside("get_messages", SessionParams, history.MessagesResult, "The messages that the model is shown."),
    _alongside(
        "get_context", SessionParams, history.ContextResult, "The same with entries and tokens: what fills the window."
    ),
    _alongside(
        "get_entries",
        history.GetEntriesParams,
        history.EntriesResult,
        "Entries of all branches in the order of the file, by pages.",
        positional=("since", "limit"),
        errors=("entryNotFound",),
    ),
    _alongside(
        "get_tree",
        history.GetTreeParams,
        history.FlatTree | history.NestedTree,
        "The session's tree, as a list or nested.",
        errors=("entryNotFound",),
    ),
    _in_order(
        "prompt",
        runs.PromptParams,
        runs.PromptResult,
        "Say something to the model. The answer comes when the message is accepted, or with `wait` when it is done.",
        positional=("message", "images"),
        errors=("sessionBusy", "leafMoved", *_CAN_RUN),
    ),
    _alongside(
        "abort",
        SessionParams,
        SessionResult,
        "Stop the run, its tools, its retries and any compaction; answers when the session is idle.",
    ),
    _alongside("wait_for_idle", SessionParams, runs.IdleResult, "Answer when nothing is going on any more."),
    _in_order(
        "compact",
        compaction.CompactParams,
        compaction.CompactionResult,
        "Summarise the older part of the conversation; a run is aborted first.",
        positional=("customInstructions",),
        errors=(
            "nothingToCompact",
            "alreadyCompacted",
            "compactionCancelled",
            "compactionFailed",
            "leafMoved",
            "sessionBusy",
            *_CAN_RUN,
        ),
    ),
    _alongside(
        "abort_compaction",
        SessionParams,
        compaction.AbortedResult,
        "Stop a compaction; answers after its compaction_end.",
    ),
    _in_order(
        "navigate_tree",
        tree.NavigateTreeParams,
        tree.NavigationResult,
        "Go to another place of the tree, and summarise the branch that is left when asked to.",
        positional=("targetId",),
        errors=(
            "sessionBusy",
            "entryNotFound",
            "leafMoved",
            "branchSummaryCancelled",
            "branchSummaryFailed",
            *_CAN_RUN,
        ),
    ),
    _in_order(
        "set_model",
        models.SetModelParams,
        models.ModelResult,
        "Choose the model that answers from here on.",
        positional=("provider", "modelId"),
        errors=("modelNotFound", "authMissing", *_CAN_WRITE),
    ),
    _alongside("get_available_models", SessionParams, models.ModelsResult, "The models that can be chosen."),
)

SESSIONS = (
    _in_order(
        "delete_session",
        sessions.DeleteSessionParams,
        SessionResult,
        "Delete a session's file; only one in a sessions directory that nobody else has open.",
        errors=("sessionLocked", "sessionUnreadable", "storageFailed"),
    ),
    _anytime(
        "list_sessions",
        sessions.ListSessionsParams,
        sessions.SessionList,
        "Session files, the one changed last first, by pages.",
        errors=("storageFailed",),
    ),
    _in_order(
        "fork_session",
        sessions.EntryParams,
        sessions.ForkedState,
        "Make a session of everything before a user message; it becomes the current one.",
        positional=("entryId",),
        errors=("entryNotFound", "notEditable", "storageFailed"),
    ),
    _in_order(
        "clone_session",
        SessionParams,
        sessions.State,
        "Make a session of the active branch; it becomes the current one.",
        errors=("storageFailed",),
    ),
    _in_order(
        "set_session_name",
        sessions.SetSessionNameParams,
        SessionResult,
        "Name the session, or take its name away.",
        positional=("name",),
        errors=_CAN_WRITE,
    ),
    _alongside(
        "get_session_stats", SessionParams, history.SessionStats, "Counts, tokens and cost of the whole session."
    ),
    _alongside(
        "get_entry",
        sessions.EntryParams,
        history.EntryResult,
        "One entry as it stands in the file.",
        positional=("entryId",),
        errors=("entryNotFound",),
    ),
    _alongside(
        "get_fork_messages",
        SessionParams,
        history.ForkMessagesResult,
        "The user messages where the session can be forked.",
    ),
    _alongside("get_last_assistant_text", SessionParams, history.LastAssistantTextResult, "What the model said last."),
    _in_order(
        "set_label",
        history.SetLabelParams,
        history.EntryIdResult,
        "Give an entry a name, or take it away.",
        positional=("entryId", "label"),
        errors=("entryNotFound", *_CAN_WRITE),
    ),
    _in_order(
        "edit_context",
        history.EditContextParams,
        history.EntryIdResult,
        "Show the model an entry differently, or not at all.",
        positional=("targetId", "replacement"),
        errors=("entryNotFound", "entryNotOnBranch", "notEditable", *_CAN_WRITE),
    ),
    _alongside(
        "export_session",
        history.ExportSessionParams,
        history.ExportedFile | history.ExportedText,
        "The session as HTML, Markdown or JSONL, for people and other programs.",
        positional=("format", "outputPath"),
        errors=("storageFailed",),
    ),
    _alongside(
        "get_events",
        history.GetEventsParams,
        history.EventsResult,
        "Notifications once more, after a reload of the client.",
        positional=("since", "limit"),
    ),
)

CONTROL = (
    _alongside(
        "steer",
        runs.MessageParams,
        runs.QueuedResult,
        "Say something that the model hears after its current tools.",
        positional=("message", "images"),
        errors=_CAN_RUN,
    ),
    _alongside(
        "follow_up",
        runs.MessageParams,
        runs.QueuedResult,
        "Say something that the model hears when the run would stop.",
        positional=("message", "images"),
        errors=_CAN_RUN,
    ),
    _alongside("clear_queue", SessionParams, runs.ClearedQueue, "Take back the messages that wait."),
    _alongside("get_queue", SessionParams, runs.QueueResult, "The messages that wait."),
    _in_order(
        "set_steering_mode",
        runs.SetQueueModeParams,
        SessionResult,
        "How many steering messages are delivered at once.",
        positional=("mode",),
    ),
    _in_order(
        "set_follow_up_mode",
        runs.SetQueueModeParams,
        SessionResult,
        "How many follow-up messages are delivered at once.",
        positional=("mode",),
    ),
    _in_order(
        "continue_run",
        SessionParams,
        runs.RunStarted,
        "Go on after an error or an abort, without a new message.",
        errors=("sessionBusy", *_CAN_RUN),
    ),
    _alongside(
        "bash",
        runs.BashParams,
        runs.BashResult,
        "Run a command of the user's; the model is shown it with the next message.",
        positional=("command",),
        errors=_CAN_WRITE,
    ),
    _alongside("abort_bash", SessionParams, SessionResult, "Stop the user's commands."),
    _alongside(
        "abort_retry", SessionParams, SessionResult, "End the wait for the next try; the run ends with the error."
    ),
    _in_order(
        "set_auto_retry",
        runs.EnabledParams,
        SessionResult,
        "Whether a failed model call is tried again.",
        positional=("enabled",),
    ),
)

COMPACTION = (
    _alongside(
        "preview_compaction",
        compaction.PreviewCompactionParams,
        compaction.CompactionPreview,
        "What compact would do now; writes nothing, asks no model.",
        positional=("keepRecentTokens",),
        errors=("nothingToCompact", "alreadyCompacted", "noModel", "authMissing"),
    ),
    _in_order(
        "undo_compaction",
        compaction.UndoCompactionParams,
        compaction.UndoneResult,
        "Go back to the context as it was before a compaction.",
        positional=("entryId",),
        errors=("sessionBusy", "nothingToCompact", "entryNotFound", "entryNotOnBranch", *_CAN_WRITE),
    ),
    _in_order(
        "set_auto_compaction",
        runs.EnabledParams,
        SessionResult,
        "Whether the server compacts by itself.",
        positional=("enabled",),
    ),
    _alongside(
        "abort_branch_summary",
        SessionParams,
        compaction.AbortedResult,
        "Stop a branch summary; everything stays as it was.",
    ),
)

MODELS = (
    _in_order("cycle_model", SessionParams, models.CycledModelResult, "Choose the next model.", errors=_CAN_WRITE),
    _in_order(
        "set_thinking_level",
        models.SetThinkingLevelParams,
        models.ThinkingLevelResult,
        "Choose how much the model thinks.",
        positional=("level",),
        errors=_CAN_WRITE,
    ),
    _in_order(
        "cycle_thinking_level",
        SessionParams,
        models.CycledThinkingLevelResult,
        "Choose the next thinking level.",
        errors=_CAN_WRITE,
    ),
    _alongside(
        "get_available_thinking_levels",
        SessionParams,
        models.ThinkingLevelsResult,
        "The thinking levels of the current model.",
    ),
    _alongside(
        "get_settings", SessionParams, settings.SettingsResult, "The settings in force, and where each came from."
    ),
    _in_order(
        "update_settings",
        settings.UpdateSettingsParams,
        settings.SettingsResult,
        "Change settings for this session, the user or the project.",
        errors=("storageFailed",),
    ),
    _in_order(
        "set_permissions",
        settings.SetPermissionsParams,
        SessionResult,
        "What this session's tools may do without asking.",
        positional=("mode",),
        errors=("notSupportedByClient",),
    ),
    _connection(
        "trust_project",
        settings.TrustProjectParams,
        Empty,
        "Whether a project's own configuration is read.",
        positional=("cwd", "trusted"),
        errors=("storageFailed",),
    ),
    _alongside("get_commands", SessionParams, settings.CommandsResult, 'What can be started by "/name" in a prompt.'),
)

METHODS: Mapping[str, Method] = {row.name: row for row in MAIN_JOB + SESSIONS + CONTROL + COMPACTION + MODELS}

CLIENT_NOTIFICATIONS: Mapping[str, ClientNotification] = {
    row.name: row
    for row in (
        ClientNotification("initialized", NoParams, "The handshake is over. Nothing depends on it."),
        ClientNotification("exit", NoParams, "End the process: exit code 0 after shutdown, else 1."),
        ClientNotification(
            "$/cancelRequest",
            handshake.CancelRequestParams,
            "Cancel a running request; its answer still comes, as its own cancelled form or requestCancelled.",
        ),
        ClientNotification(
            "$/cancel_request", handshake.CancelRequestIdParams, "The same as $/cancelRequest, as ACP spells it."
        ),
    )
}
"""Notifications that the server takes; any other is ignored."""
