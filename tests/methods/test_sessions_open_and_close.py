"""new_session, open_session, close_session, get_state: making sessions, finding them again, letting go of them."""

import json
from pathlib import Path

import pytest

from rpc_agent.rpc.errors import RpcError
from tests.support.agent_server import Home, serving

pytestmark = pytest.mark.anyio


async def test_a_session_is_made_when_one_is_needed_and_then_stays_current(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with serving(home) as client:
        first = await client.request("get_state")
        assert (await client.request("get_state"))["sessionId"] == first["sessionId"]
        assert (first["cwd"], first["isStreaming"], first["messageCount"]) == (str(home.project.resolve()), False, 0)


async def test_a_new_session_becomes_current_and_after_its_end_the_one_before_is(tmp_path: Path) -> None:
    async with serving(Home(tmp_path)) as client:
        first = await client.request("new_session", {"name": "one"})
        second = await client.request("new_session", {"name": "two"})
        assert (await client.request("get_state"))["sessionId"] == second["sessionId"]
        await client.request("close_session")
        assert (await client.request("get_state"))["sessionName"] == "one"
        with pytest.raises(RpcError) as gone:
            await client.request("get_state", {"sessionId": second["sessionId"]})
        assert (gone.value.code, first["sessionName"]) == (-32010, "one")


async def test_a_tool_that_there_is_not_is_refused_where_it_is_asked_for_and_warned_of_in_the_settings(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    home = Home(tmp_path)
    home.settings(tools=["read", "raed"])
    async with serving(home) as client:
        with pytest.raises(RpcError) as refused:
            await client.request("new_session", {"tools": ["read", "wirte"]})
        (error,) = (refused.value.data or {})["errors"]
        assert (error["path"], "'wirte'" in error["message"], "write" in error["message"]) == ("tools.1", True, True)
        assert "raed" not in caplog.text
        for _ in range(2):
            await client.request("new_session")
        await client.request("new_session", {"tools": ["read", "history"]})
    assert caplog.text.count("'raed'") == 1


async def test_requests_written_at_once_mean_the_session_made_before_them(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "hello"})
    async with serving(home) as client:
        made = await client.ask("new_session", {"name": "mine"})
        asked = await client.ask("prompt", {"message": "hi", "wait": True})
        state = await client.ask("get_state")
        session_id = (await client.answer(made))["sessionId"]
        assert (await client.answer(state))["sessionId"] == session_id
        assert (await client.answer(asked))["sessionId"] == session_id


async def test_a_written_session_opens_again_with_the_same_context(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (home.project / "a.txt").write_text("x")
    home.script({"toolCalls": [{"name": "ls", "arguments": {}}], "thinking": "hm"}, {"text": "One file."})
    async with serving(home) as client:
        await client.request("prompt", {"message": "files?", "wait": True})
        state = await client.request("get_state")
        context = await client.request("get_context")
        entries = await client.request("get_entries")
    async with serving(home) as client:
        opened = await client.request("open_session", {"path": state["sessionFile"]})
        assert (opened["warnings"], opened["leafId"]) == ([], state["leafId"])
        assert await client.request("get_context") == context
        assert await client.request("get_entries") == entries
        assert opened["streamId"] != state["streamId"]


async def test_a_session_is_found_by_the_beginning_of_its_id_and_as_the_latest(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "hello"})
    async with serving(home) as client:
        await client.request("prompt", {"message": "hi", "wait": True})
        session_id = (await client.request("get_state"))["sessionId"]
    async with serving(home) as client:
        by_id = await client.request("open_session", {"id": session_id[:20]})
        latest = await client.request("open_session", {"latest": True})
        assert (by_id["sessionId"], latest["streamId"]) == (session_id, by_id["streamId"])


@pytest.mark.parametrize("params", [{}, {"path": "a", "id": "b"}, {"latest": False}])
async def test_open_session_wants_exactly_one_way_to_find_it(tmp_path: Path, params: dict[str, object]) -> None:
    async with serving(Home(tmp_path)) as client:
        with pytest.raises(RpcError) as refused:
            await client.request("open_session", params)
        assert refused.value.code == -32602


async def test_a_file_that_is_no_session_is_unreadable_and_stays_as_it_is(tmp_path: Path) -> None:
    home = Home(tmp_path)
    file = tmp_path / "notes.jsonl"
    file.write_text('{"type": "message"}\n')
    async with serving(home) as client:
        with pytest.raises(RpcError) as refused:
            await client.request("open_session", {"path": str(file)})
        assert (refused.value.code, file.read_text()) == (-32013, '{"type": "message"}\n')
        with pytest.raises(RpcError) as missing:
            await client.request("open_session", {"path": str(tmp_path / "nothing.jsonl")})
        assert missing.value.code == -32010


async def test_damage_is_reported_in_warnings(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "hello"})
    async with serving(home) as client:
        await client.request("prompt", {"message": "hi", "wait": True})
        file = Path((await client.request("get_state"))["sessionFile"])
    file.write_bytes(file.read_bytes() + b'{"type":"message","id":"torn')
    async with serving(home) as client:
        opened = await client.request("open_session", {"path": str(file)})
        assert [warning["kind"] for warning in opened["warnings"]] == ["tornTail"]


async def test_two_servers_do_not_write_one_file_but_a_second_may_read_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "hello"})
    async with serving(home) as first:
        await first.request("prompt", {"message": "hi", "wait": True})
        file = (await first.request("get_state"))["sessionFile"]
        async with serving(home) as second:
            with pytest.raises(RpcError) as refused:
                await second.request("open_session", {"path": file})
            assert refused.value.code == -32012
            reading = await second.request("open_session", {"path": file, "readOnly": True})
            assert reading["readOnly"] is True
            with pytest.raises(RpcError) as forbidden:
                await second.request("prompt", {"message": "write"})
            assert forbidden.value.code == -32018


async def test_an_ephemeral_session_has_no_file(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "hello"})
    async with serving(home) as client:
        made = await client.request("new_session", {"ephemeral": True})
        await client.request("prompt", {"message": "hi", "wait": True})
        assert "sessionFile" not in made
        assert not list(home.sessions.rglob("*.jsonl"))


async def test_no_file_is_made_before_the_first_message(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "hello"})
    async with serving(home) as client:
        await client.request("new_session", {"name": "empty"})
        assert not list(home.sessions.rglob("*.jsonl"))
        await client.request("prompt", {"message": "hi", "wait": True})
        (file,) = home.sessions.rglob("*.jsonl")
        kinds = [json.loads(line)["type"] for line in file.read_text().splitlines()]
        assert kinds == ["session", "session_info", "message", "message", "message"]


async def test_the_tools_and_the_system_prompt_of_new_session_are_what_the_model_gets(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"toolCalls": [{"name": "grep", "arguments": {"pattern": "x"}}]}, {"text": "done"})
    async with serving(home) as client:
        await client.request("new_session", {"tools": ["ls"], "systemPrompt": "You are a parrot."})
        await client.request("prompt", {"message": "hi", "wait": True})
        system = (await client.request("get_messages"))["messages"][0]
        assert system["sections"]["preamble"] == "You are a parrot."
        assert [tool["name"] for tool in system["toolsAdded"]] == ["ls"]
        ended = next(n.params for n in client.notifications if n.method == "tool_execution_end")
        assert ended["isError"] is True, "a tool that was not offered is not run"


async def test_a_thinking_level_asked_for_at_the_beginning_comes_back_with_the_session(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "one"}, reasoning=True)
    async with serving(home) as client:
        state = await client.request("new_session", {"thinkingLevel": "high"})
        assert state["thinkingLevel"] == "high"
        await client.request("prompt", {"message": "hello", "wait": True})
    async with serving(home) as client:
        assert (await client.request("open_session", {"latest": True}))["thinkingLevel"] == "high"
        kinds = [entry["type"] for entry in (await client.request("get_entries"))["entries"]]
        assert kinds == ["thinking_level_change", "message", "message", "message"]


async def test_a_bad_setting_names_field_and_file(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(compaction={"reserveTokens": -5})
    async with serving(home) as client:
        with pytest.raises(RpcError) as refused:
            await client.request("new_session")
        assert "compaction.reserveTokens" in refused.value.message
        assert "settings.json" in refused.value.message


async def test_a_directory_that_is_not_there_is_refused(tmp_path: Path) -> None:
    async with serving(Home(tmp_path)) as client:
        with pytest.raises(RpcError) as refused:
            await client.request("new_session", {"cwd": str(tmp_path / "nowhere")})
        assert refused.value.code == -32602
