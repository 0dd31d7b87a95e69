"""steer, follow_up, clear_queue, get_queue and the modes: delivered once, in order, or taken back."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from rpc_agent.rpc.errors import RpcError
from tests.support.agent_server import PATIENCE, CheckingClient, Home, names, serving

pytestmark = pytest.mark.anyio

TOOL = {"toolCalls": [{"name": "bash", "arguments": {"command": "while [ ! -e go ]; do sleep 0.01; done"}}]}


async def in_a_tool(client: CheckingClient) -> tuple[int, Any]:
    """A run that waits in a tool until the file `go` is there."""
    question = await client.ask("prompt", {"message": "start", "wait": True})
    await client.notification("tool_execution_start")
    return question


def queues(client: CheckingClient) -> list[tuple[list[str], list[str]]]:
    updates = [n.params for n in client.notifications if n.method == "queue_update"]
    return [(update["steering"], update["followUp"]) for update in updates]


async def user_texts(client: CheckingClient) -> list[str]:
    messages = (await client.request("get_messages"))["messages"]
    return [message["content"] for message in messages if message["role"] == "user"]


async def test_steering_comes_after_the_tools_and_follow_ups_when_the_run_would_stop(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(permissions={"mode": "allow"})
    home.script(TOOL, {"text": "to one"}, {"text": "to two"}, {"text": "to later"})
    async with serving(home) as client:
        run = await in_a_tool(client)
        assert (await client.request("steer", {"message": "one"}))["disposition"] == "queued"
        await client.request("follow_up", {"message": "later"})
        await client.request("steer", {"message": "two"})
        waiting = await client.request("get_queue")
        assert (waiting["steering"], waiting["followUp"]) == ([{"text": "one"}, {"text": "two"}], [{"text": "later"}])
        (home.project / "go").touch()
        await client.answer(run)
        assert await user_texts(client) == ["start", "one", "two", "later"]
        assert queues(client) == [
            (["one"], []), (["one"], ["later"]), (["one", "two"], ["later"]),
            (["two"], ["later"]), ([], ["later"]), ([], []),
        ]  # fmt: skip
        assert names(client).count("agent_start") == names(client).count("agent_settled") == 1
        # queue_update directly before the message_start it causes
        heard = names(client)
        places = [index for index, name in enumerate(heard) if name == "queue_update"][3:]
        assert [heard[index + 1] for index in places] == ["message_start"] * 3


async def test_in_mode_all_everything_that_waits_is_delivered_at_once(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(permissions={"mode": "allow"})
    home.script(TOOL, {"text": "to both"}, {"text": "to both later ones"})
    async with serving(home) as client:
        await client.request("set_steering_mode", {"mode": "all"})
        await client.request("set_follow_up_mode", {"mode": "all"})
        state = await client.request("get_state")
        assert (state["steeringMode"], state["followUpMode"]) == ("all", "all")
        run = await in_a_tool(client)
        for method, text in (("steer", "a"), ("steer", "b"), ("follow_up", "c"), ("follow_up", "d")):
            await client.request(method, {"message": text})
        (home.project / "go").touch()
        await client.answer(run)
        assert names(client).count("turn_start") == 3
        assert await user_texts(client) == ["start", "a", "b", "c", "d"]


async def test_when_idle_they_start_a_run(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "hello"}, {"text": "again"})
    async with serving(home) as client:
        assert (await client.request("steer", {"message": "hi"}))["disposition"] == "started"
        await client.request("wait_for_idle")
        assert (await client.request("follow_up", {"message": "more"}))["disposition"] == "started"
        assert (await client.request("wait_for_idle"))["text"] == "again"


@pytest.mark.parametrize("in_front", [0, 5])
@pytest.mark.parametrize("later", ["follow_up", "steer", "prompt"])
async def test_what_is_sent_in_one_write_behind_a_prompt_does_not_overtake_it(
    tmp_path: Path, later: str, in_front: int
) -> None:
    home = Home(tmp_path)
    home.script({"text": "to one"}, {"text": "to two"})
    async with serving(home) as client:
        named = {"sessionId": (await client.request("get_state"))["sessionId"]}
        behind = {"message": "two", **named, **({"streamingBehavior": "followUp"} if later == "prompt" else {})}
        # One that names no session looks for it first, and one that does need not.
        written = [("set_session_name", {"name": "n"})] * in_front + [("prompt", {"message": "one"}), (later, behind)]
        requests = [
            {"jsonrpc": "2.0", "id": f"r{n}", "method": method, "params": params}
            for n, (method, params) in enumerate(written)
        ]
        with anyio.fail_after(PATIENCE):
            await client.send(json.dumps(requests).encode())
            await client.notification("agent_settled")
        assert await user_texts(client) == ["one", "two"]
        assert names(client).count("agent_start") == 1


@pytest.mark.parametrize("is_batch", [True, False])
async def test_what_asks_about_a_run_in_the_write_of_its_messages_finds_them(tmp_path: Path, is_batch: bool) -> None:
    home = Home(tmp_path)
    home.script({"text": "to one"}, {"text": "to two"})
    async with serving(home) as client:
        named = {"sessionId": (await client.request("get_state"))["sessionId"]}
        written = [
            ("prompt", {"message": "one"}),
            ("follow_up", {"message": "two"}),
            ("get_queue", named),
            ("clear_queue", named),
            ("follow_up", {"message": "three"}),
            ("wait_for_idle", named),
        ]
        requests = [
            {"jsonrpc": "2.0", "id": f"r{n}", "method": method, "params": params}
            for n, (method, params) in enumerate(written)
        ]
        with anyio.fail_after(PATIENCE):
            for message in [requests] if is_batch else requests:
                await client.send(json.dumps(message).encode())
            await client.notification("agent_settled")
            await client.request("wait_for_idle")
        answers = {each["id"]: each.get("result") for each in _singly(client.received) if "id" in each}
        assert (answers["r2"]["followUp"][0]["text"], answers["r3"]["followUp"]) == ("two", ["two"])
        assert answers["r5"]["text"] == "to two"
        assert await user_texts(client) == ["one", "three"]


def _singly(received: list[Any]) -> list[Any]:
    return [each for message in received for each in (message if isinstance(message, list) else [message])]


async def test_clear_queue_gives_the_texts_back_and_answers_who_waits_for_them(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(permissions={"mode": "allow"})
    home.script(TOOL, {"text": "done"})
    async with serving(home) as client:
        run = await in_a_tool(client)
        await client.request("steer", {"message": "left"})
        waiting = await client.ask("prompt", {"message": "dropped", "streamingBehavior": "followUp", "wait": True})
        await client.notification("queue_update", where=lambda params: params["followUp"] == ["dropped"])
        cleared = await client.request("clear_queue")
        assert (cleared["steering"], cleared["followUp"]) == (["left"], ["dropped"])
        with pytest.raises(RpcError) as cancelled:
            await client.answer(waiting)
        assert cancelled.value.code == -32800
        (home.project / "go").touch()
        assert (await client.answer(run))["text"] == "done"
        assert await user_texts(client) == ["start"]


async def test_who_looks_right_behind_a_clear_queue_finds_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(permissions={"mode": "allow"})
    home.script(TOOL, {"text": "done"})
    async with serving(home) as client:
        run = await in_a_tool(client)
        # However far the server has come with the one when it reads the other.
        for turns in range(20):
            await client.request("follow_up", {"message": f"later {turns}"})
            cleared = await client.ask("clear_queue")
            for _ in range(turns):
                await anyio.lowlevel.checkpoint()
            looked = await client.ask("get_queue")
            assert (await client.answer(looked))["followUp"] == [], turns
            assert (await client.answer(cleared))["followUp"] == [f"later {turns}"]
        (home.project / "go").touch()
        await client.answer(run)


async def test_clearing_an_empty_queue_says_nothing(tmp_path: Path) -> None:
    async with serving(Home(tmp_path)) as client:
        cleared = await client.request("clear_queue")
        assert (cleared["steering"], cleared["followUp"], client.notifications) == ([], [], [])


async def test_cancelling_a_queued_prompt_takes_it_back(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(permissions={"mode": "allow"})
    home.script(TOOL, {"text": "done"})
    async with serving(home) as client:
        run = await in_a_tool(client)
        waiting = await client.ask("prompt", {"message": "dropped", "streamingBehavior": "steer", "wait": True})
        await client.notification("queue_update")
        await client.notify("$/cancelRequest", {"id": waiting[0]})
        with pytest.raises(RpcError) as cancelled:
            await client.answer(waiting)
        assert cancelled.value.code == -32800
        (home.project / "go").touch()
        await client.answer(run)
        assert await user_texts(client) == ["start"]
