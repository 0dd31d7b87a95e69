"""
Everything rpc-agent raises on purpose:

* RpcAgentError
  - RequestError                the caller asked for something that cannot be done
    . InvalidValue              a parameter or a setting has a value it cannot have
    . SessionNotFound
    . SessionBusy
    . SessionLocked             another process writes this session
    . SessionUnreadable
    . SessionReadOnly
    . EntryNotFound
    . EntryNotOnBranch
    . NotEditable
    . LeafMoved                 the leaf is not where the caller believed it to be
    . NothingToCompact
    . AlreadyCompacted
    . ModelNotFound
    . NoModel
    . AuthMissing
    . NotSupportedByClient
    . ShuttingDown
  - SettingsError               a configuration file holds a bad value
  - StorageFailed               the disk refused
  - CompactionCancelled
  - CompactionFailed
  - BranchSummaryCancelled
  - BranchSummaryFailed
  - ProviderError               the model's service failed
    . ContextOverflow           the input does not fit the model's window

Codes are not here: they are the wire's, and only `server` knows the wire.
"""


class RpcAgentError(Exception):
    """Base of every error raised on purpose. Message and `details` are safe to show to a client."""

    def __init__(self, message: str, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.details = details


class RequestError(RpcAgentError):
    """The caller asked for something that cannot be done."""


class InvalidValue(RequestError):
    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}", errors=[{"path": path, "message": message}])


class SessionNotFound(RequestError): ...


class SessionBusy(RequestError): ...


class SessionLocked(RequestError): ...


class SessionUnreadable(RequestError): ...


class SessionReadOnly(RequestError): ...


class EntryNotFound(RequestError):
    def __init__(self, entry_id: str) -> None:
        super().__init__(f"this session has no entry {entry_id!r}", entryId=entry_id)


class EntryNotOnBranch(RequestError):
    def __init__(self, entry_id: str) -> None:
        super().__init__(f"entry {entry_id!r} is not on the active branch", entryId=entry_id)


class NotEditable(RequestError): ...


class LeafMoved(RequestError): ...


class NothingToCompact(RequestError): ...


class AlreadyCompacted(RequestError): ...


class ModelNotFound(RequestError): ...


class NoModel(RequestError): ...


class AuthMissing(RequestError): ...


class NotSupportedByClient(RequestError): ...


class ShuttingDown(RequestError): ...


class SettingsError(RpcAgentError):
    """`field` is the dotted name of the setting, `file` the path it was read from."""

    def __init__(self, message: str, *, field: str, file: str) -> None:
        super().__init__(f"{file}: {field}: {message}", field=field, file=file)


class StorageFailed(RpcAgentError):
    """`errno` and `path` are those of the system's refusal."""


class CompactionCancelled(RpcAgentError): ...


class CompactionFailed(RpcAgentError): ...


class BranchSummaryCancelled(RpcAgentError): ...


class BranchSummaryFailed(RpcAgentError): ...


class ProviderError(RpcAgentError):
    """The model's service failed; what it said is in the message, keys taken out."""


class ContextOverflow(ProviderError): ...
