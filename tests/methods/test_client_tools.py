"""Tools that the client lends: offered to the model, run by call_tool, their results checked."""

from pathlib import Path
from typing import Any

import pytest

from rpc_agent.rpc.errors import RpcError
from tests.support.agent_server import CheckingClient, Home, serving
from tests.support.hooks import initialize

pytestmark = pytest.mark.anyio
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = {"name": "weather", "description": "The weather of a city.", "inputSchema": SCHEMA}


def calling(home: Home, name: str = "weather", **arguments: Any) -> None:
    call = {"id": "c1", "name": name, "arguments": arguments or {"city": "Oslo"}}
    home.script({"toolCalls": [call]}, {"text": "done"})


async def lend(client: CheckingClient, answer: Any, *tools: Any) -> list[dict[str, Any]]:
    """Offer tools and answer their calls; the calls as they came."""
    called: list[dict[str, Any]] = []

    def reply(params: Any) -> Any:
        called.append({name: params[name] for name in params if name != "sessionId"})
        if isinstance(answer, Exception):
            raise answer
        return answer

    client.on_request["call_tool"] = reply
    await initialize(client, tools=list(tools or [WEATHER]))
    return called


async def result(client: CheckingClient) -> tuple[bool, list[Any]]:
    """How the call ended; the run went on."""
    assert (await client.request("prompt", {"message": "go", "wait": True}))["text"] == "done"
    (end,) = [n.params for n in client.notifications if n.method == "tool_execution_end"]
    return end["isError"], end["result"]["content"]


def text(value: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": value}]


async def test_the_model_is_offered_the_tool_and_its_call_reaches_the_client(tmp_path: Path) -> None:
    home = Home(tmp_path)
    calling(home)
    async with serving(home) as client:
        called = await lend(client, {"content": "Rain."})
        assert await result(client) == (False, text("Rain."))
        assert called == [{"toolCallId": "c1", "name": "weather", "arguments": {"city": "Oslo"}}]
        system = (await client.request("get_messages"))["messages"][0]
        offered = {tool["name"]: tool for tool in system["toolsAdded"]}
        assert offered["weather"]["description"] == WEATHER["description"]


async def test_it_stands_in_place_of_ours_of_the_same_name(tmp_path: Path) -> None:
    home = Home(tmp_path)
    calling(home, "bash", command="rm -rf /")
    own = {"name": "bash", "description": "A sandbox of the client's.", "inputSchema": {"type": "object"}}
    async with serving(home) as client:
        called = await lend(client, {"content": "in the sandbox"}, own)
        assert await result(client) == (False, text("in the sandbox"))
        assert called[0]["arguments"] == {"command": "rm -rf /"}


async def test_a_name_that_no_service_takes_is_told_once_however_often_tools_are_looked_up(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    home = Home(tmp_path)
    calling(home)
    async with serving(home) as client:
        await lend(client, {"content": "Rain."}, {**WEATHER, "name": "told only once!"})
        for _ in range(2):
            await client.request("prompt", {"message": "go", "wait": True})
    assert [record.getMessage() for record in caplog.records if "told only once" in record.getMessage()] == [
        "the client's tool 'told only once!' is not offered: no service takes that name"
    ]


async def test_a_second_initialize_takes_the_tool_away(tmp_path: Path) -> None:
    home = Home(tmp_path)
    calling(home)
    async with serving(home) as client:
        called = await lend(client, {"content": "Rain."})
        await initialize(client)
        is_error, content = await result(client)
        assert (is_error, called, "There is no tool 'weather'" in content[0]["text"]) == (True, [], True)


async def test_arguments_that_do_not_fit_never_reach_the_client(tmp_path: Path) -> None:
    home = Home(tmp_path)
    calling(home, town="Oslo")
    async with serving(home) as client:
        called = await lend(client, {"content": "Rain."})
        is_error, content = await result(client)
        assert (is_error, called, "city" in content[0]["text"]) == (True, [], True)


@pytest.mark.parametrize(
    ("answer", "is_error", "said"),
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, False, "a"),
        ({"content": "no such city", "isError": True}, True, "no such city"),
        ({"content": "fine", "unknown": 1}, False, "fine"),
        ({"content": 7}, True, "the client answered with something that cannot be used"),
        ({}, True, "the client answered with something that cannot be used"),
        ("Rain.", True, "the client answered with something that cannot be used"),
        (None, True, "the client answered with something that cannot be used"),
        ({"content": [{"type": "video", "data": ""}]}, True, "the client answered with something that cannot be used"),
        (RpcError(-32000, "out of order"), True, "the client refused: out of order"),
    ],
)
async def test_what_the_client_answers_is_checked(tmp_path: Path, answer: Any, is_error: bool, said: str) -> None:
    home = Home(tmp_path)
    calling(home)
    async with serving(home) as client:
        await lend(client, answer)
        failed, content = await result(client)
        assert (failed, said in content[0]["text"]) == (is_error, True), content


async def test_a_result_as_long_as_a_log_is_cut(tmp_path: Path) -> None:
    home = Home(tmp_path)
    calling(home)
    async with serving(home) as client:
        await lend(client, {"content": "line\n" * 100_000})
        _, content = await result(client)
        assert (content[0]["text"].count("line\n"), "Cut here" in content[0]["text"]) == (2000, True)


async def test_a_client_that_dies_fails_the_call_and_an_abort_takes_it_back(tmp_path: Path) -> None:
    home = Home(tmp_path)
    calling(home)
    async with serving(home) as client:
        await lend(client, None)
        del client.on_request["call_tool"]
        waiting = await client.ask("prompt", {"message": "go", "wait": True})
        await client.wait(lambda: bool(client.requests))
        await client.request("abort")
        assert (await client.answer(waiting))["stopReason"] == "aborted"
        cancelled = [n.params["id"] for n in client.notifications if n.method == "$/cancelRequest"]
        assert cancelled == [client.requests[0].id]
    calling(home)
    async with serving(home) as client:
        await lend(client, None)
        del client.on_request["call_tool"]
        waiting = await client.ask("prompt", {"message": "go", "wait": True})
        await client.wait(lambda: bool(client.requests))
        client.transport.end()
        assert (await client.answer(waiting))["text"] == "done"


async def test_a_name_that_no_service_takes_is_not_offered(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "done"})
    async with serving(home) as client:
        await lend(client, None, {"name": "my tool!", "description": "", "inputSchema": {}}, WEATHER, {"name": 7}, "x")
        await client.request("prompt", {"message": "go", "wait": True})
        system = (await client.request("get_messages"))["messages"][0]
        names = [tool["name"] for tool in system["toolsAdded"]]
        assert ("weather" in names, "my tool!" in names) == (True, False)


async def test_a_rule_may_deny_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(permissions={"rules": [{"tool": "weather", "match": "*", "action": "deny"}]})
    calling(home)
    async with serving(home) as client:
        called = await lend(client, {"content": "Rain."})
        is_error, _ = await result(client)
        assert (is_error, called) == (True, [])
