"""What makes a request too large in bytes rather than in tokens: pictures, and giant results. Pure."""

from collections.abc import Sequence

from rpc_agent.compaction.middle import Weigh, without_middle
from rpc_agent.context.projection import ProjectedMessage, is_editable
from rpc_agent.conversation.blocks import UserBlock, text_block
from rpc_agent.conversation.json_values import JsonObject

_GIANT_BYTES = 64 * 1024
"""Smaller results are what work consists of; none of them makes a request too large for a service."""
_LEFT_TOKENS = 1_000
_IMAGE_NOTE = "[An image was here; it was left out because the request was too large for the service.]"


def payload_edits(messages: Sequence[ProjectedMessage], weigh: Weigh) -> list[JsonObject]:
    """The context_edit fields that take pictures and the middles of giant results out; [] when there is nothing."""
    edits: list[JsonObject] = []
    for item in messages:
        message = item.message
        if message["role"] not in ("user", "custom", "toolResult") or not is_editable(item.entry):
            continue
        content = message["content"]
        if isinstance(content, str):
            continue
        lighter = [_lighter(block, item.entry.id, weigh) for block in content]
        if lighter != content:
            edits.append({"targetId": item.entry.id, "replacement": {"content": lighter}, "madeBy": "payload"})
    return edits


def _lighter(block: UserBlock, entry_id: str, weigh: Weigh) -> UserBlock:
    if block["type"] == "image":
        return text_block(_IMAGE_NOTE)
    if len(block["text"].encode("utf-8", "replace")) < _GIANT_BYTES:
        return block
    return text_block(
        without_middle(block["text"], _LEFT_TOKENS, weigh, hint=f"; entry {entry_id} of the session has it")
    )
