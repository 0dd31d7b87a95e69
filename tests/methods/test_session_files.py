"""list, delete, fork, clone, name and count sessions."""

import os
from pathlib import Path

import pytest

from rpc_agent.rpc.errors import RpcError
from tests.support.agent_server import CheckingClient, Home, serving
from tests.support.compactions import chatty
from tests.support.compactions import talk as long_talk
from tests.support.hooks import answer_hook, initialize
from tests.support.sessions import raw_entry, write_session

pytestmark = pytest.mark.anyio


async def talk(client: CheckingClient, *texts: str) -> None:
    for text in texts:
        await client.request("prompt", {"message": text, "wait": True})


async def test_sessions_are_listed_by_pages_and_searched(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "a"})
    async with serving(home) as client:
        for name in ("alpha", "beta", "gamma"):
            await client.request("new_session", {"name": name})
            await talk(client, f"the question of {name}")
        listed = (await client.request("list_sessions"))["sessions"]
        assert {session["name"] for session in listed} == {"alpha", "beta", "gamma"}
        assert {(session["messageCount"], session["cwd"]) for session in listed} == {(3, str(home.project.resolve()))}
        first = await client.request("list_sessions", {"limit": 2})
        rest = await client.request("list_sessions", {"limit": 2, "cursor": first["nextCursor"]})
        assert [s["id"] for s in first["sessions"] + rest["sessions"]] == [s["id"] for s in listed]
        found = (await client.request("list_sessions", {"query": "question of beta"}))["sessions"]
        assert [session["firstMessage"] for session in found] == ["the question of beta"]
        assert (await client.request("list_sessions", {"cwd": str(tmp_path)}))["sessions"] == []
        assert len((await client.request("list_sessions", {"cwd": str(tmp_path), "all": True}))["sessions"]) == 3


async def test_a_second_list_sees_all_that_changed(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script()
    folder = home.sessions / "--w--"
    folder.mkdir(parents=True)
    paths = [write_session(folder / f"{n}.jsonl", raw_entry("a", None, f"text {n}")) for n in range(3)]
    async with serving(home) as client:

        async def texts() -> set[str]:
            listed = await client.request("list_sessions", {"all": True})
            return {session["firstMessage"] for session in listed["sessions"]}

        assert await texts() == {"text 0", "text 1", "text 2"}
        # Of the same size and time, as a copy that keeps times may be.
        times = paths[0].stat()
        paths[0].write_bytes(paths[0].read_bytes().replace(b"text 0", b"TEXT 0"))
        os.utime(paths[0], ns=(times.st_atime_ns, times.st_mtime_ns))
        write_session(paths[1], raw_entry("a", None, "changed"))
        assert await texts() == {"TEXT 0", "changed", "text 2"}


async def test_a_long_look_at_many_sessions_holds_nobody_up(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script()
    folder = home.sessions / "--w--"
    folder.mkdir(parents=True)
    for n in range(300):
        write_session(folder / f"{n}.jsonl", raw_entry("a", None, f"text {n}"))
    async with serving(home) as client:
        await client.request("ping")
        listed = await client.ask("list_sessions", {"all": True, "query": "nowhere"})
        pinged = await client.ask("ping")
        await client.answer(pinged)
        assert not listed[1].done()
        assert (await client.answer(listed))["sessions"] == []


async def test_a_session_is_deleted_by_id_or_by_path_and_only_inside_the_sessions_dir(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "a"}, {"text": "b"})
    async with serving(home) as client:
        await talk(client, "one")
        first = await client.request("get_state")
        await client.request("delete_session", {"sessionId": first["sessionId"]})
        assert not Path(first["sessionFile"]).exists()
        second = await client.request("new_session")
        await talk(client, "two")
        file = Path((await client.request("get_state"))["sessionFile"])
        await client.request("delete_session", {"path": str(file)})
        assert (file.exists(), second["sessionId"] != first["sessionId"]) == (False, True)
        outside = tmp_path / "outside.jsonl"
        outside.write_text('{"type":"session","version":3,"id":"x","timestamp":"","cwd":""}\n')
        with pytest.raises(RpcError) as refused:
            await client.request("delete_session", {"path": str(outside)})
        assert (refused.value.code, outside.exists()) == (-32602, True)


async def test_a_session_that_another_process_writes_is_not_deleted(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "a"})
    async with serving(home) as writer, serving(home) as other:
        await talk(writer, "mine")
        file = (await writer.request("get_state"))["sessionFile"]
        with pytest.raises(RpcError) as refused:
            await other.request("delete_session", {"path": file})
        assert (refused.value.code, os.path.exists(file)) == (-32012, True)


async def test_a_fork_begins_before_a_user_message_and_gives_its_text(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "a"}, {"text": "b"})
    async with serving(home) as client:
        await talk(client, "first", "second")
        source = await client.request("get_state")
        messages = (await client.request("get_fork_messages"))["messages"]
        assert [message["text"] for message in messages] == ["first", "second"]
        forked = await client.request("fork_session", {"entryId": messages[1]["entryId"]})
        assert (forked["text"], forked["messageCount"]) == ("second", 3)
        assert forked["sessionId"] != source["sessionId"]
        assert (await client.request("get_state"))["sessionId"] == forked["sessionId"], "the fork is current"
        await talk(client, "another second")
        untouched = await client.request("get_state", {"sessionId": source["sessionId"]})
        assert untouched["leafId"] == source["leafId"]
        with pytest.raises(RpcError) as refused:
            await client.request("fork_session", {"entryId": forked["leafId"], "sessionId": forked["sessionId"]})
        assert refused.value.code == -32602


async def test_a_clone_has_the_same_context_and_its_own_file(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "a"})
    async with serving(home) as client:
        await talk(client, "first")
        source = await client.request("get_state")
        messages = await client.request("get_messages")
        clone = await client.request("clone_session")
        cloned = await client.request("get_messages", {"sessionId": clone["sessionId"]})
        assert cloned["messages"] == messages["messages"]
        assert clone["sessionFile"] != source["sessionFile"]


async def test_a_name_is_cleaned_announced_and_cleared(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with serving(home) as client:
        await client.request("set_session_name", {"name": "  two\nlines "})
        assert (await client.request("get_state"))["sessionName"] == "two lines"
        assert client.notifications[-1].params["name"] == "two lines"
        await client.request("set_session_name", {"name": " "})
        assert "sessionName" not in await client.request("get_state")


async def test_statistics_count_every_branch(tmp_path: Path) -> None:
    home = Home(tmp_path)
    usage = {"input": 100, "output": 10, "cacheRead": 5, "cacheWrite": 1}
    home.script({"toolCalls": [{"name": "ls", "arguments": {}}], "usage": usage}, {"text": "b", "usage": usage})
    async with serving(home) as client:
        await talk(client, "first")
        stats = await client.request("get_session_stats")
        counts = [
            stats[name] for name in ("userMessages", "assistantMessages", "toolCalls", "toolResults", "totalMessages")
        ]
        assert counts == [1, 2, 1, 1, 5]
        assert stats["tokens"] == {"input": 200, "output": 20, "cacheRead": 10, "cacheWrite": 2, "total": 232}
        assert (stats["entries"], stats["compactions"]) == (5, 0)
        assert stats["fileBytes"] == Path((await client.request("get_state"))["sessionFile"]).stat().st_size


async def test_a_delete_waits_in_line_behind_what_was_asked_before(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home, {"text": "## Goal\nNotes."})
    async with serving(home) as client:
        await initialize(client, hooks=["session_before_compact"])
        await long_talk(client)
        state = await client.request("get_state")
        session = {"sessionId": state["sessionId"]}
        compacting = await client.ask("compact", session)
        deleting = await client.ask("delete_session", session)
        await answer_hook(client)
        assert (await client.answer(compacting))["summary"].startswith("## Goal")
        assert await client.answer(deleting) == session
        assert not Path(state["sessionFile"]).exists()


@pytest.mark.parametrize("gone", ["deleted", "closed"])
async def test_a_delete_behind_another_end_of_its_session(tmp_path: Path, gone: str) -> None:
    home = Home(tmp_path)
    home.script({"text": "a", "hang": True})
    async with serving(home) as client:
        await client.request("prompt", {"message": "one"})
        await client.notification("message_update")
        state = await client.request("get_state")
        session, path = {"sessionId": state["sessionId"]}, {"path": state["sessionFile"]}
        first = await client.ask("delete_session" if gone == "deleted" else "close_session", session)
        second = await client.ask("delete_session", session if gone == "deleted" else path)
        assert await client.answer(first) == session
        if gone == "closed":
            assert await client.answer(second) == session
        else:
            with pytest.raises(RpcError) as refused:
                await client.answer(second)
            assert refused.value.code == -32010
        assert not Path(state["sessionFile"]).exists()
