"""A model request -> the body of a chat-completions call. Pure. The pieces of a message are made once and kept."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from rpc_agent.conversation.blocks import UserBlock, blocks_text
from rpc_agent.conversation.messages import (
    AssistantMessage,
    ModelMessage,
    SystemMessage,
    ToolResultMessage,
    UserMessage,
)
from rpc_agent.conversation.models import Model
from rpc_agent.providers.base import ModelRequest
from rpc_agent.providers.json_bytes import to_json
from rpc_agent.providers.openai_completions.compat import REASONING_FIELDS, Compat

_EFFORTS = {"minimal": "minimal", "low": "low", "medium": "medium", "high": "high", "xhigh": "high"}
"""Thinking levels as the API names them; nothing above high is common to all servers."""

_NO_OUTPUT = "(no output)"
"""Several servers refuse an empty text, and a tool may well have said nothing."""
_IMAGE_LEFT_OUT = "(an image was left out: this model reads no images)"


@dataclass(frozen=True, slots=True)
class Piece:
    """One message in the wire's JSON. A tool result cannot hold images, so they follow as a message of their own
    (`images`), after the last result of the batch: nothing may stand between a call and its result."""

    body: bytes
    role: str
    images: tuple[dict[str, Any], ...] = ()


class Pieces:
    """The pieces of the last request, found by the identity of their messages.

    A message that is sent again costs one look-up, so a turn's overhead does not grow with what was said before.
    The message itself is held, so its id cannot be taken by another object; what a request no longer has is let go.
    """

    def __init__(self) -> None:
        self._kept: dict[int, tuple[ModelMessage, Piece]] = {}

    def of(self, messages: Sequence[ModelMessage], model: Model, compat: Compat) -> list[Piece]:
        old = self._kept
        kept: dict[int, tuple[ModelMessage, Piece]] = {}
        pieces: list[Piece] = []
        for message in messages:
            key = id(message)
            entry = kept[key] = old.get(key) or (message, encode_message(message, model, compat))
            pieces.append(entry[1])
        self._kept = kept
        return pieces


def request_body(request: ModelRequest, compat: Compat, pieces: Iterable[Piece]) -> bytes:
    """The whole body, UTF-8."""
    head = to_json(_options(request, compat))
    messages = b",".join(_in_order(pieces, compat))
    return head[:-1] + b',"messages":[' + messages + b"]}"


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
    effort = _EFFORTS.get(request.thinking_level)
    if request.model.reasoning and effort and compat.supports_reasoning_effort:
        options["reasoning_effort"] = effort
    if compat.supports_prompt_cache_key and request.cache and request.routing_id:
        options["prompt_cache_key"] = request.routing_id
    return options


def _in_order(pieces: Iterable[Piece], compat: Compat) -> Iterable[bytes]:
    images: list[dict[str, Any]] = []
    before = ""
    for piece in pieces:
        if not piece.body:
            continue
        if piece.role != "tool" and images:
            yield _images_message(images)
            images = []
        if compat.requires_assistant_after_tool_result and before == "tool" and piece.role == "user":
            yield to_json({"role": "assistant", "content": "I have read the tool results."})
        yield piece.body
        images += piece.images
        before = piece.role
    if images:
        yield _images_message(images)


def _images_message(images: Sequence[Mapping[str, Any]]) -> bytes:
    return to_json({"role": "user", "content": [{"type": "text", "text": "Images from the tool results:"}, *images]})


def encode_message(message: ModelMessage, model: Model, compat: Compat) -> Piece:
    """The piece of one message; an empty body where there is nothing that this model could be told."""
    match message["role"]:
        case "system":
            role = "developer" if compat.supports_developer_role and model.reasoning else "system"
            return _piece({"role": role, "content": _system_text(message)}, "system")
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


def _system_text(message: SystemMessage) -> str:
    sections = message.get("sections", {}).values()
    return "\n\n".join(text for text in (message["content"], *sections) if text)


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
        return {"type": "text", "text": _IMAGE_LEFT_OUT}
    return {"type": "image_url", "image_url": {"url": f"data:{block['mimeType']};base64,{block['data']}"}}


def _assistant(message: AssistantMessage, model: Model, compat: Compat) -> dict[str, Any]:
    blocks = message["content"]
    value: dict[str, Any] = {"role": "assistant", "content": blocks_text(blocks, "") or None}
    calls = [
        {
            "id": block["id"],
            "type": "function",
            "function": {"name": block["name"], "arguments": to_json(block["arguments"]).decode()},
        }
        for block in blocks
        if block["type"] == "toolCall"
    ]
    if calls:
        value["tool_calls"] = calls
    if compat.replays_reasoning and _is_from(message, model):
        value |= _reasoning(message)
    return value


def _is_from(message: AssistantMessage, model: Model) -> bool:
    return (message["api"], message["provider"], message["model"]) == (model.api, model.provider, model.id)


def _reasoning(message: AssistantMessage) -> dict[str, str]:
    """Thinking in the field it came in, which its signature names."""
    fields: dict[str, str] = {}
    for block in message["content"]:
        if block["type"] == "thinking" and (field := block.get("thinkingSignature", "")) in REASONING_FIELDS:
            fields[field] = fields.get(field, "") + block["thinking"]
    return fields


def _tool_result(message: ToolResultMessage, model: Model, compat: Compat) -> Piece:
    images = [block for block in message["content"] if block["type"] == "image"]
    text = blocks_text(message["content"])
    shown: tuple[dict[str, Any], ...] = ()
    if images and "image" in model.input:
        shown = tuple(_part(image, model) for image in images)
        text = text or "(see the image below)"
    elif images:
        text = f"{text}\n{_IMAGE_LEFT_OUT}".strip()
    value: dict[str, Any] = {"role": "tool", "tool_call_id": message["toolCallId"], "content": text or _NO_OUTPUT}
    if compat.requires_tool_result_name:
        value["name"] = message["toolName"]
    return _piece(value, "tool", shown)
