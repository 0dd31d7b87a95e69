"""The generateContent API: streams as the service writes them, and what is asked of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from rpc_agent.conversation.messages import AssistantMessage, user_message
from rpc_agent.conversation.models import Model
from rpc_agent.conversation.tool_spec import ToolSpec
from rpc_agent.providers.base import ModelCallFailed, ModelRequest
from rpc_agent.providers.google_generative_ai.compat import read_compat
from rpc_agent.providers.google_generative_ai.contents import Contents
from rpc_agent.providers.google_generative_ai.request import request_body
from tests.support.chat_server import ServerReply, error_reply
from tests.support.model_conversations import IMAGE, NOW, answer, call, result, system, text, user
from tests.support.provider_apis import GENERATE_CONTENT as API
from tests.support.strict_google import chunks, google_faults, google_text, parts, usage

pytestmark = pytest.mark.anyio

GOLDEN = Path(__file__).parent.parent / "golden" / "providers"
SIZES = pytest.mark.parametrize("size", [1, 7, 0], ids=["1-byte", "7-bytes", "whole"])
HI = [user_message("hi", timestamp=1)]
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
    compat = read_compat(known)
    request = ModelRequest(model=known, messages=messages, **more)
    raw = b"".join(request_body(request, compat, *Contents(known, compat).of(messages)))
    assert google_faults(raw) == []
    return dict(json.loads(raw))


@SIZES
async def test_thinking_text_and_calls_are_told_apart_and_counted(size: int) -> None:
    message = await ask(golden("gemini_thinking_tools", size))
    assert message["content"] == [
        {"type": "thinking", "thinking": "**Looking**\n\nI should look 你好."},
        text("I look here 🌍."),
        {**call("gcall_rEsP-1_x_1", path="a b"), "thoughtSignature": "CiQBCg=="},
        call("gcall_rEsP-1_x_2", "now"),
    ]
    assert (message["stopReason"], message["responseId"]) == ("toolUse", "rEsP-1_x")
    counted = {name: message["usage"].get(name) for name in ("input", "output", "cacheRead", "reasoning")}
    assert counted == {"input": 20, "output": 76, "cacheRead": 100, "reasoning": 50}


@SIZES
async def test_a_malformed_call_is_an_error_with_that_name(size: int) -> None:
    failure = await failure_of(golden("gemini_malformed_call", size))
    assert ("MALFORMED_FUNCTION_CALL" in failure.message, failure.kind) == (True, "other")


@SIZES
async def test_a_signature_that_comes_alone_belongs_to_the_text_before_it(size: int) -> None:
    message = await ask(golden("gemini_text_signature", size))
    assert message["content"] == [{**text("The answer is 42."), "textSignature": "CiQBCw=="}]
    sent = body([*HI, message, user(text("why?"))])["contents"][1]
    assert sent == {"role": "model", "parts": [{"text": "The answer is 42.", "thoughtSignature": "CiQBCw=="}]}


async def test_text_after_a_signature_is_a_block_of_its_own() -> None:
    stream = chunks(
        parts({"thoughtSignature": "bG9zdA=="}),
        parts({"text": "hm", "thought": True, "thoughtSignature": "MQ=="}, {"text": "more", "thought": True}),
        parts({"text": "a", "thoughtSignature": "Mg=="}, {"text": "b"}, finish="STOP"),
    )
    message = await ask(ServerReply(body=stream))
    assert message["content"] == [
        {"type": "thinking", "thinking": "hm", "thinkingSignature": "MQ=="},
        {"type": "thinking", "thinking": "more"},
        {**text("a"), "textSignature": "Mg=="},
        text("b"),
    ]


async def test_an_answer_goes_back_as_it_came() -> None:
    message = await ask(golden("gemini_thinking_tools"))
    ids = [block["id"] for block in message["content"] if block["type"] == "toolCall"]
    results = [result(ids[0], text("a.txt")), result(ids[1], name="now")]
    sent = body([*HI, message, *results])["contents"]
    assert sent[1:] == [
        {
            "role": "model",
            "parts": [
                {"text": "I look here 🌍."},
                {"functionCall": {"name": "ls", "args": {"path": "a b"}}, "thoughtSignature": "CiQBCg=="},
                {"functionCall": {"name": "now", "args": {}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "ls", "response": {"output": "a.txt"}}},
                {"functionResponse": {"name": "now", "response": {"output": "(no output)"}}},
            ],
        },
    ]


async def test_ids_that_the_service_gave_go_back_with_call_and_result() -> None:
    stream = chunks(parts({"functionCall": {"id": "srv-1", "name": "ls", "args": {}}}, finish="STOP"))
    message = await ask(ServerReply(body=stream))
    sent = body([*HI, message, result("srv-1", text("a"))])["contents"]
    assert sent[1]["parts"] == [{"functionCall": {"name": "ls", "args": {}, "id": "srv-1"}}]
    assert sent[2]["parts"] == [{"functionResponse": {"id": "srv-1", "name": "ls", "response": {"output": "a"}}}]


async def test_calls_have_ids_of_their_own_where_the_service_names_nothing() -> None:
    stream = b'data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"ls"}},{"functionCall":{"name":"ls","args":null}}]},"finishReason":"STOP"}]}\n\n'
    message = await ask(ServerReply(body=stream))
    assert message["content"] == [call("gcall_1_1"), call("gcall_1_2")]


@pytest.mark.parametrize(
    "reason",
    ["SAFETY", "RECITATION", "LANGUAGE", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MALFORMED_FUNCTION_CALL",
     "IMAGE_SAFETY", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE", "NEWLY_INVENTED"],
)  # fmt: skip
async def test_a_bad_finish_reason_is_a_failure_with_its_name(reason: str) -> None:
    stream = chunks(parts({"text": "half"}), parts(finish=reason))
    failure = await failure_of(ServerReply(body=stream))
    assert (reason in failure.message, failure.kind) == (True, "other")


async def test_a_bad_finish_comes_with_the_services_explanation() -> None:
    stream = chunks({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "call: print(ls("}]})
    failure = await failure_of(ServerReply(body=stream))
    assert failure.message == "the answer ended with the finish reason 'MALFORMED_FUNCTION_CALL': call: print(ls("


async def test_a_prompt_that_is_refused_is_a_failure_with_the_reason() -> None:
    stream = chunks({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, **usage(9, 0)})
    failure = await failure_of(ServerReply(body=stream))
    assert ("PROHIBITED_CONTENT" in failure.message, "the prompt was refused" in failure.message) == (True, True)


async def test_a_cut_by_the_limit_and_unspecified_reasons() -> None:
    stream = chunks(parts({"text": "half"}, finish="FINISH_REASON_UNSPECIFIED"), parts(finish="MAX_TOKENS"))
    assert (await ask(ServerReply(body=stream)))["stopReason"] == "length"
    unsaid = chunks(parts({"text": "half"}, finish="FINISH_REASON_UNSPECIFIED"))
    assert (await failure_of(ServerReply(body=unsaid))).kind == "transport"


async def test_an_error_in_the_stream_is_a_failure() -> None:
    error = {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}
    failure = await failure_of(ServerReply(body=chunks(parts({"text": "half"}), error)))
    assert (failure.kind, failure.message) == ("overloaded", "test: The model is overloaded.")


async def test_an_answer_that_came_as_a_list_is_read_whole() -> None:
    whole = [parts({"text": "a"}), parts({"text": "b"}, finish="STOP", **usage(3, 4))]
    message = await ask(error_reply(200, whole))
    assert (message["content"], message["usage"]["totalTokens"]) == ([text("ab")], 7)


async def test_unknown_parts_and_odd_chunks_are_passed_over() -> None:
    stream = b"data: null\n\n: note\n\n" + chunks(
        {"candidates": []},
        {"candidates": [{"content": {}}]},
        parts({"executableCode": {"code": "1"}}, {"text": "x"}),
        {"candidates": [{"content": {"parts": None}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": None}},
    )  # fmt: skip
    message = await ask(ServerReply(body=stream))
    assert (message["content"], message["usage"]["totalTokens"]) == ([text("x")], 0)


async def test_the_address_names_the_model_and_never_the_key() -> None:
    async with API.server(google_text("x"), google_text("x")) as server:
        await API.ask(server, HI, model={"id": "gemini-2.5-pro"})
        await API.ask(server, HI, model={"id": "tunedModels/a b"})
    assert server.paths == [
        "/v1/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
        "/v1/tunedModels/a%20b:streamGenerateContent?alt=sse",
    ]


def test_the_request_says_what_was_asked() -> None:
    model = {"id": "gemini-2.5-flash", "reasoning": True}
    assert body(
        [system("Be brief."), user(text("hi"))], model, max_tokens=99, thinking_level="low", tools=[LS, NOW]
    ) == {
        "tools": [
            {
                "functionDeclarations": [
                    {
                        "name": "ls",
                        "description": "Lists a folder.",
                        "parameters": {"type": "OBJECT", "properties": {"path": {"type": "STRING"}}},
                    },
                    {"name": "now", "description": "Tells the time."},
                ]
            }
        ],
        "generationConfig": {
            "maxOutputTokens": 99,
            "thinkingConfig": {"thinkingBudget": 2048, "includeThoughts": True},
        },
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
    }
    assert body([user(text("hi"))]) == {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}


def test_images_of_results_follow_them_in_a_content_of_their_own() -> None:
    history = [
        user(text("a")),
        answer(call("c1"), call("c2")),
        result("c1", IMAGE),
        result("c2", text("no"), error=True),
    ]
    shown = {"inlineData": {"mimeType": "image/png", "data": "QUJD"}}
    assert body([*history, user(text("b"))])["contents"][2:] == [
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "ls", "response": {"output": "(see the image below)"}}},
                {"functionResponse": {"name": "ls", "response": {"error": "no"}}},
            ],
        },
        {"role": "user", "parts": [{"text": "Images from the tool results:"}, shown, {"text": "b"}]},
    ]


def test_a_foreign_call_gets_the_services_word_for_no_signature_where_one_is_required() -> None:
    history = [user(text("a")), answer(call("c1"), call("c2")), result("c1"), result("c2")]
    (first, second) = body(history, {"id": "gemini-3.8-flash", "reasoning": True})["contents"][1]["parts"]
    assert (first["thoughtSignature"], "thoughtSignature" in second) == ("skip_thought_signature_validator", False)
    assert "thoughtSignature" not in json.dumps(body(history, {"id": "gemini-2.5-pro", "reasoning": True}))


@pytest.mark.parametrize(
    ("model_id", "compat", "level", "sent"),
    [
        ("gemini-2.5-flash", {}, "off", {"thinkingBudget": 0, "includeThoughts": False}),
        ("gemini-2.5-pro", {}, "off", {"thinkingBudget": 128, "includeThoughts": False}),
        ("gemini-2.5-pro", {}, "high", {"thinkingBudget": 24_576, "includeThoughts": True}),
        ("gemini-2.5-pro", {"thinkingBudgets": {"high": 32_768}}, "high", {"thinkingBudget": 32_768, "includeThoughts": True}),
        ("gemini-3.8-flash", {}, "off", {"thinkingLevel": "low", "includeThoughts": False}),
        ("gemini-3.8-flash", {}, "minimal", {"thinkingLevel": "minimal", "includeThoughts": True}),
        ("gemini-3.1-pro-preview", {}, "minimal", {"thinkingLevel": "low", "includeThoughts": True}),
        ("gemini-4-hydrogen", {"reasoningEffortMap": {"minimal": None, "xhigh": "xhigh"}}, "xhigh", {"thinkingLevel": "xhigh", "includeThoughts": True}),
        ("gemini-4-hydrogen", {"supportsReasoningEffort": False}, "xhigh", None),
        ("other", {"thinksByBudget": True}, "medium", {"thinkingBudget": 8192, "includeThoughts": True}),
    ],
)  # fmt: skip
def test_thinking_is_asked_for_as_the_model_understands_it(
    model_id: str, compat: dict[str, Any], level: str, sent: dict[str, Any] | None
) -> None:
    model = {"id": model_id, "reasoning": True, "compat": compat}
    request = body([user(text("x"))], model, thinking_level=level)
    assert request.get("generationConfig", {}).get("thinkingConfig") == sent
