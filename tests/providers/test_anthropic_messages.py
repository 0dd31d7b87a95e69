"""The messages API: streams as the service writes them, and what is asked of it."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from rpc_agent.conversation.messages import AssistantMessage, user_message
from rpc_agent.conversation.models import Model
from rpc_agent.conversation.tool_spec import ToolSpec
from rpc_agent.providers.anthropic_messages.blocks import accepted_id
from rpc_agent.providers.anthropic_messages.compat import read_compat
from rpc_agent.providers.anthropic_messages.request import request_body
from rpc_agent.providers.anthropic_messages.turns import Turns
from rpc_agent.providers.base import ModelCallFailed, ModelRequest
from rpc_agent.providers.classify import is_retryable
from tests.support.chat_server import ServerReply, error_reply
from tests.support.model_conversations import IMAGE, answer, call, result, system, text, user
from tests.support.provider_apis import MESSAGES as API
from tests.support.strict_anthropic import anthropic_faults, anthropic_text, block, end, events, start

pytestmark = pytest.mark.anyio

GOLDEN = Path(__file__).parent.parent / "golden" / "providers"
SIZES = pytest.mark.parametrize("size", [1, 7, 0], ids=["1-byte", "7-bytes", "whole"])
HI = [user_message("hi", timestamp=1)]
MARK = {"type": "ephemeral"}
LS = ToolSpec("ls", "Lists a folder.", {"type": "object", "properties": {"path": {"type": "string"}}})


def golden(name: str, size: int = 0) -> ServerReply:
    return ServerReply(body=(GOLDEN / f"sse_{name}.sse").read_bytes(), cut=size)


async def ask(*replies: ServerReply) -> AssistantMessage:
    async with API.server(*replies) as server:
        return await API.ask(server, HI)


async def failure_of(*replies: ServerReply) -> ModelCallFailed:
    with pytest.raises(ModelCallFailed) as caught:
        await ask(*replies)
    return caught.value


def body(messages: list[Any], model: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """What is sent, as JSON; a strict service accepts it."""
    known = Model(**{"id": "m", "provider": "test", "api": API.name, "input": ("text", "image"), **(model or {})})
    request = ModelRequest(model=known, messages=messages, **more)
    raw = b"".join(request_body(request, read_compat(known), *Turns(known).of(messages)))
    assert anthropic_faults(raw) == []
    return dict(json.loads(raw))


@SIZES
async def test_thinking_text_and_calls_are_told_apart_and_counted(size: int) -> None:
    message = await ask(golden("anthropic_thinking_tools", size))
    assert message["content"] == [
        {"type": "thinking", "thinking": "First 你好.", "thinkingSignature": "EqQBCg=="},
        {"type": "thinking", "thinking": "", "thinkingSignature": "EmwKAhgB", "redacted": True},
        {"type": "thinking", "thinking": "Second.", "thinkingSignature": "EqQBCh=="},
        {"type": "text", "text": "I look \u2028here 🌍."},
        {"type": "toolCall", "id": "toolu_01", "name": "ls", "arguments": {"path": "a b"}},
        {"type": "toolCall", "id": "toolu_02", "name": "now", "arguments": {}},
    ]
    assert (message["stopReason"], message["responseId"]) == ("toolUse", "msg_01")
    usage = {name: message["usage"].get(name) for name in ("input", "output", "cacheRead", "cacheWrite", "reasoning")}
    assert usage == {"input": 12, "output": 89, "cacheRead": 2000, "cacheWrite": 300, "reasoning": 40}


@SIZES
async def test_an_error_event_in_the_stream_is_a_failure_that_may_be_retried(size: int) -> None:
    failure = await failure_of(golden("anthropic_error_mid", size))
    assert (failure.kind, is_retryable(failure.kind), failure.message) == ("overloaded", True, "test: Overloaded")


async def test_an_answer_goes_back_as_it_came() -> None:
    message = await ask(golden("anthropic_thinking_tools"))
    sent = body([*HI, message, result("toolu_01"), result("toolu_02")])["messages"]
    assert sent[1] == {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "First 你好.", "signature": "EqQBCg=="},
            {"type": "redacted_thinking", "data": "EmwKAhgB"},
            {"type": "thinking", "thinking": "Second.", "signature": "EqQBCh=="},
            {"type": "text", "text": "I look \u2028here 🌍."},
            {"type": "tool_use", "id": "toolu_01", "name": "ls", "input": {"path": "a b"}},
            {"type": "tool_use", "id": "toolu_02", "name": "now", "input": {}},
        ],
    }


@pytest.mark.parametrize(
    ("reason", "stop"),
    [("end_turn", "stop"), ("stop_sequence", "stop"), ("pause_turn", "stop"), ("max_tokens", "length"), (None, "stop")],
)
async def test_good_stop_reasons(reason: str | None, stop: str) -> None:
    said = block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "x"})
    message = await ask(ServerReply(body=events(start(), *said, *end(reason))))
    assert (message["stopReason"], message["content"]) == (stop, [text("x")])


@pytest.mark.parametrize(
    ("reason", "kind"),
    [("refusal", "other"), ("model_context_window_exceeded", "overflow"), ("newly_invented", "other")],
)
async def test_bad_stop_reasons_are_failures_with_their_name(reason: str, kind: str) -> None:
    failure = await failure_of(ServerReply(body=events(start(), *end(reason))))
    assert (failure.kind, reason in failure.message) == (kind, True)


async def test_a_refusal_comes_with_the_services_explanation() -> None:
    delta = {"stop_reason": "refusal", "stop_details": {"type": "refusal", "explanation": "Too dangerous."}}
    failure = await failure_of(
        ServerReply(body=events(start(), {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 1}}))
    )
    assert failure.message == "the service's content filter stopped the answer (refusal): Too dangerous."


async def test_the_end_may_be_said_by_the_stop_reason_alone() -> None:
    said = block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "all"})
    whole = events(start(), *said, end()[0])
    assert (await ask(ServerReply(body=whole, reset=True)))["content"] == [text("all")]
    half = events(start(), *said)
    assert (await failure_of(ServerReply(body=half, reset=True))).kind == "transport"


async def test_unknown_events_blocks_and_deltas_are_passed_over() -> None:
    body = events(
        start(),
        {"type": "brand_new_event", "index": 0},
        *block(0, {"type": "server_tool_use", "id": "s", "name": "web", "input": {}}, {"type": "input_json_delta", "partial_json": "{}"}),
        *block(1, {"type": "text", "text": "be"}, {"type": "citations_delta", "citation": {}}, {"type": "text_delta", "text": "gun"}),
        *end(),
    )  # fmt: skip
    message = await ask(ServerReply(body=b": hello\n\ndata: null\n\n" + body))
    assert (message["content"], message["stopReason"]) == ([text("begun")], "stop")


async def test_deltas_of_a_block_whose_beginning_was_never_sent_are_read() -> None:
    deltas = block(3, {}, {"type": "text_delta", "text": "still"}, {"type": "input_json_delta", "partial_json": "{"})
    assert (await ask(ServerReply(body=events(start(), *deltas[1:], *end()))))["content"] == [text("still")]


async def test_half_an_emoji_in_each_of_two_deltas_is_one_emoji() -> None:
    halves = ({"type": "text_delta", "text": half} for half in ("a \ud83d", "\ude00 b \ud83d", "!"))
    said = block(0, {"type": "text", "text": ""}, *halves)
    message = await ask(ServerReply(body=events(start(), *said, *end())))
    assert message["content"] == [text("a 😀 b \ufffd!")]


async def test_arguments_that_came_with_the_beginning_of_a_call_are_taken() -> None:
    calls = block(0, {"type": "tool_use", "name": "ls", "input": {"path": "x"}}) + block(
        1, {"type": "tool_use", "name": "ls", "input": {}}, {"type": "input_json_delta", "partial_json": '{"path":"y"}'}
    )
    message = await ask(ServerReply(body=events(start(), *calls, *end("tool_use"))))
    assert message["content"] == [
        {"type": "toolCall", "id": "call_1_0", "name": "ls", "arguments": {"path": "x"}},
        {"type": "toolCall", "id": "call_1_1", "name": "ls", "arguments": {"path": "y"}},
    ]


async def test_counts_that_come_only_at_the_end_or_only_at_the_start_are_kept() -> None:
    late = events(start({"input_tokens": 0, "output_tokens": 0}), *end(input_tokens=70, cache_read_input_tokens=30))
    early = events(start({"input_tokens": 70, "cache_read_input_tokens": 30, "output_tokens": 1}), *end(input_tokens=0))
    odd = events(start({"input_tokens": None, "output_tokens": -3, "cache_read_input_tokens": "9"}), *end())
    counts = []
    for stream in (late, early, odd):
        usage = (await ask(ServerReply(body=stream)))["usage"]
        counts.append((usage["input"], usage["cacheRead"], usage["output"], usage["totalTokens"]))
    assert counts == [(70, 30, 5, 105), (70, 30, 5, 105), (0, 0, 5, 5)]


async def test_an_answer_that_was_not_streamed_is_read_whole() -> None:
    whole = {
        "type": "message",
        "id": "msg_9",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            text("hi"),
            {"type": "tool_use", "id": "t", "name": "ls", "input": {"path": "."}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 4},
    }
    message = await ask(error_reply(200, whole))
    assert message["content"] == [
        {"type": "thinking", "thinking": "hm", "thinkingSignature": "c2ln"},
        text("hi"),
        {"type": "toolCall", "id": "t", "name": "ls", "arguments": {"path": "."}},
    ]
    assert (message["stopReason"], message["responseId"], message["usage"]["totalTokens"]) == ("toolUse", "msg_9", 7)


async def test_the_address_ends_the_same_with_and_without_v1() -> None:
    async with API.server(anthropic_text("x"), anthropic_text("x")) as server:
        await API.ask(server, HI)
        await API.ask(server, HI, model={"base_url": server.base_url.removesuffix("/v1")})
    assert server.paths == ["/v1/messages"] * 2
    assert server.headers[0]["anthropic-version"] == "2023-06-01"


def test_the_request_says_what_was_asked_and_marks_what_does_not_change() -> None:
    history = [
        system("Be brief."),
        user(text("one")),
        answer(call("c1"), api="elsewhere"),
        result("c1", text("a.txt")),
        user(text("two")),
    ]
    assert body(history, max_tokens=99, tools=[LS, ToolSpec("now", "Tells the time.", {})]) == {
        "model": "m",
        "max_tokens": 99,
        "stream": True,
        "tools": [
            {"name": "ls", "description": "Lists a folder.", "input_schema": LS.parameters},
            {
                "name": "now",
                "description": "Tells the time.",
                "input_schema": {"type": "object", "properties": {}},
                "cache_control": MARK,
            },
        ],
        "system": [{**text("Be brief."), "cache_control": MARK}],
        "messages": [
            {"role": "user", "content": [{**text("one"), "cache_control": MARK}]},
            {"role": "assistant", "content": [{"id": "c1", "type": "tool_use", "name": "ls", "input": {}}]},
            {
                "role": "user",
                "content": [
                    {"tool_use_id": "c1", "type": "tool_result", "content": [text("a.txt")]},
                    {**text("two"), "cache_control": MARK},
                ],
            },
        ],
    }


def test_a_turn_reads_what_the_turn_before_wrote_to_the_cache() -> None:
    """Up to its last mark the earlier request is, marks aside, the beginning of the later one; and the later one has a
    mark at that place."""
    first = [system("Be brief."), user(text("one"))]
    second = [*first, answer(call("c1"), api="elsewhere"), result("c1", text("a"))]
    third = [*second, answer(text("b"), api="elsewhere"), user(text("more"))]
    marked = [_marked_prefixes(body(messages, tools=[LS])) for messages in (first, second, third)]
    for earlier, later in pairwise(marked):
        assert earlier[-1] in later


def _marked_prefixes(request: dict[str, Any]) -> list[str]:
    """The text of the request up to each mark, marks left out, in the order of the cache."""
    prefixes, so_far = [], ""
    turns = [block for message in request["messages"] for block in ({"role": message["role"]}, *message["content"])]
    for item in (*request["tools"], *request["system"], *turns):
        so_far += json.dumps({name: value for name, value in item.items() if name != "cache_control"})
        prefixes += [so_far] if "cache_control" in item else []
    return prefixes


def test_without_caching_nothing_is_marked() -> None:
    history = [system("Be brief."), user(text("one"))]
    assert "cache_control" not in json.dumps(body(history, tools=[LS], cache=False))
    assert "cache_control" not in json.dumps(body(history, {"compat": {"supportsPromptCache": False}}, tools=[LS]))


def test_results_come_first_whatever_stood_before_them() -> None:
    (*_, last) = body([user(text("a")), answer(call("c1")), user(text("b")), result("c1", IMAGE)])["messages"]
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}}
    assert last["content"] == [
        {"tool_use_id": "c1", "type": "tool_result", "content": [image]},
        {**text("b"), "cache_control": MARK},
    ]


def test_an_image_of_a_kind_nobody_reads_becomes_a_note() -> None:
    (message,) = body([user({**IMAGE, "mimeType": "image/bmp"})])["messages"]
    assert message["content"][0]["text"] == "(an image was left out: this model does not read images of its kind)"


def test_ids_of_other_services_become_acceptable_and_stay_different() -> None:
    ids = ["toolu_01AbC-d", "functions.ls:0", "functions.ls:1", "x" * 64, "x" * 65, "x" * 66, "", "é"]
    accepted = [accepted_id(call_id) for call_id in ids]
    assert accepted == [accepted_id(call_id) for call_id in ids]
    assert (accepted[0], accepted[3], len(set(accepted))) == (ids[0], ids[3], len(ids))


def test_a_repeated_id_gets_a_number_and_so_does_its_result() -> None:
    history = [user(text("a"))]
    for number in range(3):
        history += [
            answer(call("c", says='"id":"c"'), call(f"d{number}")),
            result("c", text("r")),
            result(f"d{number}"),
        ]
    sent = body(history)["messages"]
    calls = [block["id"] for message in sent for block in message["content"] if block["type"] == "tool_use"]
    results = [block["tool_use_id"] for message in sent for block in message["content"] if "tool_use_id" in block]
    assert calls == results == ["c", "d0", "c_2", "d1", "c_3", "d2"]
    assert all(block["input"] == {"says": '"id":"c"'} for block in sent[3]["content"][:1])


@pytest.mark.parametrize(
    ("model_id", "compat", "level", "most", "sent"),
    [
        ("claude-sonnet-4-5", {}, "low", 64_000, {"thinking": {"type": "enabled", "budget_tokens": 4096}}),
        ("claude-sonnet-4-5", {}, "off", 64_000, {}),
        ("claude-opus-4-20250514", {}, "high", 8000, {"thinking": {"type": "enabled", "budget_tokens": 4000}}),
        ("claude-haiku-4-5", {}, "high", 2000, {}),
        ("claude-haiku-4-5", {"thinkingBudgets": {"high": 5000}}, "high", 64_000, {"thinking": {"type": "enabled", "budget_tokens": 5000}}),
        ("glm-5", {"supportsThinkingDisabled": True}, "off", 64_000, {"thinking": {"type": "disabled"}}),
        ("glm-5", {"supportsReasoningEffort": False}, "high", 64_000, {}),
        ("claude-opus-4-8", {}, "off", 64_000, {"thinking": {"type": "disabled"}}),
        ("claude-opus-4-8", {}, "minimal", 64_000, {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "low"}}),
        ("claude-opus-4-8", {}, "xhigh", 64_000, {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "high"}}),
        ("claude-opus-4-8", {"reasoningEffortMap": {"xhigh": "max"}}, "xhigh", 64_000, {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "max"}}),
        ("claude-fable-5", {"reasoningEffortMap": {"off": None}}, "off", 64_000, {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "low"}}),
        ("any", {"supportsAdaptiveThinking": True}, "medium", 64_000, {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "medium"}}),
    ],
)  # fmt: skip
def test_thinking_is_asked_for_as_the_model_understands_it(
    model_id: str, compat: dict[str, Any], level: str, most: int, sent: dict[str, Any]
) -> None:
    model = {"id": model_id, "reasoning": True, "compat": compat, "max_tokens": most}
    request = body([user(text("x"))], model, thinking_level=level)
    assert {name: value for name, value in request.items() if name in ("thinking", "output_config")} == sent


def test_a_model_that_does_not_think_is_never_told_about_thinking() -> None:
    assert "thinking" not in body([user(text("x"))], {"id": "claude-opus-4-8"}, thinking_level="high")


def test_a_limit_is_sent_even_where_nobody_knows_one() -> None:
    assert body([user(text("x"))])["max_tokens"] == 8192
