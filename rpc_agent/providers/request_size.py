"""A rough size of a request in tokens, for models that count for themselves. Pure; `context` has the real estimate."""

import json

from rpc_agent.conversation.blocks import Block
from rpc_agent.conversation.messages import ModelMessage
from rpc_agent.providers.base import ModelRequest

_IMAGE_UNITS = 4800
"""UTF-16 units an image counts for, as everywhere in the engine."""


def estimate_request(request: ModelRequest) -> int:
    """UTF-16 units of all that is sent, divided by four."""
    units = sum(map(_message_units, request.messages))
    units += sum(utf16_units(json.dumps(tool.to_json())) for tool in request.tools)
    return -(-units // 4)


def utf16_units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _message_units(message: ModelMessage) -> int:
    content = message["content"]
    units = utf16_units(content) if isinstance(content, str) else sum(_block_units(block) for block in content)
    if message["role"] == "system":
        units += sum(utf16_units(text or "") for text in message.get("sections", {}).values())
    return units


def _block_units(block: Block) -> int:
    match block["type"]:
        case "text":
            return utf16_units(block["text"])
        case "thinking":
            return utf16_units(block["thinking"])
        case "toolCall":
            return utf16_units(block["name"]) + utf16_units(json.dumps(block["arguments"]))
        case "image":
            return _IMAGE_UNITS
