import json
from typing import Any

from rpc_agent.conversation.messages import user_message
from rpc_agent.conversation.models import Model
from rpc_agent.conversation.tool_spec import ToolSpec
from rpc_agent.providers.base import ModelRequest
from rpc_agent.providers.openai_responses.compat import read_compat
from rpc_agent.providers.openai_responses.items import call_id, encode_message
from rpc_agent.providers.openai_responses.request import body_parts, joined_items

MODEL = Model(id="m", provider="p", api="openai-responses", input=("text", "image"), reasoning=True)
IMAGE: Any = {"type": "image", "data": "QUJD", "mimeType": "image/png"}
SHOWN = {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,QUJD"}


def body(messages: list[Any], model: Model = MODEL, compat: dict[str, Any] | None = None, **more: Any) -> Any:
    known = read_compat(compat or {})
    items = [encode_message(message, model, known) for message in messages]
    parts, _ = joined_items().of(items, 0)
    return json.loads(b"".join(body_parts(ModelRequest(model=model, messages=messages, **more), known, parts)))


def result(call: str, *content: Any) -> Any:
    return {"role": "toolResult", "toolCallId": call, "toolName": "t", "content": list(content), "isError": False, "timestamp": 1}  # fmt: skip


def answer(*content: Any, **more: Any) -> Any:
    return {"role": "assistant", "content": list(content), "api": MODEL.api, "provider": "p", "model": "m", **more}


def test_the_options_are_what_was_asked_and_nothing_is_stored() -> None:
    sent = body(
        [user_message("x", timestamp=1)],
        compat={"supportsPromptCacheKey": True},
        max_tokens=7,
        thinking_level="xhigh",
        routing_id="r" * 70,
        tools=[ToolSpec("t", "does", {"type": "object"})],
    )
    assert sent == {
        "model": "m",
        "stream": True,
        "store": False,
        "max_output_tokens": 16,
        "tools": [
            {"type": "function", "name": "t", "description": "does", "parameters": {"type": "object"}, "strict": False}
        ],
        "reasoning": {"effort": "high", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": "r" * 64,
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "x"}]}],
    }


def test_a_model_that_does_not_think_is_not_asked_to() -> None:
    plain = Model(id="m", provider="p", api="openai-responses")
    sent = body([user_message("x", timestamp=1)], plain, {"supportsPromptCacheKey": True}, thinking_level="high", routing_id="r", cache=False)  # fmt: skip
    assert sent.keys() == {"model", "stream", "store", "input"}


def test_a_model_that_can_be_told_not_to_think_is_told_so() -> None:
    model = Model(id="m", provider="p", api="openai-responses", reasoning=True, compat={"reasoningEffortMap": {"off": "none"}})  # fmt: skip
    assert body([user_message("x", timestamp=1)], model)["reasoning"] == {"effort": "none"}


def test_system_texts_go_in_the_role_that_the_service_has() -> None:
    system = {"role": "system", "content": "a", "sections": {"rules": "b", "gone": None}, "timestamp": 1}
    assert body([system])["input"] == [{"role": "system", "content": "a\n\nb"}]
    assert body([system], compat={"supportsDeveloperRole": True})["input"][0]["role"] == "developer"


def test_images_go_in_messages_and_in_results_or_become_a_note() -> None:
    call = {"type": "toolCall", "id": "c", "name": "t", "arguments": {}}
    text = {"type": "text", "text": "seen"}
    messages = [user_message([IMAGE], timestamp=1), answer(call), result("c", text, IMAGE)]
    sent = body(messages)["input"]
    assert sent[0]["content"] == [SHOWN]
    assert sent[2]["output"] == [{"type": "input_text", "text": "seen"}, SHOWN]
    blind = body(messages, Model(id="m", provider="p", api="openai-responses"))["input"]
    note = {"type": "input_text", "text": "(an image was left out: this model reads no images)"}
    assert (blind[0]["content"], blind[2]["output"][1]) == ([note], note)


def test_nothing_empty_is_sent() -> None:
    call = {"type": "toolCall", "id": "c", "name": "t", "arguments": {}}
    messages = [
        user_message("", timestamp=1),
        answer({"type": "text", "text": ""}, call),
        result("c"),
        {"role": "system", "content": "", "timestamp": 1},
    ]
    sent = body(messages)["input"]
    assert [item["type"] for item in sent] == ["function_call", "function_call_output"]
    assert sent[1]["output"] == "(no output)"


def test_reasoning_that_nothing_follows_or_that_cannot_be_read_again_is_left_out() -> None:
    def thinking(**item: Any) -> Any:
        return {"type": "thinking", "thinking": "t", "thinkingSignature": json.dumps({"type": "reasoning", **item})}

    said = {"type": "text", "text": "x"}
    kept, bare = thinking(id="a", encrypted_content="e"), thinking(id="b", summary=[])
    foreign = {"type": "thinking", "thinking": "t", "thinkingSignature": "Eu8B=="}
    sent = body([answer(kept, bare, foreign, said, kept)])["input"]
    assert [item["type"] for item in sent] == ["reasoning", "message"]
    assert sent[0] == {"type": "reasoning", "id": "a", "encrypted_content": "e", "summary": []}


def test_ids_of_calls_fit_the_service_and_stay_different() -> None:
    assert call_id("call_1") == "call_1"
    assert call_id("call_1|fc_99") == "call_1"
    assert call_id("functions.ls:0") == call_id("functions.ls:0") != call_id("functions.ls:1")
    one, two = call_id("a" * 80), call_id("a" * 81)
    assert one != two
    assert (len(one), one) == (37, call_id("a" * 80))
