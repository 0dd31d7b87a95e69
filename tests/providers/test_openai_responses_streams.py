"""Streams of the responses API over real HTTP, cut at every size."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from rpc_agent.conversation.messages import AssistantMessage, user_message
from rpc_agent.providers.base import ModelCallFailed
from rpc_agent.providers.classify import is_retryable
from tests.support.chat_server import ChatServer, ServerReply, error_reply
from tests.support.provider_apis import KEY, RESPONSES
from tests.support.strict_responses import responses_faults

pytestmark = pytest.mark.anyio

GOLDEN = Path(__file__).parent.parent / "golden" / "providers"
SIZES = pytest.mark.parametrize("size", [1, 7, 0], ids=["1-byte", "7-bytes", "whole"])
REASONING = {
    "type": "reasoning",
    "id": "rs_01",
    "summary": [{"type": "summary_text", "text": "First look."}, {"type": "summary_text", "text": "Then read."}],
    "encrypted_content": "gAAAAB+enc/rypted==",
}


def golden(name: str, size: int = 0) -> ServerReply:
    return ServerReply(body=(GOLDEN / f"responses_{name}.sse").read_bytes(), cut=size)


def events(*raw: dict[str, Any]) -> ServerReply:
    return ServerReply(body="".join(f"data: {json.dumps(event)}\n\n" for event in raw).encode())


async def ask(reply: ServerReply) -> AssistantMessage:
    async with RESPONSES.server(reply) as server:
        return await ask_server(server, [user_message("hi", timestamp=1)])


async def ask_server(server: ChatServer, messages: Sequence[Any], **more: Any) -> AssistantMessage:
    model = {"reasoning": True, "context_window": 200_000, "input": ("text", "image")}
    return await RESPONSES.ask(server, messages, model=model, **more)


async def failure_of(reply: ServerReply) -> ModelCallFailed:
    with pytest.raises(ModelCallFailed) as caught:
        await ask(reply)
    return caught.value


@SIZES
async def test_text_arrives_whole_however_it_is_cut(size: int) -> None:
    message = await ask(golden("text", size))
    assert message["content"] == [{"type": "text", "text": "Hello, wörld 🌍 \u2028 end"}]
    assert (message["stopReason"], message.get("responseId")) == ("stop", "resp_01")
    usage = message["usage"]
    assert (usage["input"], usage["cacheRead"], usage["output"], usage.get("reasoning")) == (20, 100, 40, 25)
    assert usage["totalTokens"] == 160


@SIZES
async def test_reasoning_comments_and_calls_are_blocks_in_their_order(size: int) -> None:
    message = await ask(golden("reasoning_and_calls", size))
    thinking, text, *calls = message["content"]
    assert thinking["type"] == "thinking"
    assert thinking["thinking"] == "First look.\n\nThen read."
    assert json.loads(thinking.get("thinkingSignature", "")) == REASONING
    assert text == {"type": "text", "text": "I read both.", "textSignature": '{"phase":"commentary"}'}
    assert calls == [
        {"type": "toolCall", "id": "call_a", "name": "read", "arguments": {"path": "a.py"}},
        {"type": "toolCall", "id": "call_b", "name": "read", "arguments": {"path": "b.py"}},
    ]
    assert message["stopReason"] == "toolUse"


async def test_reasoning_goes_back_to_its_own_model_and_to_no_other() -> None:
    async with ChatServer([golden("reasoning_and_calls"), golden("text"), golden("text")], responses_faults) as server:
        with anyio.fail_after(20):
            question = user_message("hi", timestamp=1)
            answer = await ask_server(server, [question])
            results = [result(call) for call in ("call_a", "call_b")]
            await ask_server(server, [question, answer, *results])
            await ask_server(server, [question, {**answer, "model": "another"}, *results])
    own, foreign = server.requests[1]["input"], server.requests[2]["input"]
    assert server.faults == []
    assert own[1] == REASONING
    assert own[2] == {
        "type": "message",
        "role": "assistant",
        "content": "I read both.",
        "phase": "commentary",
    }
    assert own[3] == {"type": "function_call", "call_id": "call_a", "name": "read", "arguments": '{"path":"a.py"}'}
    assert own[5] == {"type": "function_call_output", "call_id": "call_a", "output": "done"}
    assert foreign == [own[0], {key: value for key, value in own[2].items() if key != "phase"}, *own[3:]]


def result(call_id: str) -> Any:
    content = [{"type": "text", "text": "done"}]
    return {"role": "toolResult", "toolCallId": call_id, "toolName": "read", "content": content, "isError": False, "timestamp": 1}  # fmt: skip


@SIZES
async def test_an_answer_cut_by_its_limit_is_a_length_stop(size: int) -> None:
    message = await ask(golden("output_limit", size))
    assert (message["content"], message["stopReason"]) == ([{"type": "text", "text": "Too lon"}], "length")
    assert message["usage"]["output"] == 16


@SIZES
@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("failed", "overloaded", "The server had an error"),
        ("error_event", "rate", "please slow down"),
        ("cut_mid_call", "transport", "ended before the answer was complete"),
    ],
)
async def test_a_stream_that_fails_is_a_failure_that_may_be_retried(
    name: str, kind: str, words: str, size: int
) -> None:
    failure = await failure_of(golden(name, size))
    assert (failure.kind, is_retryable(failure.kind)) == (kind, True)
    assert words in failure.message
    # The service repeats the request beside its error, and that is none of the failure.
    assert "says this instruction" not in failure.message
    assert KEY not in failure.message


@SIZES
async def test_comments_crlf_and_a_done_marker_are_no_trouble(size: int) -> None:
    message = await ask(golden("keepalive_crlf", size))
    assert (message["content"], message["stopReason"]) == ([{"type": "text", "text": "Hi"}], "stop")


async def test_a_200_with_an_error_body_is_a_failure() -> None:
    body = {"error": {"message": f"Incorrect API key provided: {KEY}", "type": "invalid_request_error"}}
    failure = await failure_of(error_reply(200, body))
    assert failure.kind == "auth"
    assert "[key]" in failure.message
    assert KEY not in failure.message


async def test_a_refusal_for_size_is_an_overflow_and_its_limit_is_read() -> None:
    body = {"error": {"message": "This model's maximum context length is 8192 tokens, however you requested 9000 tokens.",
                      "code": "context_length_exceeded"}}  # fmt: skip
    failure = await failure_of(error_reply(400, body))
    assert (failure.kind, failure.status, failure.limit) == ("overflow", 400, 8192)


async def test_an_answer_that_was_not_streamed_is_read_whole() -> None:
    body = {
        "id": "resp_9",
        "object": "response",
        "status": "completed",
        "error": None,
        "output": [
            REASONING,
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]},
            {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": '{"path":"."}'},
        ],
        "usage": {"input_tokens": 5, "output_tokens": 6},
    }
    message = await ask(error_reply(200, body))
    assert [block["type"] for block in message["content"]] == ["thinking", "text", "toolCall"]
    assert (message["stopReason"], message["usage"]["input"], message.get("responseId")) == ("toolUse", 5, "resp_9")


async def test_a_server_without_ids_and_numbers_is_understood() -> None:
    message = await ask(
        events(
            {"type": "response.output_item.added", "item": {"type": "message"}},
            {"type": "response.output_text.delta", "delta": "a"},
            {
                "type": "response.output_item.done",
                "item": {"type": "message", "content": [{"type": "output_text", "text": "a"}]},
            },
            {"type": "response.output_item.added", "item": {"type": "function_call", "name": "x", "arguments": ""}},
            {
                "type": "response.output_item.done",
                "item": {"type": "function_call", "name": "x", "arguments": '{"n":1}'},
            },
            {"type": "response.completed", "response": {}},
        )
    )
    assert message["content"] == [
        {"type": "text", "text": "a"},
        {"type": "toolCall", "id": "call_1_1", "name": "x", "arguments": {"n": 1}},
    ]


@pytest.mark.parametrize(
    ("reason", "kind"),
    [("content_filter", "other"), ("model_context_window_exceeded", "overflow"), ("steered", "other")],
)
async def test_other_unfinished_ends_are_failures(reason: str, kind: str) -> None:
    response = {"status": "incomplete", "incomplete_details": {"reason": reason}}
    assert (await failure_of(events({"type": "response.incomplete", "response": response}))).kind == kind


async def test_an_escaped_surrogate_pair_over_two_deltas_is_one_character() -> None:
    body = (
        rb'data: {"type":"response.output_text.delta","output_index":0,"delta":"a\ud83c"}' + b"\n\n"
        rb'data: {"type":"response.output_text.delta","output_index":0,"delta":"\udf0d"}' + b"\n\n"
        b'data: {"type":"response.completed","response":{}}\n\n'
    )
    assert (await ask(ServerReply(body=body)))["content"] == [{"type": "text", "text": "a🌍"}]


async def test_a_connection_reset_after_the_end_loses_nothing() -> None:
    whole = golden("text")
    message = await ask(ServerReply(body=whole.body, reset=True))
    assert message["stopReason"] == "stop"
