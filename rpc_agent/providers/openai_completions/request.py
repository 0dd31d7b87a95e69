"""A model request -> the body of a chat-completions call. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from msgspec import Struct

from rpc_agent.conversation.blocks import ToolCallBlock, UserBlock, blocks_text
from rpc_agent.conversation.messages import (
    AssistantMessage,
    ModelMessage,
    ToolResultMessage,
    UserMessage,
    system_texts,
)
from rpc_agent.conversation.models import Model
from rpc_agent.providers.base import ModelRequest
from rpc_agent.providers.json_bytes import to_json
from rpc_agent.providers.notes import IMAGE_LEFT_OUT, NO_OUTPUT, RESULT_IMAGES
from rpc_agent.providers.openai_completions.compat import REASONING_FIELDS, Compat
from rpc_agent.providers.openai_completions.reasoning import DETAILS_FIELD, kept_details
from rpc_agent.providers.pieces import JoinedPieces, wrote
from rpc_agent.providers.thinking import reasoning_effort


class Piece(Struct, frozen=True):
    """One message in the wire's JSON. A tool result cannot hold images, so they follow as a message of their own
    (`images`), after the last result of the batch: nothing may stand between a call and its result."""

    body: bytes
    role: str
    images: tuple[dict[str, Any], ...] = ()


class Before(Struct, frozen=True):
    """What a piece has to know of those before it: the role of the last, and images that wait for the batch's end."""

    role: str = ""
    images: tuple[dict[str, Any], ...] = ()


def request_body(request: ModelRequest, compat: Compat, pieces: Sequence[Piece]) -> bytes:
    """The whole body, UTF-8."""
    return b"".join(body_parts(request, compat, *joined_pieces(compat).of(pieces, 0)))


def joined_pieces(compat: Compat) -> JoinedPieces[Piece, Before]:
    """The messages of one conversation, kept joined from request to request."""
    return JoinedPieces(lambda piece, before: _written(piece, before, compat), Before())


def body_parts(request: ModelRequest, compat: Compat, messages: Sequence[bytes], end: Before) -> tuple[bytes, ...]:
    """The body in parts; `messages` and `end` as `joined_pieces` gives them."""
    head = to_json(_options(request, compat))[:-1] + b',"messages":['
    last = b"," * any(messages) + _images_message(end.images) + b"]}" if end.images else b"]}"
    return (head, *messages, last)


def _options(request: ModelRequest, compat: Compat) -> dict[str, Any]:
    options: dict[str, Any] = {"model": request.model.id, "stream": True}
    if compat.supports_usage_in_streaming:
        options["stream_options"] = {"include_usage": True}
    if compat.supports_store:
        options["store"] = False
    if request.max_tokens:
        options[compat.max_tokens_field] = request.max_tokens
    if request.tools:
        options["tools"] = [{"type": "function", "function": tool.to_json()} for tool in request.tools]
    effort = reasoning_effort(request.model, request.thinking_level)
    if effort and compat.supports_reasoning_effort:
        options["reasoning_effort"] = effort
    if compat.supports_prompt_cache_key and request.cache and request.routing_id:
        options["prompt_cache_key"] = request.routing_id
    return options


def _written(piece: Piece, before: Before, compat: Compat) -> tuple[list[bytes], Before]:
    if not piece.body:
        return [], before
    values: list[bytes] = []
    images = before.images
    if piece.role != "tool" and images:
        values.append(_images_message(images))
        images = ()
    if compat.requires_assistant_after_tool_result and before.role == "tool" and piece.role == "user":
        values.append(to_json({"role": "assistant", "content": "I have read the tool results."}))
    values.append(piece.body)
    return values, Before(piece.role, images + piece.images)


def _images_message(images: Sequence[Mapping[str, Any]]) -> bytes:
    return to_json({"role": "user", "content": [{"type": "text", "text": RESULT_IMAGES}, *images]})


def encode_message(message: ModelMessage, model: Model, compat: Compat) -> Piece:
    """The piece of one message; an empty body where there is nothing that this model could be told."""
    match message["role"]:
        case "system":
            role = "developer" if compat.supports_developer_role and model.reasoning else "system"
            return _piece({"role": role, "content": "\n\n".join(system_texts(message))}, "system")
        case "user":
            return _piece(_user(message, model), "user")
        case "assistant":
            return _piece(_assistant(message, model, compat), "assistant")
        case "toolResult":
            return _tool_result(message, model, compat)
        case _:
            assert_never(message)


def _piece(value: dict[str, Any] | None, role: str, images: tuple[dict[str, Any], ...] = ()) -> Piece:
    return Piece(to_json(value) if value and (value.get("content") or value.get("tool_calls")) else b"", role, images)


def _user(message: UserMessage, model: Model) -> dict[str, Any]:
    content = message["content"]
    if isinstance(content, str):
        return {"role": "user", "content": content}
    if all(block["type"] == "text" for block in content):
        # Small servers know only plain strings here.
        return {"role": "user", "content": blocks_text(content)}
    return {"role": "user", "content": [_part(block, model) for block in content]}


def _part(block: UserBlock, model: Model) -> dict[str, Any]:
    if block["type"] == "text":
        return {"type": "text", "text": block["text"]}
    if "image" not in model.input:
        return {"type": "text", "text": IMAGE_LEFT_OUT}
    return {"type": "image_url", "image_url": {"url": f"data:{block['mimeType']};base64,{block['data']}"}}


def _assistant(message: AssistantMessage, model: Model, compat: Compat) -> dict[str, Any]:
    blocks = message["content"]
    value: dict[str, Any] = {"role": "assistant", "content": blocks_text(blocks, "") or None}
    own = wrote(model, message)
    calls = [_call(block, own) for block in blocks if block["type"] == "toolCall"]
    if calls:
        value["tool_calls"] = calls
    if compat.replays_reasoning and own:
        value |= _reasoning(message)
    return value


def _call(block: ToolCallBlock, own: bool) -> dict[str, Any]:
    function = {"name": block["name"], "arguments": to_json(block["arguments"]).decode()}
    call: dict[str, Any] = {"id": block["id"], "type": "function", "function": function}
    if own and (signature := block.get("thoughtSignature")):
        call["extra_content"] = {"google": {"thought_signature": signature}}
    return call


def _reasoning(message: AssistantMessage) -> dict[str, Any]:
    """Thinking in the field it came in, which its signature names, or in the pieces that the signature holds."""
    fields: dict[str, str] = {}
    details: list[Any] = []
    for block in message["content"]:
        signature = block.get("thinkingSignature", "") if block["type"] == "thinking" else ""
        if block["type"] == "thinking" and signature in REASONING_FIELDS:
            fields[signature] = fields.get(signature, "") + block["thinking"]
        details += kept_details(signature)
    return {**fields, DETAILS_FIELD: details} if details else fields


def _tool_result(message: ToolResultMessage, model: Model, compat: Compat) -> Piece:
    images = [block for block in message["content"] if block["type"] == "image"]
    text = blocks_text(message["content"])
    shown: tuple[dict[str, Any], ...] = ()
    if images and "image" in model.input:
        shown = tuple(_part(image, model) for image in images)
        text = text or "(see the image below)"
    elif images:
        text = f"{text}\n{IMAGE_LEFT_OUT}".strip()
    value: dict[str, Any] = {"role": "tool", "tool_call_id": message["toolCallId"], "content": text or NO_OUTPUT}
    if compat.requires_tool_result_name:
        value["name"] = message["toolName"]
    return _piece(value, "tool", shown)
