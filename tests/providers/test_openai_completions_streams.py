"""Byte-exact streams of real servers, over real HTTP, cut at every size."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from rpc_agent.conversation.messages import AssistantMessage, user_message
from rpc_agent.conversation.tool_spec import ToolSpec
from rpc_agent.providers.base import ModelCallFailed
from rpc_agent.providers.classify import is_retryable
from rpc_agent.providers.connections import Connections
from rpc_agent.providers.timeouts import Timeouts
from tests.support.chat_server import (
    ChatServer,
    ServerReply,
    call_reply,
    chunk,
    error_reply,
    sse,
    text_reply,
)
from tests.support.provider_apis import COMPLETIONS, KEY

pytestmark = pytest.mark.anyio

GOLDEN = Path(__file__).parent.parent / "golden" / "providers"
SIZES = pytest.mark.parametrize("size", [1, 7, 0], ids=["1-byte", "7-bytes", "whole"])
HI = [user_message("hi", timestamp=1)]


def golden(name: str, size: int = 0) -> ServerReply:
    return ServerReply(body=(GOLDEN / f"sse_{name}.sse").read_bytes(), cut=size)


async def ask(replies: Sequence[ServerReply], **more: Any) -> tuple[AssistantMessage, ChatServer]:
    """The whole answer to one question."""
    async with ChatServer(replies) as server:
        return await ask_server(server, **more), server


async def ask_server(server: ChatServer, messages: Sequence[Any] = HI, **more: Any) -> AssistantMessage:
    return await COMPLETIONS.ask(server, messages, **{"model": {"context_window": 200_000}, **more})


async def failure_of(replies: Sequence[ServerReply], timeouts: Timeouts | None = None) -> ModelCallFailed:
    with pytest.raises(ModelCallFailed) as caught:
        await ask(replies, timeouts=timeouts)
    return caught.value


@SIZES
async def test_text_in_many_scripts_survives_any_cut(size: int) -> None:
    message, _ = await ask([golden("utf8_split", size)])
    assert message["content"] == [{"type": "text", "text": "你好世界 🌍 Привет"}]
    assert (message["stopReason"], message["usage"]["input"], message["usage"]["output"]) == ("stop", 10, 5)


@SIZES
async def test_comments_other_fields_and_crlf_are_no_trouble(size: int) -> None:
    message, _ = await ask([golden("keepalive_crlf", size)])
    assert (message["content"], message["stopReason"]) == ([{"type": "text", "text": "Hi"}], "stop")


@SIZES
async def test_a_new_id_on_the_same_index_is_a_new_call(size: int) -> None:
    message, _ = await ask([golden("tool_index_zero", size)])
    assert message["content"] == [
        {"type": "toolCall", "id": "call_a", "name": "read", "arguments": {"path": "a.rs"}},
        {"type": "toolCall", "id": "call_b", "name": "read", "arguments": {"path": "b.rs"}},
    ]
    assert message["stopReason"] == "toolUse"


@SIZES
async def test_an_error_inside_a_stream_is_a_failure_that_may_be_retried(size: int) -> None:
    failure = await failure_of([golden("midstream_error_502", size)])
    assert "Worker local total request limit reached" in failure.message
    assert (failure.kind, is_retryable(failure.kind)) == ("overloaded", True)


@SIZES
async def test_a_stream_cut_in_a_tool_call_is_a_failure_that_may_be_retried(size: int) -> None:
    failure = await failure_of([golden("eof_mid_tool", size)])
    assert (failure.kind, is_retryable(failure.kind)) == ("transport", True)


@SIZES
async def test_null_chunks_and_chunks_without_choices_are_skipped(size: int) -> None:
    message, _ = await ask([golden("no_choices", size)])
    assert message["content"] == [{"type": "text", "text": "fine"}]
    assert (message["usage"]["input"], message["usage"]["output"]) == (10, 5)


@SIZES
async def test_the_window_as_a_finish_reason_is_an_overflow(size: int) -> None:
    assert (await failure_of([golden("zai_window", size)])).kind == "overflow"


async def test_a_total_that_does_not_add_up_is_not_believed() -> None:
    message, _ = await ask([golden("silent_overflow")])
    assert message["content"] == [{"type": "text", "text": "answer"}]
    assert (message["usage"]["input"], message["usage"]["totalTokens"]) == (215_000, 215_002)


@SIZES
async def test_reasoning_is_kept_apart_and_sent_back_to_the_same_model_only(size: int) -> None:
    async with ChatServer([golden("deepseek_reasoning", size), text_reply("done"), text_reply("done")]) as server:
        with anyio.fail_after(20):
            first = await ask_server(server)
            result: Any = {
                "role": "toolResult",
                "toolCallId": "call_a",
                "toolName": "bash",
                "content": [{"type": "text", "text": "a.txt"}],
                "isError": False,
                "timestamp": 3,
            }
            history = [user_message("hi", timestamp=1), first, result]
            await ask_server(server, history)
            await ask_server(server, [history[0], {**first, "model": "another"}, result])
    assert first["content"] == [
        {"type": "thinking", "thinking": "need ls first", "thinkingSignature": "reasoning_content"},
        {"type": "toolCall", "id": "call_a", "name": "bash", "arguments": {"command": "ls"}},
    ]
    function = {"name": "bash", "arguments": '{"command":"ls"}'}
    plain = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_a", "type": "function", "function": function}],
    }
    assert server.requests[1]["messages"][1] == {**plain, "reasoning_content": "need ls first"}
    assert server.requests[2]["messages"][1] == plain
    assert server.faults == []


async def test_half_an_emoji_in_each_of_two_deltas_is_one_emoji() -> None:
    body = (
        b'data: {"choices":[{"delta":{"content":"a \\ud83d"}}]}\n\n'
        b'data: {"choices":[{"delta":{"content":"\\ude00 b"}}]}\n\n'
        b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'
    )
    message, _ = await ask([ServerReply(body=body)])
    assert message["content"] == [{"type": "text", "text": "a 😀 b"}]


async def test_a_line_separator_inside_a_delta_is_text() -> None:
    text = "a\u2028b\u2029c\u0085d"
    body = (
        sse(chunk({"content": text}, "stop"))
        .replace(b"\\u2028", "\u2028".encode())
        .replace(b"\\u2029", "\u2029".encode())
        .replace(b"\\u0085", "\u0085".encode())
    )
    message, _ = await ask([ServerReply(body=body, cut=1)])
    assert message["content"] == [{"type": "text", "text": text}]


async def test_an_answer_that_was_not_streamed_is_read_whole() -> None:
    call = {"id": "x", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    body = {
        "id": "r1",
        "choices": [{"message": {"content": "hi", "tool_calls": [call]}, "finish_reason": "tool_calls"}],
    }
    message, _ = await ask([error_reply(200, body)])
    assert message["content"] == [
        {"type": "text", "text": "hi"},
        {"type": "toolCall", "id": "x", "name": "ls", "arguments": {}},
    ]
    assert message["responseId"] == "r1"


async def test_status_200_with_an_error_body_is_a_failure() -> None:
    failure = await failure_of([error_reply(200, {"error": {"message": "prompt is too long: 300 tokens > 200 max"}})])
    assert (failure.kind, failure.message) == ("overflow", "test: prompt is too long: 300 tokens > 200 max")


@pytest.mark.parametrize(
    ("reason", "kind"), [("content_filter", "other"), ("network_error", "transport"), ("whatever", "other")]
)
async def test_a_bad_or_unknown_finish_reason_is_a_failure(reason: str, kind: str) -> None:
    failure = await failure_of([ServerReply(body=sse(chunk({"content": "half"}), chunk({}, reason)))])
    assert (failure.kind, reason in failure.message) == (kind, True)


async def test_an_end_without_a_finish_reason_is_a_cut_answer() -> None:
    body = sse(chunk({"content": "half"})).replace(b"data: [DONE]\n\n", b"")
    assert (await failure_of([ServerReply(body=body)])).kind == "transport"


async def test_done_ends_an_answer_of_a_server_that_says_no_reason_unless_nothing_came() -> None:
    message, _ = await ask([ServerReply(body=sse(chunk({"content": "all"})))])
    assert (message["content"], message["stopReason"]) == ([{"type": "text", "text": "all"}], "stop")
    assert (await failure_of([ServerReply(body=sse(chunk({"content": ""})))])).kind == "transport"


async def test_a_server_that_neither_closes_nor_says_done_is_not_waited_for() -> None:
    reply = ServerReply(body=sse(chunk({"content": "all"}, "stop")).replace(b"data: [DONE]\n\n", b""), stall=True)
    message, _ = await ask([reply], timeouts=Timeouts(after_end=0.1))
    assert message["content"] == [{"type": "text", "text": "all"}]


async def test_a_reset_after_the_finish_reason_loses_nothing_and_before_it_everything() -> None:
    whole = f"data: {chunk_json({'content': 'all'}, 'stop')}\n\n".encode()
    message, _ = await ask([ServerReply(body=whole, reset=True)])
    assert message["content"] == [{"type": "text", "text": "all"}]
    half = f"data: {chunk_json({'content': 'half'}, None)}\n\n".encode()
    assert (await failure_of([ServerReply(body=half, reset=True)])).kind == "transport"


def chunk_json(delta: dict[str, Any], reason: str | None) -> str:
    return sse(chunk(delta, reason)).decode().partition("\n")[0].removeprefix("data: ")


async def test_an_unreachable_server_is_named() -> None:
    async with ChatServer() as gone:
        address = gone.base_url
    async with ChatServer() as server:
        with pytest.raises(ModelCallFailed) as caught:
            await ask_server(server, model={"base_url": address})
    assert caught.value.kind == "transport"
    assert address in caught.value.message


async def test_a_refusal_carries_its_status_its_wait_and_its_words() -> None:
    body = {"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}}
    failure = await failure_of([error_reply(429, body, {"Retry-After": "7"})])
    assert (failure.kind, failure.status, failure.retry_after) == ("rate", 429, 7.0)
    assert failure.message == "test answered 429: Rate limit reached"


async def test_a_key_that_a_service_quotes_is_taken_out() -> None:
    failure = await failure_of([error_reply(401, {"error": {"message": f"Incorrect API key provided: {KEY}."}})])
    assert (failure.kind, failure.message) == ("auth", "test answered 401: Incorrect API key provided: [key].")


async def test_an_abort_before_the_first_byte_ends_the_connection_too() -> None:
    async with ChatServer([ServerReply(delay=3600)]) as server, anyio.create_task_group() as group:
        connections = Connections()

        async def ask_for_ever() -> None:
            await ask_server(server, connections=connections)

        with anyio.fail_after(20):
            group.start_soon(ask_for_ever)
            await server.request_came.wait()
            group.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await server.client_closed.wait()
                await connections.aclose()


async def test_a_connection_is_used_again_and_one_closed_meanwhile_is_opened_anew() -> None:
    replies = [text_reply("one"), text_reply("two"), ServerReply(close_unanswered=True), text_reply("three")]
    async with ChatServer(replies) as server:
        connections = Connections()
        with anyio.fail_after(20):
            answers = [await ask_server(server, connections=connections) for _ in range(3)]
        await connections.aclose()
    assert [answer["content"][0].get("text") for answer in answers] == ["one", "two", "three"]
    assert (server.connections, len(server.requests)) == (2, 4)


async def test_a_fresh_connection_that_is_closed_unanswered_is_not_tried_again() -> None:
    async with ChatServer([ServerReply(close_unanswered=True), text_reply("never asked for")]) as server:
        with anyio.fail_after(20), pytest.raises(ModelCallFailed) as caught:
            await ask_server(server)
    assert (caught.value.kind, len(server.requests)) == ("transport", 1)


async def test_calls_without_ids_get_different_ones_and_pieces_without_index_go_on_with_the_last() -> None:
    body = sse(
        chunk({"tool_calls": [{"index": "9" * 5000, "function": {"name": "ls", "arguments": '{"path":'}}]}),
        chunk({"tool_calls": [{"function": {"arguments": '"a"}'}}]}),
        chunk({"tool_calls": [{"function": {"name": "ls", "arguments": {"path": "b"}}}]}),
        chunk({}, "stop"),
    )
    message, _ = await ask([ServerReply(body=body)])
    assert message["content"] == [
        {"type": "toolCall", "id": "call_1_1", "name": "ls", "arguments": {"path": "a"}},
        {"type": "toolCall", "id": "call_1_2", "name": "ls", "arguments": {"path": "b"}},
    ]
    assert message["stopReason"] == "toolUse"


async def test_interleaved_calls_are_told_apart_by_index() -> None:
    def piece(index: int, arguments: str, **more: Any) -> dict[str, Any]:
        return chunk(
            {"tool_calls": [{"index": index, **more, "function": {"arguments": arguments, **more.pop("f", {})}}]}
        )

    body = sse(
        piece(0, "", id="a", f={"name": "read"}),
        piece(1, "", id="b", f={"name": "read"}),
        piece(0, '{"path":"x"}'),
        piece(1, '{"path":"y"}'),
        chunk({}, "tool_calls"),
    )
    message, _ = await ask([ServerReply(body=body)])
    calls: list[Any] = list(message["content"])
    assert [(call["id"], call["arguments"]) for call in calls] == [("a", {"path": "x"}), ("b", {"path": "y"})]


async def test_cached_tokens_are_no_fresh_input() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    message, _ = await ask([ServerReply(body=sse(chunk({"content": "x"}, "stop"), {"choices": [], "usage": usage}))])
    counted = {
        name: message["usage"].get(name) for name in ("input", "output", "cacheRead", "totalTokens", "reasoning")
    }
    assert counted == {"input": 40, "output": 7, "cacheRead": 60, "totalTokens": 107, "reasoning": 3}


@pytest.mark.parametrize(
    "usage", [None, [], "x", {"prompt_tokens": None}, {"prompt_tokens": -3}, {"prompt_tokens": "9"}]
)
async def test_missing_or_odd_usage_counts_as_nothing(usage: object) -> None:
    message, _ = await ask([ServerReply(body=sse({**chunk({"content": "x"}, "stop"), "usage": usage}))])
    assert (message["content"], message["usage"]["totalTokens"]) == ([{"type": "text", "text": "x"}], 0)


async def test_the_request_says_what_was_asked() -> None:
    spec = ToolSpec("ls", "Lists files.", {"type": "object", "properties": {}})
    _, server = await ask([call_reply(("ls", {}))], tools=[spec])
    assert server.requests == [
        {
            "model": "m",
            "stream": True,
            "stream_options": {"include_usage": True},
            "tools": [{"type": "function", "function": spec.to_json()}],
            "messages": [{"role": "user", "content": "hi"}],
        }
    ]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert server.paths == ["/v1/chat/completions"]
