"""Giant tool results among what is kept: the head and the tail of each are enough to go on. Pure."""

from collections.abc import Sequence
from typing import cast

from msgspec import Struct

from rpc_agent.compaction.middle import Weigh, without_middle
from rpc_agent.context.tokens import Estimate
from rpc_agent.conversation.blocks import blocks_text, text_block
from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.conversation.messages import Message, ToolResultMessage
from rpc_agent.session.entries import ContextEditEntry, Entry

_GIANT_TOKENS = 2_000
"""Smaller results are what work consists of."""
_LEFT_TOKENS = 600
"""Of a giant one: its beginning says what it is, its end how it came out."""
_MADE_BY = {"madeBy": "compaction"}
"""A field of the edit's entry: who reads the session knows that nobody wanted the words gone."""


class Shrunk(Struct, frozen=True):
    """The message as it will be, and the entry that an edit has to target."""

    entry_id: str
    message: ToolResultMessage

    def edit_fields(self) -> JsonObject:
        """The fields of the context_edit entry."""
        return {"targetId": self.entry_id, "replacement": {"content": self.message["content"]}, **_MADE_BY}


def is_shrinking(entry: Entry) -> bool:
    """Whether an entry is an edit that a compaction made."""
    return isinstance(entry, ContextEditEntry) and entry.raw.get("madeBy") == _MADE_BY["madeBy"]


def shrink_results(
    kept: Sequence[tuple[Entry, Message]], excess: float, estimate: Estimate, weigh: Weigh
) -> dict[int, Shrunk]:
    """Which of `kept` become shorter, by index: the largest first, until `excess` tokens are gained."""
    sizes = {at: estimate(message) for at, (_, message) in enumerate(kept) if message["role"] == "toolResult"}
    found: dict[int, Shrunk] = {}
    for at in sorted(sizes, key=lambda at: -sizes[at]):
        if excess <= 0 or sizes[at] <= _GIANT_TOKENS:
            break
        entry, message = kept[at]
        shorter = _shorter(entry.id, cast(ToolResultMessage, message), weigh)
        found[at] = Shrunk(entry.id, shorter)
        excess -= sizes[at] - estimate(shorter)
    return found


def _shorter(entry_id: str, message: ToolResultMessage, weigh: Weigh) -> ToolResultMessage:
    text = blocks_text(message["content"])
    images = sum(block["type"] == "image" for block in message["content"])
    note = f"\n[{images} images left out to make room]" if images else ""
    hint = f" to make room; history with entryId {entry_id} has them"
    return {**message, "content": [text_block(without_middle(text, _LEFT_TOKENS, weigh, hint=hint) + note)]}
