"""OpenAI's own library as a peer: it takes our requests for its own, and our streams are made of its events."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from rpc_agent.conversation.messages import user_message
from rpc_agent.conversation.models import Model
from rpc_agent.conversation.tool_spec import ToolSpec
from rpc_agent.providers.base import ModelRequest
from rpc_agent.providers.openai_responses.compat import read_compat
from rpc_agent.providers.openai_responses.items import encode_message
from rpc_agent.providers.openai_responses.request import body_parts, joined_items
from rpc_agent.providers.sse import SseSplitter

_REASON = "openai is not installed here; it is a peer of the tests, not a dependency"
responses = pytest.importorskip("openai.types.responses", reason=_REASON)
create_params = pytest.importorskip("openai.types.responses.response_create_params", reason=_REASON)

GOLDEN = Path(__file__).parent.parent / "golden" / "providers"
MODEL = Model(id="m", provider="p", api="openai-responses", input=("text", "image"), reasoning=True)
IMAGE: Any = {"type": "image", "data": "QUJD", "mimeType": "image/png"}


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("responses_*.sse")), ids=lambda file: file.stem)
def test_each_event_of_the_kept_streams_is_one_of_the_librarys(file: Path) -> None:
    events = TypeAdapter(responses.ResponseStreamEvent)
    data = [event.data for event in SseSplitter().feed(file.read_bytes()) if event.data != b"[DONE]"]
    assert [events.validate_json(raw).type for raw in data] == [json.loads(raw)["type"] for raw in data]
    assert len(data) > 2


def test_a_conversation_with_everything_in_it_is_a_request_that_the_library_would_send() -> None:
    reasoning = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "e"}
    messages: list[Any] = [
        {"role": "system", "content": "s", "timestamp": 1},
        user_message([{"type": "text", "text": "x"}, IMAGE], timestamp=1),
        {
            "role": "assistant",
            "api": MODEL.api,
            "provider": MODEL.provider,
            "model": MODEL.id,
            "content": [
                {"type": "thinking", "thinking": "t", "thinkingSignature": json.dumps(reasoning)},
                {"type": "text", "text": "hello", "textSignature": '{"phase":"commentary"}'},
                {"type": "toolCall", "id": "c", "name": "t", "arguments": {"a": 1}},
            ],
        },
        {
            "role": "toolResult",
            "toolCallId": "c",
            "toolName": "t",
            "content": [{"type": "text", "text": "r"}, IMAGE],
            "isError": False,
            "timestamp": 1,
        },
    ]
    compat = read_compat({"supportsPromptCacheKey": True, "supportsDeveloperRole": True})
    request = ModelRequest(
        model=MODEL,
        messages=messages,
        tools=[ToolSpec("t", "d", {"type": "object"})],
        max_tokens=100,
        thinking_level="high",
        routing_id="r",
    )
    parts, _ = joined_items().of([encode_message(each, MODEL, compat) for each in messages], 0)
    body = json.loads(b"".join(body_parts(request, compat, parts)))
    assert TypeAdapter(create_params.ResponseCreateParamsStreaming).validate_python(body)["model"] == "m"
    assert len(body["input"]) == 6
