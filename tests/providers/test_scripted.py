import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from rpc_agent.conversation.messages import AssistantMessage, user_message
from rpc_agent.conversation.models import Model
from rpc_agent.conversation.tool_spec import ToolSpec
from rpc_agent.conversation.usage import make_usage
from rpc_agent.errors import SettingsError
from rpc_agent.providers.assembly import Assembly
from rpc_agent.providers.base import ChatModel, ModelCallFailed, ModelRequest
from rpc_agent.providers.scripted import Reply, ScriptedCall, ScriptedError, ScriptedModel, load_script

pytestmark = pytest.mark.anyio

MODEL = Model(id="m", provider="p", api="scripted")
TOOLS = (ToolSpec("ls", "Lists files.", {"type": "object", "properties": {}}),)


def request(text: str = "hi", tools: Sequence[ToolSpec] = TOOLS) -> ModelRequest:
    return ModelRequest(model=MODEL, messages=[user_message(text, timestamp=1)], tools=tools)


async def ask(model: ChatModel, asked: ModelRequest | None = None) -> AssistantMessage:
    assembly = Assembly()
    with anyio.fail_after(5):
        async for batch in model.stream(asked or request()):
            for event in batch:
                assembly.apply(event)
    assert assembly.stopped is not None
    return assembly.message(MODEL, 1, assembly.stopped.reason)


async def test_replies_are_played_in_order_and_requests_remembered() -> None:
    model = ScriptedModel(
        [
            Reply(thinking="hm", text="Let me look at that.", tool_calls=[ScriptedCall("ls", {"path": "."})]),
            Reply(text="Done."),
        ]
    )
    first, second = await ask(model), await ask(model, request("and?"))
    assert first["content"] == [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "Let me look at that."},
        {"type": "toolCall", "id": "call_1_1", "name": "ls", "arguments": {"path": "."}},
    ]
    assert (first["stopReason"], second["stopReason"], second["content"]) == (
        "toolUse",
        "stop",
        [{"type": "text", "text": "Done."}],
    )
    assert [asked.messages[0]["content"] for asked in model.asked] == ["hi", "and?"]


async def test_when_the_replies_run_out_the_call_fails_and_says_so() -> None:
    model = ScriptedModel([Reply(text="only one")])
    await ask(model)
    with pytest.raises(ModelCallFailed, match="no reply left: all 1 of its 'replies' were played"):
        await ask(model)


async def test_a_script_that_repeats_begins_again() -> None:
    model = ScriptedModel([Reply(text="a"), Reply(text="b")], repeat=True)
    assert [(await ask(model))["content"][0].get("text") for _ in range(3)] == ["a", "b", "a"]


async def test_requests_without_tools_take_from_the_summaries() -> None:
    model = ScriptedModel([Reply(text="answer")], summaries=[Reply(text="summary")])
    assert (await ask(model, request(tools=())))["content"] == [{"type": "text", "text": "summary"}]
    assert (await ask(model))["content"] == [{"type": "text", "text": "answer"}]


async def test_an_error_comes_after_the_partial_answer() -> None:
    error = ScriptedError("rate", "slow down", 429, 2.5)
    model, assembly = ScriptedModel([Reply(text="half", error=error)]), Assembly()
    with pytest.raises(ModelCallFailed, match="slow down") as caught:
        async for batch in model.stream(request()):
            for event in batch:
                assembly.apply(event)
    assert (caught.value.kind, caught.value.status, caught.value.retry_after) == ("rate", 429, 2.5)
    assert assembly.message(MODEL, 1, "error")["content"] == [{"type": "text", "text": "half"}]


async def test_a_hanging_reply_ends_when_it_is_cancelled() -> None:
    assembly = Assembly()
    with anyio.fail_after(5), anyio.CancelScope() as scope:
        async for batch in ScriptedModel([Reply(text="never done", hang=True)]).stream(request()):
            for event in batch:
                assembly.apply(event)
            scope.cancel()
    assert scope.cancelled_caught
    assert assembly.stopped is None


async def test_a_file_says_all_that_python_can_say(tmp_path: Path) -> None:
    script: dict[str, Any] = {
        "replies": [
            {
                "text": "abcdef",
                "toolCalls": [{"id": "c", "name": "ls", "arguments": '{"bro'}],
                "usage": {"input": 900, "output": 3},
                "stopReason": "length",
                "delayMs": 1,
                "paceMs": 1,
                "chunk": 1,
            },
            {"error": {"kind": "quota", "message": "empty", "retryAfter": 1}},
        ],
        "summaries": [{"text": "s"}],
        "repeat": True,
    }
    file = tmp_path / "script.json"
    file.write_text(json.dumps(script), encoding="utf-8")
    model = load_script(file)
    message = await ask(model)
    assert message["content"] == [
        {"type": "text", "text": "abcdef"},
        {"type": "toolCall", "id": "c", "name": "ls", "arguments": {}, "invalidArguments": '{"bro'},
    ]
    assert (message["usage"], message["stopReason"]) == (make_usage(input=900, output=3), "length")
    with pytest.raises(ModelCallFailed, match="empty"):
        await ask(model)
    assert (await ask(model, request(tools=())))["content"] == [{"type": "text", "text": "s"}]


@pytest.mark.parametrize(
    ("script", "field"),
    [
        ({}, "replies"),
        ({"replies": [{"toolCalls": [{"id": "x"}]}]}, "replies.0.toolCalls.0.name"),
        ({"replies": [{"paceMs": -1}]}, "replies.0.paceMs"),
        ({"replies": [{"error": {"kind": "bad"}}]}, "replies.0.error.kind"),
    ],
)
def test_a_bad_script_names_file_and_field(tmp_path: Path, script: object, field: str) -> None:
    file = tmp_path / "script.json"
    file.write_text(json.dumps(script), encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load_script(file)
    assert caught.value.details == {"field": field, "file": str(file)}
