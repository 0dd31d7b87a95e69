import json
from typing import Any

import pytest

from rpc_agent.conversation.messages import ModelMessage, user_message
from rpc_agent.conversation.models import Model
from rpc_agent.providers.base import ModelRequest
from rpc_agent.providers.openai_completions.compat import Compat, read_compat
from rpc_agent.providers.openai_completions.request import Piece, encode_message, request_body
from rpc_agent.providers.pieces import Pieces
from rpc_agent.providers.refusal import failed
from rpc_agent.providers.retry_after import retry_after

MODEL = Model(id="m", provider="p", api="openai-completions", input=("text", "image"), reasoning=True)
IMAGE: Any = {"type": "image", "data": "QUJD", "mimeType": "image/png"}
SHOWN = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}


def body(messages: list[Any], compat: Compat | None = None, model: Model = MODEL, **more: Any) -> dict[str, Any]:
    compat = compat or Compat()
    request = ModelRequest(model=model, messages=messages, **more)
    raw = request_body(request, compat, [encode_message(message, model, compat) for message in messages])
    return dict(json.loads(raw))


def result(call_id: str, *content: Any) -> Any:
    return {
        "role": "toolResult",
        "toolCallId": call_id,
        "toolName": "t",
        "content": list(content),
        "isError": False,
        "timestamp": 1,
    }


def calling(*ids: str) -> Any:
    calls = [{"type": "toolCall", "id": call_id, "name": "t", "arguments": {}} for call_id in ids]
    return {
        "role": "assistant",
        "content": calls,
        "api": "a",
        "provider": "p",
        "model": "m",
        "stopReason": "toolUse",
        "timestamp": 1,
        "usage": {},
    }


def test_images_of_tool_results_follow_the_last_result_of_the_batch() -> None:
    text = {"type": "text", "text": "seen"}
    sent = body([calling("a", "b"), result("a", IMAGE), result("b", text), user_message("and?", timestamp=1)])[
        "messages"
    ]
    assert [message["role"] for message in sent] == ["assistant", "tool", "tool", "user", "user"]
    assert sent[3]["content"] == [{"type": "text", "text": "Images from the tool results:"}, SHOWN]


def test_images_for_a_model_without_eyes_become_a_note() -> None:
    blind = Model(id="m", provider="p", api="openai-completions")
    sent = body([user_message([IMAGE], timestamp=1), calling("a"), result("a", IMAGE)], model=blind)["messages"]
    note = "(an image was left out: this model reads no images)"
    assert (sent[0]["content"], sent[2]["content"]) == ([{"type": "text", "text": note}], note)


def test_nothing_empty_is_sent() -> None:
    silent = {**calling(), "content": [{"type": "thinking", "thinking": "only thought"}]}
    sent = body([user_message("hi", timestamp=1), silent, calling("a"), result("a")])["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool"]
    assert (sent[1]["content"], sent[2]["content"]) == (None, "(no output)")


def test_the_options_follow_what_the_server_knows() -> None:
    plain = body([user_message("x", timestamp=1)], max_tokens=7, thinking_level="xhigh", routing_id="r")
    del plain["messages"]
    assert plain == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 7,
        "reasoning_effort": "high",
    }
    raw = {
        "supportsUsageInStreaming": False,
        "supportsReasoningEffort": False,
        "supportsStore": True,
        "supportsPromptCacheKey": True,
        "maxTokensField": "max_completion_tokens",
        "unknown": 1,
    }
    other = body([user_message("x", timestamp=1)], read_compat(raw), max_tokens=7, thinking_level="low", routing_id="r")
    del other["messages"]
    assert other == {"model": "m", "stream": True, "store": False, "max_completion_tokens": 7, "prompt_cache_key": "r"}
    uncached = body([user_message("x", timestamp=1)], read_compat(raw), routing_id="r", cache=False)
    assert "prompt_cache_key" not in uncached


def test_arguments_that_orjson_refuses_are_sent_all_the_same() -> None:
    message = calling("a")
    message["content"][0]["arguments"] = {"n": 2**70, "s": "\ud800"}
    (call,) = body([message, result("a")])["messages"][0]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"n": 2**70, "s": "\ufffd"}


def test_a_message_that_is_sent_again_is_not_encoded_again_and_one_that_left_is_let_go() -> None:
    def encode(message: ModelMessage) -> Piece:
        return encode_message(message, MODEL, Compat())

    pieces: Pieces[Piece] = Pieces()
    messages: list[ModelMessage] = [user_message(str(number), timestamp=1) for number in range(3)]
    first = list(pieces.of(messages, encode))
    again = pieces.of([*messages, user_message("new", timestamp=1)], encode)
    assert all(old is new for old, new in zip(first, again[:3], strict=True))
    pieces.of(messages[:1], encode)
    assert pieces.of(messages, encode)[1] is not first[1]


@pytest.mark.parametrize(
    ("headers", "text", "seconds"),
    [
        ({"retry-after": "7"}, "", 7.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, "", 1.5),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, "", 30.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT"}, "", None),
        ({"retry-after": "soon"}, "", None),
        ({"retry-after": "30s"}, "", 30.0),
        ({"retry-after": "2026-10-21T07:28:30Z"}, "", None),
        ({}, "Please try again in 11.2s.", 11.2),
        ({}, "try again in 250ms", 0.25),
        ({}, "Your quota will reset after 39s", 39.0),
        ({}, "please wait", None),
        ({}, "Please wait 12 seconds", 12.0),
        ({}, "try again in about 2 minutes", 120.0),
        ({}, "You can retry your request after 5 seconds", 5.0),
        ({}, "Expected available in 12 seconds", 12.0),
        ({}, '{"error": {"details": [{"@type": "RetryInfo", "retryDelay": "34s"}]}}', 34.0),
        ({}, '{"raw": "{\\"error\\": {\\"retry_after\\": 30}}"}', 30.0),
        ({}, '{"error": {"message": "no", "resets_in_seconds": 3600}}', 3600.0),
        ({}, "Retry after 1764580000", None),
        ({}, "Try again in 20", 20.0),
        ({}, "Please try again in 6m0.5s. Limit 30", 360.5),
        ({}, "try again in 2 hours", 7200.0),
        ({}, "Retry after 1 day, 2 hours and 5 minutes", 93_900.0),
        ({"retry-after": "Mon, 1 Jan 9999999999 00:00:00 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, "", None),
    ],
)
def test_the_wait_that_a_service_asks_for(headers: dict[str, str], text: str, seconds: float | None) -> None:
    assert retry_after(headers, text) == seconds


def test_the_wait_that_an_error_inside_a_stream_states_is_kept() -> None:
    said = {"error": {"code": "rate_limit_exceeded", "message": "Rate limit reached. Please try again in 11.054s."}}
    failure = failed("p", 200, json.dumps(said))
    assert (failure.kind, failure.retry_after) == ("rate", 11.054)
