"""
Everything this package raises on purpose:

* ClientError
  - RpcError             the server answered with an error
  - CannotStart          the program could not be started
  - ServerExited         the server ended while something waited for it
  - ConnectionClosed     this client was closed while something waited for it
  - ProtocolViolation    what came from the server was not JSON-RPC
  - RequestTimedOut      no answer within the caller's time limit (also a TimeoutError)
  - MessageTooLarge      the server would refuse the message unread, so it was not sent
  - FellBehind           a subscription was read too slowly and lost notifications
"""

from typing import Any


class ClientError(Exception):
    """Base of every error this package raises on purpose."""


class RpcError(ClientError):
    """An error answer. `reason` is the stable word to compare with; `code` its number; `data` all that came with it."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data: dict[str, Any] = data if isinstance(data, dict) else {}
        self.reason: str = str(self.data.get("reason", ""))

    def __str__(self) -> str:
        return f"{self.message} ({self.reason or self.code})"

    @property
    def retry_after_ms(self) -> int | None:
        """Milliseconds to wait before asking again, when the server said so."""
        value = self.data.get("retryAfterMs")
        return value if isinstance(value, int) else None


class CannotStart(ClientError): ...


class ServerExited(ClientError):
    """`code` is the exit code (negative: the signal that ended it), `stderr_tail` the last it wrote there."""

    def __init__(self, code: int, stderr_tail: str) -> None:
        ended = f"was ended by signal {-code}" if code < 0 else f"exited with code {code}"
        said = f". Its last words on stderr:\n{stderr_tail}" if stderr_tail else ", and wrote nothing to stderr"
        super().__init__(f"the server {ended} before it answered{said}")
        self.code = code
        self.stderr_tail = stderr_tail


class ConnectionClosed(ClientError):
    def __init__(self) -> None:
        super().__init__("this client has been closed")


class ProtocolViolation(ClientError):
    def __init__(self, what: str, seen: bytes) -> None:
        start = seen[:120].decode("utf-8", "replace")
        super().__init__(f"{what}: {start!r}. Does the command start an rpc-agent server?")


class RequestTimedOut(ClientError, TimeoutError):
    def __init__(self, method: str, seconds: float) -> None:
        super().__init__(f"no answer to {method} within {seconds:g} s; the request was cancelled")


class MessageTooLarge(ClientError):
    def __init__(self, size: int, limit: int) -> None:
        super().__init__(
            f"the message has {size} bytes and the server reads at most {limit}; "
            "send less, or start the server with a larger --max-message-bytes"
        )


class FellBehind(ClientError):
    def __init__(self, limit: int) -> None:
        super().__init__(
            f"more than {limit} notifications waited to be read, so this subscription was ended; "
            "get_events fills the gap, deltas:'merged' makes fewer of them"
        )
