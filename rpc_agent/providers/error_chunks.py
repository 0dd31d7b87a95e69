"""Whether a chunk of a stream that began with status 200 is an error, wherever servers put it. Pure."""

from collections.abc import Mapping
from typing import Any

from rpc_agent.conversation.json_values import as_object, as_text

ERROR_FIELDS = frozenset({"error", "errors", "error_message", "error_msg", "base_resp", "detail"})
_WORDS = ("message", "msg")
_FINE = frozenset({"0", "200", "", "ok", "success", "queued", "pending", "processing", "in_progress"})
"""Codes beside a message that report no error."""


def is_error(chunk: Mapping[str, Any]) -> bool:
    """Of a chunk that has choices only an error field tells; without choices a bare message does too."""
    if not ERROR_FIELDS.isdisjoint(chunk) and any(_says_error(field, chunk.get(field)) for field in ERROR_FIELDS):
        return True
    return "choices" not in chunk and _is_bare_message(chunk)


def _says_error(field: str, value: object) -> bool:
    if field == "base_resp":
        return bool(as_object(value).get("status_code"))
    return bool(value)


def _is_bare_message(chunk: Mapping[str, Any]) -> bool:
    """Whether something that is none of an API's events says what went wrong: a gateway's words."""
    if chunk.get("object") == "error" or chunk.get("type") == "error" or chunk.get("success") is False:
        return True
    code = chunk.get("code", chunk.get("status"))
    return any(as_text(chunk.get(word)) for word in _WORDS) and (code is None or str(code).lower() not in _FINE)
