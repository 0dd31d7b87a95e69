"""One message -> its blocks in the wire's JSON. Pure; knows nothing of the messages around it."""

import re
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any, assert_never

from msgspec import Struct
from msgspec.structs import replace

from rpc_agent.conversation.blocks import AssistantBlock, UserBlock
from rpc_agent.conversation.messages import AssistantMessage, ModelMessage, ToolResultMessage, system_texts
from rpc_agent.conversation.models import Model
from rpc_agent.providers.json_bytes import to_json
from rpc_agent.providers.notes import IMAGE_KIND_LEFT_OUT, IMAGE_LEFT_OUT, NO_OUTPUT
from rpc_agent.providers.pieces import wrote

_IMAGE_KINDS = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_CALL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""Ids that the service accepts; those of other services may hold dots, bars and colons."""


class Piece(Struct, frozen=True):
    """The blocks of one message. `calls` are ids of the calls or of the one result in it; blocks with an id begin with
    it, so that it can be changed."""

    role: str
    blocks: tuple[bytes, ...]
    results: tuple[bytes, ...] = ()
    calls: tuple[str, ...] = ()


def encode_message(message: ModelMessage, model: Model) -> Piece:
    """The piece of one message; without blocks where there is nothing that this model could be told."""
    match message["role"]:
        case "system":
            return Piece("system", tuple(map(text_block, system_texts(message))))
        case "user":
            content = message["content"]
            blocks: Sequence[UserBlock] = [{"type": "text", "text": content}] if isinstance(content, str) else content
            return Piece("user", tuple(map(to_json, _user_blocks(blocks, model))))
        case "assistant":
            return _assistant(message, model)
        case "toolResult":
            return _result(message, model)
        case _:
            assert_never(message)


def text_block(text: str) -> bytes:
    return to_json({"type": "text", "text": text})


def _user_blocks(blocks: Iterable[UserBlock], model: Model) -> Iterable[dict[str, Any]]:
    for block in blocks:
        if block["type"] == "image":
            yield _image(block["data"], block["mimeType"], model)
        elif block["text"].strip():
            # The service refuses a text of nothing but space.
            yield {"type": "text", "text": block["text"]}


def _image(data: str, kind: str, model: Model) -> dict[str, Any]:
    if "image" not in model.input:
        return {"type": "text", "text": IMAGE_LEFT_OUT}
    if kind not in _IMAGE_KINDS:
        return {"type": "text", "text": IMAGE_KIND_LEFT_OUT}
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


def _assistant(message: AssistantMessage, model: Model) -> Piece:
    own = wrote(model, message)
    blocks = [encoded for block in message["content"] if (encoded := _answer_block(block, own)) is not None]
    calls = tuple(accepted_id(block["id"]) for block in message["content"] if block["type"] == "toolCall")
    return Piece("assistant", tuple(map(to_json, blocks)), calls=calls)


def _answer_block(block: AssistantBlock, own: bool) -> dict[str, Any] | None:
    match block["type"]:
        case "text":
            return {"type": "text", "text": block["text"]} if block["text"].strip() else None
        case "toolCall":
            call_id = accepted_id(block["id"])
            return {"id": call_id, "type": "tool_use", "name": block["name"], "input": block["arguments"]}
        case "thinking":
            signature = block.get("thinkingSignature")
            if not own or not signature:
                return None
            if block.get("redacted"):
                return {"type": "redacted_thinking", "data": signature}
            return {"type": "thinking", "thinking": block["thinking"], "signature": signature}
        case _:
            assert_never(block["type"])


def _result(message: ToolResultMessage, model: Model) -> Piece:
    seeing = replace(model, input=("text",)) if message["isError"] else model
    # An error may hold text only.
    content = list(_user_blocks(message["content"], seeing)) or [{"type": "text", "text": NO_OUTPUT}]
    call_id = accepted_id(message["toolCallId"])
    value: dict[str, Any] = {"tool_use_id": call_id, "type": "tool_result", "content": content}
    if message["isError"]:
        value["is_error"] = True
    return Piece("user", (), results=(to_json(value),), calls=(call_id,))


def accepted_id(call_id: str) -> str:
    """The id itself, or one made of it that the service accepts: the same each time, another for another id."""
    if _CALL_ID.fullmatch(call_id):
        return call_id
    return f"call_{sha256(call_id.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"
