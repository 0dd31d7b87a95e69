"""One message -> its parts in the wire's JSON. Pure; knows nothing of the messages around it."""

from collections.abc import Sequence
from typing import Any, assert_never

from msgspec import Struct

from rpc_agent.conversation.blocks import ToolCallBlock, UserBlock, blocks_text
from rpc_agent.conversation.messages import AssistantMessage, ModelMessage, ToolResultMessage, system_texts
from rpc_agent.conversation.models import Model
from rpc_agent.providers.google_generative_ai.compat import Compat
from rpc_agent.providers.json_bytes import to_json
from rpc_agent.providers.notes import IMAGE_KIND_LEFT_OUT, IMAGE_LEFT_OUT, NO_OUTPUT
from rpc_agent.providers.pieces import wrote

MADE_ID = "gcall_"
"""Begins the ids of calls that the service gave none; they are ours and never sent to it."""
_NO_SIGNATURE = "skip_thought_signature_validator"
"""The service's own word for a call that has no signature because another model made it."""
_IMAGE_KINDS = frozenset({"image/jpeg", "image/png", "image/webp", "image/heic", "image/heif"})
_RESPONSE = b'{"functionResponse":{'


class Piece(Struct, frozen=True):
    """The parts of one message. `images` are those of a tool result, which has no place for them. `calls`: for an
    answer the ids that the service gave, for a result the id of its call."""

    role: str
    parts: tuple[bytes, ...] = ()
    images: tuple[bytes, ...] = ()
    calls: tuple[str, ...] = ()


def response_with_id(piece: Piece) -> bytes:
    """The part of a result with the id of its call."""
    (call_id,) = piece.calls
    (part,) = piece.parts
    return _RESPONSE + b'"id":' + to_json(call_id) + b"," + part[len(_RESPONSE) :]


def encode_message(message: ModelMessage, model: Model, compat: Compat) -> Piece:
    """The piece of one message; without parts where there is nothing that this model could be told."""
    match message["role"]:
        case "system":
            return Piece("system", tuple(map(text_part, system_texts(message))))
        case "user":
            content = message["content"]
            blocks: Sequence[UserBlock] = [{"type": "text", "text": content}] if isinstance(content, str) else content
            return Piece("user", tuple(_part(block, model) for block in blocks if _says_something(block)))
        case "assistant":
            return _answer(message, model, compat)
        case "toolResult":
            return _result(message, model)
        case _:
            assert_never(message)


def text_part(text: str) -> bytes:
    return to_json({"text": text})


def _says_something(block: UserBlock) -> bool:
    return block["type"] != "text" or bool(block["text"].strip())


def _part(block: UserBlock, model: Model) -> bytes:
    if block["type"] == "text":
        return text_part(block["text"])
    if "image" not in model.input:
        return text_part(IMAGE_LEFT_OUT)
    if block["mimeType"] not in _IMAGE_KINDS:
        return text_part(IMAGE_KIND_LEFT_OUT)
    return to_json({"inlineData": {"mimeType": block["mimeType"], "data": block["data"]}})


def _answer(message: AssistantMessage, model: Model, compat: Compat) -> Piece:
    own = wrote(model, message)
    parts: list[bytes] = []
    calls: list[ToolCallBlock] = []
    for block in message["content"]:
        match block["type"]:
            case "text":
                if block["text"].strip():
                    parts.append(_signed({"text": block["text"]}, block.get("textSignature") if own else None))
            case "thinking":
                if own and block.get("thinkingSignature"):
                    thought = {"text": block["thinking"], "thought": True}
                    parts.append(_signed(thought, block.get("thinkingSignature")))
            case "toolCall":
                parts.append(_call(block, own, needs_signature=compat.requires_thought_signatures and not calls))
                calls.append(block)
            case _:
                assert_never(block["type"])
    given = (block["id"] for block in calls if own and _is_given(block["id"]))
    return Piece("model", tuple(parts), calls=tuple(given))


def _call(block: ToolCallBlock, own: bool, *, needs_signature: bool) -> bytes:
    """Of the calls of one answer the first alone needs a signature."""
    call: dict[str, Any] = {"name": block["name"], "args": block["arguments"]}
    if own and _is_given(block["id"]):
        call["id"] = block["id"]
    signature = block.get("thoughtSignature") if own else None
    return _signed({"functionCall": call}, signature or (_NO_SIGNATURE if needs_signature else None))


def _is_given(call_id: str) -> bool:
    return bool(call_id) and not call_id.startswith(MADE_ID)


def _signed(part: dict[str, Any], signature: str | None) -> bytes:
    return to_json({**part, "thoughtSignature": signature} if signature else part)


def _result(message: ToolResultMessage, model: Model) -> Piece:
    shown = [block for block in message["content"] if block["type"] == "image"]
    seen = shown if "image" in model.input else []
    text = blocks_text(message["content"])
    if shown and not seen:
        text = f"{text}\n{IMAGE_LEFT_OUT}"
    text = (text.strip() and text) or ("(see the image below)" if seen else NO_OUTPUT)
    response = {"error" if message["isError"] else "output": text}
    part = to_json({"functionResponse": {"name": message["toolName"], "response": response}})
    images = tuple(_part(block, model) for block in seen)
    return Piece("result", (part,), images, (message["toolCallId"],))
