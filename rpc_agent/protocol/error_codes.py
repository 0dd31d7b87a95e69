"""Every error the server answers with: code, reason, and what a client should do. Data only; pydantic is not needed.

`error.data` is {"reason": ..., and the fields named here}. Programs decide by `reason`; `message` is for people.
"""

from collections.abc import Mapping

from msgspec import Struct, field


class ErrorCode(Struct, frozen=True):
    """One row. `data` maps further fields of error.data to their descriptions; a name ending in ? may be absent."""

    code: int
    reason: str
    when: str
    action: str
    data: Mapping[str, str] = field(default_factory=dict)
    retryable: bool = False
    """True: the same request can succeed later without anybody changing anything."""


_ROWS = (
    ErrorCode(
        -32700,
        "parseError",
        "The message is not UTF-8 or not JSON. The id is null; reading goes on at the next message.",
        "Mend the sender. NaN, invalid UTF-8, half a message and very deep nesting count as not JSON.",
    ),
    ErrorCode(
        -32600,
        "invalidRequest",
        "It is JSON, but not a JSON-RPC 2.0 message.",
        "Mend the sender. The id is null unless it could be read.",
    ),
    ErrorCode(
        -32600,
        "messageTooLarge",
        "The message is larger than limits.maxMessageBytes, and was skipped. The id is null.",
        "Send less, or start the server with a larger --max-message-bytes.",
        {"maxMessageBytes?": "the limit in bytes"},
    ),
    ErrorCode(
        -32601,
        "methodNotFound",
        "The server has no such method.",
        "Look into capabilities.methods of initialize.",
        {"method": "the name that was called", "didYouMean?": "a method with a similar name"},
    ),
    ErrorCode(
        -32602,
        "invalidParams",
        "The params do not fit the method. Nothing was done.",
        "Mend the call; `errors` names each place.",
        {"errors": "[{path, message}]; path is dotted with array indexes from 0, such as images.0.mimeType, or empty"},
    ),
    ErrorCode(
        -32603,
        "internalError",
        "Something unforeseen went wrong inside the server; what it was is in its log on stderr.",
        "Read the state again (get_state), then go on; report it with the log.",
    ),
    ErrorCode(
        -32800,
        "requestCancelled",
        "$/cancelRequest reached the request before it had begun.",
        "Nothing: this is what was asked for.",
    ),
    ErrorCode(
        -32010,
        "sessionNotFound",
        "No session has this id, or no file is at this path.",
        "Open it by open_session, or take one of list_sessions.",
        {"sessionId?": "the id that was given", "path?": "the path that was given"},
    ),
    ErrorCode(
        -32011,
        "sessionBusy",
        "The session is doing something that this call cannot run beside.",
        "Wait (wait_for_idle) or stop it (abort); for a prompt give streamingBehavior.",
        {"sessionId?": "the session"},
        retryable=True,
    ),
    ErrorCode(
        -32012,
        "sessionLocked",
        "Another process writes this session file.",
        "Open it with readOnly (and clone_session to go on in a copy), or end the other process.",
        {"pid?": "the other process, as far as known", "path?": "the session file"},
    ),
    ErrorCode(
        -32013,
        "sessionUnreadable",
        "The file has no session header. It was not touched.",
        "Check the path.",
        {"path?": "the file"},
    ),
    ErrorCode(
        -32014,
        "entryNotFound",
        "The session has no entry with this id.",
        "Read the entries again (get_entries, get_tree).",
        {"entryId": "the id that was given"},
    ),
    ErrorCode(
        -32015,
        "entryNotOnBranch",
        "The entry exists, but not on the active branch.",
        "Go to its branch first (navigate_tree).",
        {"entryId": "the id that was given"},
    ),
    ErrorCode(
        -32016,
        "notEditable",
        "An entry of this kind cannot be edited or forked from.",
        "Choose a user, assistant, toolResult or custom_message entry (to fork: a user message).",
        {"entryId?": "the id that was given"},
    ),
    ErrorCode(
        -32017,
        "leafMoved",
        "The leaf is not expectedLeafId: somebody else moved the session on. Nothing was done.",
        "Show what is new (get_entries since your leaf), then decide again.",
        {"leafId": "the leaf now, or null"},
    ),
    ErrorCode(
        -32018,
        "sessionReadOnly",
        "The session was opened read-only, or is of a later format.",
        "Open it without readOnly, or go on in a copy: clone_session.",
        {"sessionId?": "the session"},
    ),
    ErrorCode(
        -32019,
        "storageFailed",
        "The disk refused. What had been announced before is in the file; this call changed nothing.",
        "Make room or mend the permissions, then try again.",
        {"errno": "the system's error number", "path": "the file"},
        retryable=True,
    ),
    ErrorCode(
        -32020,
        "nothingToCompact",
        "Everything lies within what a compaction keeps; or there is no compaction to undo.",
        "Nothing; or give a smaller keepRecentTokens.",
        {"keepRecentTokens?": "what would be kept, in tokens"},
    ),
    ErrorCode(
        -32021,
        "alreadyCompacted",
        "Nothing was said since the last compaction.",
        "Nothing.",
    ),
    ErrorCode(
        -32022,
        "compactionCancelled",
        "The compaction was aborted, or a hook refused it. Nothing has changed.",
        "Nothing.",
    ),
    ErrorCode(
        -32023,
        "compactionFailed",
        "No usable summary could be had. Nothing has changed.",
        "Look at `cause`; try again, choose another model, or give fallback: true.",
        {"cause?": "{code, reason}: why the model failed"},
        retryable=True,
    ),
    ErrorCode(
        -32024,
        "branchSummaryCancelled",
        "The branch summary was stopped. Nothing has changed.",
        "Nothing.",
    ),
    ErrorCode(
        -32025,
        "branchSummaryFailed",
        "No usable branch summary could be had. Nothing has changed.",
        "Try again, or navigate without summarize.",
        {"cause?": "{code, reason}: why the model failed"},
        retryable=True,
    ),
    ErrorCode(
        -32030,
        "modelNotFound",
        "No model has this name.",
        "Take one of get_available_models.",
        {"provider?": "the provider that was given", "modelId?": "the id that was given"},
    ),
    ErrorCode(
        -32031,
        "noModel",
        "There is no model that could answer. The prompt was not accepted.",
        "Set a key in the server's environment, or choose a model.",
    ),
    ErrorCode(
        -32032,
        "authMissing",
        "The model needs a key that is not there. The prompt was not accepted.",
        "Set the variable named in `variable` in the server's environment and start it again.",
        {"provider?": "whose key", "variable?": "the environment variable to set"},
    ),
    ErrorCode(
        -32033,
        "providerFailed",
        "The model's service failed. Seen in a prompt's result.error and as cause of compactionFailed.",
        "Show errorMessage; continue_run tries again.",
        retryable=True,
    ),
    ErrorCode(
        -32034,
        "contextOverflow",
        "The conversation does not fit the model's window. Seen where providerFailed is.",
        "Compact, shorten the message, or choose a model with a larger window.",
    ),
    ErrorCode(
        -32040,
        "notSupportedByClient",
        "The call needs something that the client did not offer in initialize.",
        "Offer the capability, or do without.",
        {"capability?": "the capability's name"},
    ),
    ErrorCode(
        -32050,
        "overloaded",
        "More requests are unanswered than limits.maxInFlight. This one was not looked at.",
        "Send it again after retryAfterMs.",
        {"retryAfterMs": "milliseconds to wait"},
        retryable=True,
    ),
    ErrorCode(
        -32051,
        "shuttingDown",
        "The server is ending.",
        "Start a new one and open the session again.",
    ),
)

ERRORS: Mapping[str, ErrorCode] = {row.reason: row for row in _ROWS}
"""By reason. Codes are unique but for -32600, which has two reasons."""

COMMON_REASONS = (
    "invalidParams",
    "internalError",
    "requestCancelled",
    "overloaded",
    "shuttingDown",
)
"""What any method may answer, so the rows of the method table leave it out."""

SESSION_REASONS = ("sessionNotFound",)
"""What any method of a session may answer besides."""
