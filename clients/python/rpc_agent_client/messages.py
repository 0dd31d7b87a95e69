"""What a client hears: notifications, and JSON in and out. Says nothing of who asks or answers."""

import json
from dataclasses import dataclass
from typing import Any

from rpc_agent_client.errors import ProtocolViolation

JsonObject = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Notification:
    """One event of a session. `params` are its fields as the protocol names them."""

    method: str
    params: JsonObject

    @property
    def session_id(self) -> str | None:
        """The session it is about; None for the few that are about the connection."""
        return self.params.get("sessionId")

    @property
    def seq(self) -> int | None:
        """Grows by one per session without gaps; None for the few that are about the connection."""
        return self.params.get("seq")

    @property
    def text_delta(self) -> str:
        """The piece of answer text that a message_update brings; "" for everything else."""
        return self._delta("text_delta")

    @property
    def thinking_delta(self) -> str:
        """The piece of thinking that a message_update brings; "" for everything else."""
        return self._delta("thinking_delta")

    def _delta(self, kind: str) -> str:
        event = self.params.get("assistantMessageEvent") or {}
        return str(event.get("delta") or "") if event.get("type") == kind else ""


def to_bytes(message: JsonObject) -> bytes:
    """Raises ValueError for what JSON cannot hold (NaN, infinities), TypeError for what is not JSON."""
    try:
        return json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")
    except UnicodeEncodeError:
        # A lone surrogate (a file name from the system, say) has no UTF-8 form, but an escape.
        return json.dumps(message, allow_nan=False, separators=(",", ":")).encode("ascii")


def from_bytes(body: bytes) -> object:
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        raise ProtocolViolation("the server wrote something that is not JSON", body) from None
    return value
