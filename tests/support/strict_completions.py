"""What a strict service of chat completions refuses, and what the strictest chat templates refuse beside that."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.support.strict_requests import refusing, says_nothing


def _request_faults(request: Mapping[str, Any]) -> Iterator[str]:
    messages = request.get("messages")
    if not messages:
        yield "no messages"
        return
    for place, message in enumerate(messages):
        # Beside calls the words may be missing; words that say nothing are refused there too.
        wordless = message.get("tool_calls") and message.get("content") is None
        # What a tool printed may be blank.
        is_result = message["role"] == "tool"
        if not wordless and says_nothing(message.get("content"), blank_is_nothing=not is_result):
            yield f"messages[{place}]: empty content"
    yield from _pairing_faults(messages)


def _pairing_faults(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    waiting: list[str] = []
    for place, message in enumerate(messages):
        if message["role"] == "tool":
            call_id = message.get("tool_call_id")
            if call_id in waiting:
                waiting.remove(call_id)
            else:
                yield f"messages[{place}]: a result without its call: {call_id}"
            continue
        if waiting:
            yield f"messages[{place}]: no result right after the calls {waiting}"
        waiting = [call["id"] for call in message.get("tool_calls") or ()]
        for call in message.get("tool_calls") or ():
            json.loads(call["function"]["arguments"])
    if waiting:
        yield f"no result for the calls {waiting}"


def _picky_request_faults(request: Mapping[str, Any]) -> Iterator[str]:
    yield from _request_faults(request)
    for place, message in enumerate(request.get("messages") or ()):
        if message["role"] == "system" and place:
            yield f"messages[{place}]: a system message that is not the first"
        ids = [call["id"] for call in message.get("tool_calls") or ()]
        if len(set(ids)) != len(ids) or not all(ids):
            yield f"messages[{place}]: call ids {ids}"
        if not all(isinstance(json.loads(c["function"]["arguments"]), dict) for c in message.get("tool_calls") or ()):
            yield f"messages[{place}]: arguments that are no object"


completions_faults = refusing(_request_faults)
picky_faults = refusing(_picky_request_faults)
