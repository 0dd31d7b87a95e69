"""The errors of JSON-RPC itself: codes, stable reasons, texts. Refuses to know the errors of any method.

`data` is always an object with a `reason`, the word a program may rely on; the message is for people.
"""

from collections.abc import Iterable, Mapping
from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
REQUEST_CANCELLED = -32800
OVERLOADED = -32050
SHUTTING_DOWN = -32051

_RETRY_AFTER_MS = 100
# Long enough for a busy server to finish something, short enough that nobody notices the pause.

_NAME_LIMIT = 200
# No real method name is longer; comparing names is quadratic, and a hostile name may have megabytes.


class RpcError(Exception):
    """An error meant for the other side: `code`, `message` and `data` cross the wire as they are."""

    def __init__(self, code: int, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def to_object(self) -> dict[str, Any]:
        """The error object of a response: {code, message, data?}."""
        fields: dict[str, Any] = {"code": self.code, "message": self.message}
        return fields if self.data is None else {**fields, "data": dict(self.data)}


class Disconnected(ConnectionError):
    """The other side can no longer answer: it ended its output, hung up, or this side closed."""


def parse_error(problem: str) -> RpcError:
    return RpcError(PARSE_ERROR, f"Parse error: {problem}", {"reason": "parseError"})


def invalid_request(problem: str) -> RpcError:
    return RpcError(INVALID_REQUEST, f"Invalid request: {problem}", {"reason": "invalidRequest"})


def message_too_large(limit: int) -> RpcError:
    message = f"Message too large: this server reads at most {limit} bytes a message; it was skipped"
    return RpcError(INVALID_REQUEST, message, {"reason": "messageTooLarge", "maxMessageBytes": limit})


def method_not_found(method: str, known: Iterable[str]) -> RpcError:
    """`data.didYouMean` is there only when a known name is close."""
    shown = method if len(method) <= _NAME_LIMIT else method[:_NAME_LIMIT] + "…"
    data = {"reason": "methodNotFound", "method": shown}
    message = f"Method not found: {shown}"
    if near := _nearest(method, known):
        return RpcError(METHOD_NOT_FOUND, f"{message}; did you mean {near}?", {**data, "didYouMean": near})
    return RpcError(METHOD_NOT_FOUND, message, data)


def invalid_params(path: str, problem: str) -> RpcError:
    """`path` is the dotted place inside params, "" for params as a whole."""
    where = f"params.{path}" if path else "params"
    data = {"reason": "invalidParams", "errors": [{"path": path, "message": problem}]}
    return RpcError(INVALID_PARAMS, f"Invalid params: {where}: {problem}", data)


def internal_error() -> RpcError:
    """Says nothing of our insides; whoever makes one logs the cause."""
    return RpcError(INTERNAL_ERROR, "Internal error: see the server's stderr", {"reason": "internalError"})


def request_cancelled() -> RpcError:
    return RpcError(REQUEST_CANCELLED, "Request cancelled", {"reason": "requestCancelled"})


def overloaded(max_in_flight: int) -> RpcError:
    message = f"Overloaded: {max_in_flight} requests are in flight; try again later"
    return RpcError(OVERLOADED, message, {"reason": "overloaded", "retryAfterMs": _RETRY_AFTER_MS})


def shutting_down() -> RpcError:
    return RpcError(SHUTTING_DOWN, "Shutting down: the request was given up", {"reason": "shuttingDown"})


def _nearest(method: str, known: Iterable[str]) -> str | None:
    if len(method) > _NAME_LIMIT:
        return None
    import difflib  # noqa: PLC0415 - 6 ms that the path to the first answer does not need

    return next(iter(difflib.get_close_matches(method, list(known), n=1)), None)
