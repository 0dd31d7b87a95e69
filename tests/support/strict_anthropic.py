"""What a strict service of the messages API refuses, and the streams it answers with."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.support.chat_server import ServerReply
from tests.support.strict_requests import is_file_data, refusing, says_nothing

_FIELDS = frozenset({"model", "max_tokens", "stream", "system", "tools", "messages", "thinking", "output_config"})
_IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_MOST_BREAKPOINTS = 4


def _request_faults(request: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"unknown field {name}" for name in request.keys() - _FIELDS)
    if not isinstance(request.get("max_tokens"), int) or request["max_tokens"] < 1:
        yield "max_tokens is required"
    thinking = request.get("thinking", {})
    budget = thinking.get("budget_tokens")
    if thinking.get("type") == "enabled" and not 1024 <= budget < request["max_tokens"]:
        yield f"a thinking budget of {budget}"
    if json.dumps(request).count('"cache_control":') > _MOST_BREAKPOINTS:
        yield "too many cache breakpoints"
    for block in request.get("system", ()):
        yield from _text_faults(block, "system")
    for tool in request.get("tools", ()):
        schema = tool["input_schema"]
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", tool["name"]) or schema.get("type") != "object":
            yield f"the tool {tool['name']!r}"
        if schema.keys() & {"anyOf", "oneOf", "allOf"}:
            yield f"the tool {tool['name']!r}: alternatives at the top level"
    yield from _turn_faults(request["messages"])


def _turn_faults(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if [message["role"] for message in messages] != [("user", "assistant")[at % 2] for at in range(len(messages))]:
        yield f"the roles are {[message['role'] for message in messages]}"
    if not messages or messages[-1]["role"] != "user":
        yield "the last message is not the user's"
    waiting: list[str] = []
    seen: set[str] = set()
    for place, message in enumerate(messages):
        where = f"messages[{place}]"
        content = message.get("content")
        if says_nothing(content):
            yield f"{where}: no content"
        content = content if isinstance(content, list) else []
        results = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
        if results != waiting or [block["type"] for block in content[: len(results)]] != ["tool_result"] * len(results):
            yield f"{where}: results {results} where {waiting} are due, before all else"
        waiting = [block["id"] for block in content if block["type"] == "tool_use"]
        yield from (f"{where}: the id {name} again" for name in waiting if name in seen)
        seen |= set(waiting)
        for block in content:
            yield from _block_faults(block, where)


def _block_faults(block: Mapping[str, Any], where: str) -> Iterator[str]:
    match block["type"]:
        case "text":
            yield from _text_faults(block, where)
        case "image":
            if block["source"]["media_type"] not in _IMAGES or not is_file_data(block["source"]["data"]):
                yield f"{where}: the image"
        case "tool_use":
            if not re.fullmatch(r"[a-zA-Z0-9_-]+", block["id"]) or not isinstance(block["input"], dict):
                yield f"{where}: the call {block['id']!r}"
        case "tool_result":
            kinds = {inner["type"] for inner in block["content"]}
            if not kinds or (block.get("is_error") and kinds != {"text"}):
                yield f"{where}: a result of {kinds}"
            for inner in block["content"]:
                yield from _block_faults(inner, where)
        case "thinking":
            if not block["signature"] or "cache_control" in block:
                yield f"{where}: thinking without a signature, or with a breakpoint"
        case "redacted_thinking":
            if not block["data"]:
                yield f"{where}: redacted thinking without data"
        case kind:
            yield f"{where}: a block of the type {kind}"


def _text_faults(block: Mapping[str, Any], where: str) -> Iterator[str]:
    if not block["text"].strip():
        yield f"{where}: an empty text"


anthropic_faults = refusing(_request_faults)


def events(*items: Mapping[str, Any]) -> bytes:
    """Events as the service writes them, each with its name."""
    return "".join(f"event: {item['type']}\ndata: {json.dumps(item)}\n\n" for item in items).encode()


def start(usage: Mapping[str, Any] | None = None, message_id: str = "msg_1") -> dict[str, Any]:
    message: dict[str, Any] = {
        "id": message_id, "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None,
        "stop_sequence": None, "usage": dict(usage or {"input_tokens": 7, "output_tokens": 1}),
    }  # fmt: skip
    return {"type": "message_start", "message": message}


def block(index: int, content: Mapping[str, Any], *deltas: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": dict(content)},
        *({"type": "content_block_delta", "index": index, "delta": dict(delta)} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def end(stop_reason: str | None = "end_turn", **usage: Any) -> list[dict[str, Any]]:
    delta = {"stop_reason": stop_reason, "stop_sequence": None}
    return [
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 5, **usage}},
        {"type": "message_stop"},
    ]


def anthropic_text(text: str, **more: Any) -> ServerReply:
    said = block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": text})
    return ServerReply(body=events(start(), *said, *end()), **more)
