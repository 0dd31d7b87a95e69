"""The JSON of one stream event, and text whose characters were cut between two of them. Pure; knows no API."""

import json
from typing import Any

import orjson

from rpc_agent.conversation.json_values import without_lone_surrogates
from rpc_agent.providers.base import ModelCallFailed


class NotJson(ModelCallFailed):
    """An event holds something else: a proxy's page, a line cut short, the words of a keep-alive."""


def read_event(data: bytes) -> Any:
    """The value of one event. Raises NotJson."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        # Some gateways end the streams of all APIs alike.
        return None if data.startswith(b"[DONE]") else _read_odd(data)


class TextJoiner:
    """Puts an emoji together again whose halves came as escapes in two deltas; what stays alone becomes U+FFFD."""

    def __init__(self) -> None:
        self._held = ""
        """A high surrogate whose other half comes with the next delta."""

    def join(self, text: str) -> str:
        """The text that can be shown now."""
        if not self._held and (text.isascii() or not _has_surrogates(text)):
            return text
        text = self._held + text
        self._held = text[-1] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return without_lone_surrogates(text[:-1] if self._held else text)


def _has_surrogates(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _read_odd(data: bytes) -> Any:
    """Half an emoji as an escape is something Python reads and orjson refuses. Some servers cut a character's bytes
    between two events; what is left of it is shown as one that is none, which asking again would not mend."""
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        shown = data[:200].decode("utf-8", "replace")
        raise NotJson(f"the stream holds something that is not JSON: {shown}", kind="transport") from None
