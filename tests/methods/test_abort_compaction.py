"""abort_compaction: answers after compaction_end, and leaves everything as it was."""

import json
from pathlib import Path

import anyio
import pytest

from rpc_agent.rpc.errors import RpcError
from tests.support.agent_server import PATIENCE, Home, serving
from tests.support.compactions import LONG, chatty, talk

pytestmark = pytest.mark.anyio

SLOW = {"text": "never finished", "hang": True}


async def test_it_stops_a_compaction_and_nothing_has_changed(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home, SLOW, {"text": "## Goal\nNotes."}, turns=4)
    async with serving(home) as client:
        await talk(client)
        messages = (await client.request("get_messages"))["messages"]
        compacting = await client.ask("compact")
        await client.notification("compaction_start")
        stopped = await client.request("abort_compaction")
        ended = next(n.params for n in client.notifications if n.method == "compaction_end")
        assert (stopped["aborted"], ended["status"], ended["aborted"]) == (True, "cancelled", True)
        with pytest.raises(RpcError) as cancelled:
            await client.answer(compacting)
        assert cancelled.value.code == -32022
        assert (await client.request("get_messages"))["messages"] == messages
        state = await client.request("get_state")
        assert (state["isCompacting"], state["isStreaming"]) == (False, False)
        # No flag is left: the next one works, and so does the next prompt.
        assert (await client.request("compact"))["summary"].startswith("## Goal")
        assert (await client.request("prompt", {"message": "go on", "wait": True}))["stopReason"] == "stop"


async def test_when_none_runs_it_says_so(tmp_path: Path) -> None:
    async with serving(Home(tmp_path)) as client:
        assert (await client.request("abort_compaction"))["aborted"] is False


async def test_cancelling_the_compact_call_gives_its_own_cancelled_form(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home, SLOW)
    async with serving(home) as client:
        await talk(client)
        compacting = await client.ask("compact")
        await client.notification("compaction_start")
        await client.notify("$/cancelRequest", {"id": compacting[0]})
        with pytest.raises(RpcError) as cancelled:
            await client.answer(compacting)
        assert cancelled.value.code == -32022


async def test_abort_stops_a_compaction_too(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home, SLOW)
    async with serving(home) as client:
        await talk(client)
        compacting = await client.ask("compact")
        await client.notification("compaction_start")
        await client.request("abort")
        with pytest.raises(RpcError) as cancelled:
            await client.answer(compacting)
        assert cancelled.value.code == -32022


async def test_stopping_the_compaction_between_turns_lets_the_run_go_on(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(tokens={"estimate": "simple"}, compaction={"keepRecentTokens": 600, "reserveTokens": 1000})
    big = {"toolCalls": [{"name": "ls", "arguments": {}}], "usage": {"input": 9_500, "output": 100}}
    small = {"usage": {"input": 500, "output": 100}}
    long_answer = {"text": f"a {LONG}", **small}
    home.script(long_answer, long_answer, big, {"text": "went on", **small}, summaries=[SLOW], contextWindow=10_000)
    async with serving(home) as client:
        await talk(client, 2)
        question = await client.ask("prompt", {"message": "two", "wait": True})
        await client.notification("compaction_start")
        assert (await client.request("abort_compaction"))["aborted"] is True
        assert (await client.answer(question))["text"] == "went on"


@pytest.mark.parametrize(
    ("method", "abort"), [("compact", "abort_compaction"), ("navigate_tree", "abort_branch_summary")]
)
async def test_an_abort_in_the_same_write_stops_what_stands_before_it(tmp_path: Path, method: str, abort: str) -> None:
    home = Home(tmp_path)
    chatty(home, SLOW)
    async with serving(home) as client:
        await talk(client)
        entries = (await client.request("get_entries"))["entries"]
        params = {"targetId": entries[1]["id"], "summarize": True} if method == "navigate_tree" else {}
        both = [
            {"jsonrpc": "2.0", "id": "work", "method": method, "params": params},
            {"jsonrpc": "2.0", "id": "abort", "method": abort},
        ]
        with anyio.fail_after(PATIENCE):
            await client.send(json.dumps(both).encode())
            await client.request("wait_for_idle")
        assert (await client.request("get_entries"))["entries"] == entries


async def test_it_stops_a_compaction_that_waits_for_its_run_to_end(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home, SLOW, {"text": "## Goal\nNotes."})
    async with serving(home) as client:
        await talk(client)
        await client.request("prompt", {"message": "slowly"})
        await client.notification("turn_start")
        compacting = await client.ask("compact")
        assert (await client.request("abort_compaction"))["aborted"] is True
        with pytest.raises(RpcError) as cancelled:
            await client.answer(compacting)
        assert cancelled.value.code == -32022
