"""Thinking in a chat-completions stream, in whatever field it comes, and what a server wants back with it. Pure.

OpenRouter tells thinking twice: as text, and in `reasoning_details`, pieces that hold the maker's signature or its
encrypted thinking. Signed or encrypted pieces are kept, joined, as the signature of the thinking block (a JSON list).
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rpc_agent.conversation.json_values import as_object, as_text
from rpc_agent.providers.base import BlockStopped, StreamEvent, ThinkingDelta
from rpc_agent.providers.json_bytes import to_json
from rpc_agent.providers.openai_completions.compat import REASONING_FIELDS
from rpc_agent.providers.stream_json import TextJoiner

DETAILS_FIELD = "reasoning_details"
_DETAILS_TEXT = "reasoning"
"""The field that text of details alone goes back in."""
_PROOFS = ("signature", "data")
"""What makes a piece worth keeping: the maker refuses thinking that has lost it."""
_GROWING = ("text", "summary", "data")


class ReasoningReader:
    """The thinking of one answer."""

    def __init__(self) -> None:
        self._joiner = TextJoiner()
        self._pending: dict[tuple[str, object], dict[str, Any]] = {}
        self._thought = False
        """Text of the block that is open was passed on."""

    def read(self, delta: Mapping[str, Any], out: list[StreamEvent]) -> None:
        details = delta.get(DETAILS_FIELD)
        for field in REASONING_FIELDS:
            text = delta.get(field)
            if text and isinstance(text, str):
                self.say(text, out, field)
                break
        else:
            text = ""
        if details and isinstance(details, list):
            self._read_details([as_object(piece) for piece in details], out, text_is_told=bool(text))

    def say(self, text: str, out: list[StreamEvent], field: str | None = None) -> None:
        """Thinking that came elsewhere; without a `field` it is not to be sent back."""
        if joined := self._joiner.join(text):
            self._thought = True
            out.append(ThinkingDelta(joined, field))

    def _read_details(self, pieces: Sequence[Mapping[str, Any]], out: list[StreamEvent], *, text_is_told: bool) -> None:
        if not text_is_told:
            told = (as_text(piece.get("text")) or as_text(piece.get("summary")) for piece in pieces)
            self.say("".join(told), out, _DETAILS_TEXT)
        for piece in pieces:
            self._grow(piece)
        if any(piece.get(name) for piece in pieces for name in _PROOFS):
            kept = to_json(list(self._pending.values())).decode()
            out.append(ThinkingDelta("", kept, redacted=not self._thought))
            # More thinking has a proof of its own.
            out.append(BlockStopped())
            self._pending.clear()
            self._thought = False

    def _grow(self, piece: Mapping[str, Any]) -> None:
        known = self._pending.setdefault((as_text(piece.get("type")), piece.get("index")), {})
        for name, value in piece.items():
            if name in _GROWING and isinstance(value, str) and isinstance(known.get(name), str):
                known[name] += value
            elif value is not None:
                known[name] = value


def kept_details(signature: str) -> list[Any]:
    """The pieces that a signature of ours holds; none for a signature of another making."""
    if not signature.startswith("[{"):
        return []
    try:
        value = json.loads(signature)
    except (ValueError, RecursionError):
        return []
    return value if isinstance(value, list) else []
