"""The responses API as a strict service: what it refuses in a request, and how it words a stream."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.support.strict_requests import refusing, says_nothing

_CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def _request_faults(request: Mapping[str, Any]) -> Iterator[str]:
    items = request.get("input")
    if not items or "messages" in request:
        yield "no input"
        return
    waiting: list[str] = []
    for place, item in enumerate(items):
        after = items[place + 1].get("type", "message") if place + 1 < len(items) else ""
        yield from (f"input[{place}]: {fault}" for fault in _item_faults(item, after, waiting))
    yield from (f"no output for {call}" for call in waiting)


def _item_faults(item: Mapping[str, Any], after: str, waiting: list[str]) -> list[str]:
    """`waiting` holds the calls without an output so far."""
    match item.get("type", "message"):
        case "message":
            return ["empty"] if says_nothing(item.get("content")) else []
        case "reasoning":
            return ["reasoning that nothing follows"] if after in ("", "reasoning") else []
        case "function_call":
            json.loads(item["arguments"])
            waiting.append(item["call_id"])
            return [] if _CALL_ID.fullmatch(item["call_id"]) else [f"call_id {item['call_id']}"]
        case "function_call_output":
            if item["call_id"] not in waiting:
                return [f"no call {item['call_id']}"]
            waiting.remove(item["call_id"])
            return ["empty"] if says_nothing(item.get("output"), blank_is_nothing=False) else []
        case kind:
            return [f"unknown {kind}"]


responses_faults = refusing(_request_faults)


def events(*raw: Mapping[str, Any]) -> bytes:
    """Events as a stream."""
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in raw).encode()


def item(index: int, done: Mapping[str, Any], *deltas: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The events of one output item: it begins, grows, and is there whole."""
    begin = {"type": "response.output_item.added", "output_index": index, "item": {**done, **_BEGUN[done["type"]]}}
    end = {"type": "response.output_item.done", "output_index": index, "item": dict(done)}
    return [begin, *({"output_index": index, **delta} for delta in deltas), end]


_BEGUN: Mapping[str, Mapping[str, Any]] = {
    "reasoning": {"summary": [], "encrypted_content": ""},
    "message": {"content": []},
    "function_call": {"arguments": ""},
}


def start() -> dict[str, Any]:
    return {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress", "error": None}}


def end(usage: Mapping[str, Any]) -> dict[str, Any]:
    response = {"id": "resp_1", "status": "completed", "error": None, "usage": dict(usage)}
    return {"type": "response.completed", "response": response}
