"""Messages -> input items of the responses API. Pure. Items of a service's own making go back as they came."""

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any, assert_never

from rpc_agent.conversation.blocks import AssistantBlock, TextBlock, ToolCallBlock, UserBlock, blocks_text
from rpc_agent.conversation.json_values import as_object, as_text
from rpc_agent.conversation.messages import (
    AssistantMessage,
    ModelMessage,
    ToolResultMessage,
    UserMessage,
    system_texts,
)
from rpc_agent.conversation.models import Model
from rpc_agent.providers.json_bytes import to_json
from rpc_agent.providers.notes import IMAGE_LEFT_OUT, NO_OUTPUT
from rpc_agent.providers.openai_responses.compat import Compat
from rpc_agent.providers.pieces import wrote

Item = dict[str, Any]

_CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Other ids of calls are refused; those of other services can be longer and hold dots and colons."""
REASONING_FIELDS = ("type", "id", "summary", "content", "encrypted_content")
"""Of a reasoning item only these are taken back in."""


def encode_message(message: ModelMessage, model: Model, compat: Compat) -> bytes:
    """The items of one message as JSON, separated by commas; empty where there is nothing to be told."""
    return b",".join(to_json(item) for item in _items(message, model, compat))


def _items(message: ModelMessage, model: Model, compat: Compat) -> Iterator[Item]:
    match message["role"]:
        case "system":
            if texts := system_texts(message):
                role = "developer" if compat.supports_developer_role and model.reasoning else "system"
                yield {"role": role, "content": "\n\n".join(texts)}
        case "user":
            yield from _user(message, model)
        case "assistant":
            yield from _assistant(message, model)
        case "toolResult":
            yield {
                "type": "function_call_output",
                "call_id": call_id(message["toolCallId"]),
                "output": _output(message, model),
            }
        case _:
            assert_never(message)


def _user(message: UserMessage, model: Model) -> Iterator[Item]:
    content = message["content"]
    if isinstance(content, str):
        parts = [{"type": "input_text", "text": content}] if content else []
    else:
        parts = [_part(block, model) for block in content]
    if parts:
        yield {"role": "user", "content": parts}


def _part(block: UserBlock, model: Model) -> Item:
    if block["type"] == "text":
        return {"type": "input_text", "text": block["text"]}
    if "image" not in model.input:
        return {"type": "input_text", "text": IMAGE_LEFT_OUT}
    return {
        "type": "input_image",
        "detail": "auto",
        "image_url": f"data:{block['mimeType']};base64,{block['data']}",
    }


def _assistant(message: AssistantMessage, model: Model) -> Iterator[Item]:
    own = wrote(model, message)
    blocks = message["content"]
    said = [at for at, block in enumerate(blocks) if block["type"] != "thinking"]
    for at, block in enumerate(blocks):
        match block["type"]:
            case "thinking":
                # Reasoning that nothing follows is refused: the item it led to is required.
                if own and said and at < said[-1] and (item := _reasoning(block)):
                    yield item
            case "text":
                if block["text"]:
                    yield _text(block, own)
            case "toolCall":
                yield _call(block)


def _reasoning(block: AssistantBlock) -> Item | None:
    """The reasoning item that the signature holds; None where it could not be read again by the service."""
    item = _signed(block.get("thinkingSignature"))
    if item.get("type") != "reasoning" or not (item.get("encrypted_content") or item.get("content")):
        return None
    return {"summary": [], **{name: item[name] for name in REASONING_FIELDS if name in item}}


def _text(block: TextBlock, own: bool) -> Item:
    item: Item = {"type": "message", "role": "assistant", "content": block["text"]}
    # Some models tell comments on their work from the answer, and do worse when the mark is lost.
    phase = as_text(_signed(block.get("textSignature")).get("phase")) if own else ""
    return {**item, "phase": phase} if phase else item


def _call(block: ToolCallBlock) -> Item:
    return {
        "type": "function_call",
        "call_id": call_id(block["id"]),
        "name": block["name"],
        "arguments": to_json(block["arguments"]).decode(),
    }


def call_id(known: str) -> str:
    """The id of a call as the API takes it; call and result get the same one. Other programs join two ids by a bar."""
    first = known.partition("|")[0] or known
    return (
        first
        if _CALL_ID.fullmatch(first)
        else "call_" + hashlib.sha256(known.encode("utf-8", "replace")).hexdigest()[:32]
    )


def _output(message: ToolResultMessage, model: Model) -> str | list[Item]:
    content = message["content"]
    if all(block["type"] == "text" for block in content):
        return blocks_text(content) or NO_OUTPUT
    return [_part(block, model) for block in content]


def _signed(signature: object) -> dict[str, Any]:
    """What a signature of ours says; {} for one of another making."""
    if not isinstance(signature, str) or not signature.startswith("{"):
        return {}
    try:
        return dict(as_object(json.loads(signature)))
    except (ValueError, RecursionError):
        return {}
