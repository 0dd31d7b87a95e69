"""Engine errors -> wire errors: one table, most specific first. The engine itself knows no codes."""

from rpc_agent import errors
from rpc_agent.providers.base import ModelCallFailed

WIRE_ERRORS: tuple[tuple[type[errors.RpcAgentError], int, str], ...] = (
    (errors.InvalidValue, -32602, "invalidParams"),
    (errors.SettingsError, -32602, "invalidParams"),
    (errors.SessionNotFound, -32010, "sessionNotFound"),
    (errors.SessionBusy, -32011, "sessionBusy"),
    (errors.SessionLocked, -32012, "sessionLocked"),
    (errors.SessionUnreadable, -32013, "sessionUnreadable"),
    (errors.EntryNotFound, -32014, "entryNotFound"),
    (errors.EntryNotOnBranch, -32015, "entryNotOnBranch"),
    (errors.NotEditable, -32016, "notEditable"),
    (errors.LeafMoved, -32017, "leafMoved"),
    (errors.SessionReadOnly, -32018, "sessionReadOnly"),
    (errors.StorageFailed, -32019, "storageFailed"),
    (errors.NothingToCompact, -32020, "nothingToCompact"),
    (errors.AlreadyCompacted, -32021, "alreadyCompacted"),
    (errors.CompactionCancelled, -32022, "compactionCancelled"),
    (errors.CompactionFailed, -32023, "compactionFailed"),
    (errors.BranchSummaryCancelled, -32024, "branchSummaryCancelled"),
    (errors.BranchSummaryFailed, -32025, "branchSummaryFailed"),
    (errors.ModelNotFound, -32030, "modelNotFound"),
    (errors.NoModel, -32031, "noModel"),
    (errors.AuthMissing, -32032, "authMissing"),
    (errors.ContextOverflow, -32034, "contextOverflow"),
    (errors.ProviderError, -32033, "providerFailed"),
    (errors.NotSupportedByClient, -32040, "notSupportedByClient"),
    (errors.ShuttingDown, -32051, "shuttingDown"),
)

CODES = {reason: code for _, code, reason in WIRE_ERRORS} | {"internalError": -32603}
"""By reason."""


def wire_code(error: errors.RpcAgentError) -> tuple[int, str]:
    """Code and reason; an error that nobody placed is internal, and says so."""
    for kind, code, reason in WIRE_ERRORS:
        if isinstance(error, kind):
            return code, reason
    return CODES["internalError"], "internalError"


def failure_code(failure: ModelCallFailed) -> tuple[int, str]:
    """How a failed model call is named inside a result: an accepted prompt never becomes an error."""
    reason = "contextOverflow" if failure.kind == "overflow" else "providerFailed"
    return CODES[reason], reason
