"""A client that answers what it was not asked, cancels what is not its own, lends tools that lie, and floods."""

import json
from pathlib import Path
from typing import Any

import pytest

from rpc_agent.rpc.errors import RpcError
from tests.support.agent_server import CheckingClient, Home, serving
from tests.support.hooks import initialize

pytestmark = pytest.mark.anyio

WRITE = {"toolCalls": [{"name": "write", "arguments": {"path": "made", "content": "x"}}]}
ALLOW = {"optionId": "allow_once"}


def nested(levels: int) -> Any:
    return json.loads('{"a":' * levels + "1" + "}" * levels)


async def say(client: CheckingClient, **message: Any) -> None:
    await client.send(json.dumps({"jsonrpc": "2.0", **message}).encode())


@pytest.mark.parametrize("id", [0, 1, 2, 1.0, "1", True, None, [1], {"id": 1}])
async def test_an_answer_that_comes_before_its_question_allows_nothing(tmp_path: Path, id: Any) -> None:
    home = Home(tmp_path)
    home.script(WRITE, {"text": "done"})
    async with serving(home) as client:
        await initialize(client, permissions=True)
        await say(client, id=id, result=ALLOW)
        await client.ask("prompt", {"message": "go"})
        await client.wait(lambda: bool(client.requests))
        # Nor does one that looks like its id, or one to another question.
        question = client.requests[0]
        for other in (f"{question.id}", [question.id], None, 10**9, -1, True):
            await say(client, id=other, result=ALLOW)
        await client.request("ping")
        assert not (home.project / "made").exists()
        await say(client, id=question.id, error={"code": "x", "message": 5, "data": []})
        await client.notification("agent_settled")
        # Too late.
        await say(client, id=question.id, result=ALLOW)
        await client.request("ping")
    assert not (home.project / "made").exists()


async def test_the_first_of_two_answers_counts(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script(WRITE, {"text": "done"})
    async with serving(home) as client:
        await initialize(client, permissions=True)
        await client.ask("prompt", {"message": "go"})
        await client.wait(lambda: bool(client.requests))
        for answer in ({"optionId": "reject_once"}, ALLOW):
            await say(client, id=client.requests[0].id, result=answer)
        await client.notification("agent_settled")
    assert not (home.project / "made").exists()


@pytest.mark.parametrize("id", [10**9, "1", None, 1.5, [], {}, True, "x" * 100_000])
async def test_cancelling_what_is_not_there_does_nothing(tmp_path: Path, id: Any) -> None:
    home = Home(tmp_path)
    home.script({"text": "done"})
    async with serving(home) as client:
        running = await client.ask("prompt", {"message": "go", "wait": True})
        for params in ({"id": id}, {"requestId": id}, {}, [id], {"id": id, "more": 1}):
            await client.notify("$/cancelRequest", params)
            await client.notify("$/cancel_request", params)
        assert (await client.answer(running))["stopReason"] == "stop"


LIES: list[Any] = [None, 5, "x", [], {}, {"content": 5}, {"content": [5]}, {"content": [{"type": "text"}]}, {"content": [{"type": "image", "data": 5}]},
                   {"content": [{"type": "video"}]}, {"content": [], "isError": "no"}, {"content": [{"type": "text", "text": "x", "more": nested(400)}]}]  # fmt: skip


@pytest.mark.parametrize("answer", LIES)
async def test_whatever_a_lent_tool_answers_the_run_goes_on(tmp_path: Path, answer: Any) -> None:
    home = Home(tmp_path)
    home.script({"toolCalls": [{"name": "lent", "arguments": nested(90)}]}, {"text": "done"})
    home.settings(permissions={"mode": "allow"})
    async with serving(home) as client:
        client.on_request["call_tool"] = lambda params: answer
        await initialize(
            client, tools=[{"name": "lent", "description": "d", "inputSchema": {"properties": nested(300)}}]
        )
        result = await client.request("prompt", {"message": "go", "wait": True})
        assert (result["stopReason"], result["text"]) == ("stop", "done")


@pytest.mark.parametrize(
    "answer",
    [
        *LIES,
        {"args": nested(400)},
        {"entries": [{"type": "custom", "customType": "x", "data": nested(400)}]},
        {"messages": [nested(400)]},
        {"text": nested(300)},
        {"block": "maybe"},
    ],
)
async def test_whatever_a_hook_is_answered_the_run_has_its_end(tmp_path: Path, answer: Any) -> None:
    home = Home(tmp_path)
    home.script({"toolCalls": [{"name": "ls", "arguments": {}}]}, *[{"text": "done"}] * 3)
    async with serving(home) as client:
        client.on_request["run_hook"] = lambda params: answer
        await initialize(
            client, hooks=["input", "context", "tool_call", "tool_result", "turn_end", "agent_before_settle"]
        )
        result = await client.request("prompt", {"message": "go", "wait": True})
        assert result.get("stopReason", "stop") in ("stop", "error")
        assert (await client.request("get_state"))["isStreaming"] is False
        client.on_request.clear()
        await initialize(client)
        assert (await client.request("prompt", {"message": "go", "wait": True}))["text"] == "done"


async def test_a_flood_of_nonsense_leaves_the_next_request_its_answer(tmp_path: Path) -> None:
    async with serving(Home(tmp_path)) as client:
        nonsense = [
            b'{"method":"no such thing","params":{"a":[1]}}',
            b'{"id":77777,"result":{}}',
            b'{"method":"$/cancelRequest","params":{"id":1}}',
            b"[]",
            b"nonsense",
        ]
        await client.transport.send(nonsense * 4000)
        assert await client.request("ping") == {}
        with pytest.raises(RpcError):
            await client.request("no such method")
