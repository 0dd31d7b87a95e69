"""What a chat-completions server proved of its thinking goes back to the same model, and to no other."""

import json
from typing import Any, cast

import pytest
from msgspec.structs import replace

from rpc_agent.conversation.messages import AssistantMessage
from rpc_agent.conversation.models import Model
from rpc_agent.providers.assembly import Assembly
from rpc_agent.providers.base import StreamEvent
from rpc_agent.providers.openai_completions.compat import Compat
from rpc_agent.providers.openai_completions.request import encode_message
from rpc_agent.providers.openai_completions.response import ChatCompletionReader

MODEL = Model(id="m", provider="p", api="openai-completions")


def answer(*deltas: dict[str, Any]) -> AssistantMessage:
    reader, assembly = ChatCompletionReader(provider="p"), Assembly()
    events: list[StreamEvent] = []
    for delta in deltas:
        reader.read(json.dumps({"choices": [{"delta": delta}]}).encode(), events)
    reader.read(b'{"choices":[{"delta":{},"finish_reason":"stop"}]}', events)
    for event in [*events, reader.finish()]:
        assembly.apply(event)
    return assembly.message(MODEL, 1, "stop")


def sent_back(message: AssistantMessage, model: Model = MODEL) -> dict[str, Any]:
    return cast(dict[str, Any], json.loads(encode_message(message, model, Compat()).body))


def detail(kind: str, **more: Any) -> dict[str, Any]:
    return {"reasoning_details": [{"type": f"reasoning.{kind}", "index": 0, **more}]}


SIGNED = (
    {"reasoning": "Let me ", **detail("text", text="Let me ", format="a")},
    {"reasoning": "look.", **detail("text", text="look.", format="a")},
    detail("text", signature="proof", text=""),
)
CALL = {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "ls", "arguments": "{}"}}]}


def test_signed_thinking_goes_back_joined_with_its_signature() -> None:
    message = answer(*SIGNED, {"content": "Done."})
    assert [block.get("thinking") for block in message["content"]] == ["Let me look.", None]
    kept = [{"type": "reasoning.text", "index": 0, "text": "Let me look.", "format": "a", "signature": "proof"}]
    assert sent_back(message) == {"role": "assistant", "content": "Done.", "reasoning_details": kept}


def test_encrypted_thinking_behind_a_call_goes_back_as_it_came() -> None:
    encrypted = detail("encrypted", data="secret", id="c")
    message = answer(CALL, encrypted)
    assert message["content"][1].get("redacted") is True
    assert sent_back(message)["reasoning_details"] == encrypted["reasoning_details"]


def test_each_of_several_thoughts_keeps_its_own_proof() -> None:
    again = (
        {"reasoning": "Then", "reasoning_details": [{"type": "reasoning.text", "index": 1, "text": "Then"}]},
        {"reasoning_details": [{"type": "reasoning.text", "index": 1, "signature": "other"}]},
    )
    kept = sent_back(answer(*SIGNED, *again, {"content": "Done."}))["reasoning_details"]
    assert [(piece["text"], piece["signature"]) for piece in kept] == [("Let me look.", "proof"), ("Then", "other")]


def test_thinking_without_a_proof_goes_back_in_the_field_it_came_in() -> None:
    assert sent_back(answer({"reasoning": "hm"}, {"content": "Done."}))["reasoning"] == "hm"


def test_googles_signature_of_a_call_goes_back_with_the_call() -> None:
    extra = {"google": {"thought_signature": "proof"}}
    signed = {"tool_calls": [{**CALL["tool_calls"][0], "extra_content": extra}]}
    assert sent_back(answer(signed))["tool_calls"][0]["extra_content"] == extra


@pytest.mark.parametrize("other", [{"id": "n"}, {"provider": "q"}, {"api": "openai-responses"}])
def test_another_model_gets_neither(other: dict[str, str]) -> None:
    extra = {"google": {"thought_signature": "proof"}}
    signed = {"tool_calls": [{**CALL["tool_calls"][0], "extra_content": extra}]}
    body = sent_back(answer(*SIGNED, signed), replace(MODEL, **other))
    assert "proof" not in json.dumps(body)
    assert set(body) == {"role", "content", "tool_calls"}
