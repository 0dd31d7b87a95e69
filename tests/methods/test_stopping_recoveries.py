"""Stopping what a run does besides answering: recovery from an overflow, a summary's retry wait; and who may cut in."""

from pathlib import Path
from typing import Any

import pytest

from rpc_agent.rpc.errors import RpcError
from tests.support.agent_server import CheckingClient, Home, names, serving
from tests.support.compactions import LONG, SUMMARY, TOO_LONG, chatty, recovering_home, talk
from tests.support.hooks import answer_hook, initialize

pytestmark = pytest.mark.anyio

SLOW = {"text": "never finished", "hang": True}
BROKEN = {"error": {"kind": "overloaded", "message": "busy", "status": 529}}


async def refused(client: CheckingClient, method: str, params: dict[str, Any]) -> tuple[int, str]:
    with pytest.raises(RpcError) as caught:
        await client.request(method, params)
    return caught.value.code, (caught.value.data or {})["reason"]


async def recovering(client: CheckingClient) -> Any:
    """A prompt that was refused as too long and is being compacted by a model that never ends."""
    await talk(client, 2)
    question = await client.ask("prompt", {"message": "three", "wait": True})
    await client.notification("compaction_start")
    return question


def recovery_home(tmp_path: Path) -> Home:
    answers = [{"text": f"a {LONG}"}, {"text": f"b {LONG}"}]
    return recovering_home(tmp_path, *answers, TOO_LONG, {"text": "fits"}, {"text": "later"}, summaries=[SLOW, SUMMARY])


async def test_without_its_compaction_a_recovery_settles_in_the_error(tmp_path: Path) -> None:
    async with serving(recovery_home(tmp_path)) as client:
        question = await recovering(client)
        assert (await client.request("abort_compaction"))["aborted"] is True
        result = await client.answer(question)
        assert (result["stopReason"], result["error"]["reason"]) == ("error", "contextOverflow")
        ends = [n.params for n in client.notifications if n.method == "compaction_end"]
        assert [(end["status"], end["willRetry"]) for end in ends] == [("cancelled", False)]
        assert names(client)[-1] == "agent_settled"
        assert (await client.request("prompt", {"message": "again", "wait": True}))["stopReason"] == "stop"


async def test_abort_in_a_recovery_ends_run_and_compaction_and_leaves_no_flag(tmp_path: Path) -> None:
    async with serving(recovery_home(tmp_path)) as client:
        question = await recovering(client)
        first, second = await client.ask("abort"), await client.ask("abort")
        await client.answer(first)
        await client.answer(second)
        assert (await client.answer(question))["stopReason"] == "aborted"
        heard = names(client)
        assert (heard.count("compaction_start"), heard.count("compaction_end"), heard[-1]) == (1, 1, "agent_settled")
        state = await client.request("get_state")
        assert (state["isStreaming"], state["isCompacting"]) == (False, False)
        assert (await client.request("prompt", {"message": "again", "wait": True}))["stopReason"] == "stop"


async def test_what_is_said_during_a_recovery_is_delivered_once_after_it(tmp_path: Path) -> None:
    answers = [{"text": f"a {LONG}"}, {"text": f"b {LONG}"}]
    home = recovering_home(tmp_path, *answers, TOO_LONG, {"text": "fits"}, {"text": "to later"}, summaries=[SUMMARY])
    async with serving(home) as client:
        await initialize(client, hooks=["session_before_compact"])
        question = await recovering(client)
        assert await refused(client, "prompt", {"message": "no"}) == (-32011, "sessionBusy")
        await client.request("follow_up", {"message": "later"})
        await answer_hook(client)
        assert (await client.answer(question))["text"] == "fits"
        await client.request("wait_for_idle")
        messages = (await client.request("get_messages"))["messages"]
        assert [m["content"] for m in messages if m["role"] == "user"][-2:] == ["three", "later"]
        assert names(client).count("agent_settled") == 3


@pytest.mark.parametrize("method", ["abort", "abort_compaction"])
async def test_a_summarys_retry_wait_is_stopped_too(tmp_path: Path, method: str) -> None:
    home = Home(tmp_path)
    chatty(home, BROKEN, SUMMARY)
    home.settings(retry={"baseDelayMs": 600_000, "maxDelayMs": 600_000})
    async with serving(home) as client:
        await talk(client)
        before = (await client.request("get_entries"))["leafId"]
        compacting = await client.ask("compact")
        await client.notification("summarization_retry_scheduled")
        await client.request(method)
        with pytest.raises(RpcError) as cancelled:
            await client.answer(compacting)
        assert (cancelled.value.code, (await client.request("get_entries"))["leafId"]) == (-32022, before)
        assert (await client.request("compact"))["summary"].startswith("## Goal")


async def test_a_compaction_by_hand_refuses_a_plain_prompt_and_queues_one_that_may_wait(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home, SUMMARY, turns=4)
    async with serving(home) as client:
        await initialize(client, hooks=["session_before_compact"])
        await talk(client)
        compacting = await client.ask("compact")
        await client.notification("compaction_start")
        assert await refused(client, "prompt", {"message": "no"}) == (-32011, "sessionBusy")
        queued = await client.request("prompt", {"message": "yes", "streamingBehavior": "followUp"})
        assert queued["disposition"] == "queued"
        await answer_hook(client)
        await client.answer(compacting)
        await client.request("wait_for_idle")
        messages = (await client.request("get_messages"))["messages"]
        assert [m["content"] for m in messages if m["role"] == "user"][-1] == "yes"


@pytest.mark.parametrize(("method", "params"), [("compact", {}), ("navigate_tree", {"targetId": None})])
async def test_a_leaf_that_moved_stops_them_before_anything_happens(
    tmp_path: Path, method: str, params: dict[str, Any]
) -> None:
    home = Home(tmp_path)
    chatty(home, SUMMARY)
    async with serving(home) as client:
        await talk(client, 1)
        old = (await client.request("get_state"))["leafId"]
        await talk(client, 2)
        count = len(client.notifications)
        code = await refused(client, method, {**params, "expectedLeafId": old})
        assert (code, len(client.notifications)) == ((-32017, "leafMoved"), count)


async def test_a_time_limit_ends_a_recovery(tmp_path: Path) -> None:
    async with serving(recovery_home(tmp_path)) as client:
        await talk(client, 2)
        result = await client.request("prompt", {"message": "three", "wait": True, "timeoutMs": 1000})
        assert (result["stopReason"], "error" in result) == ("aborted", False)
        assert "time limit" in result["errorMessage"]
        assert names(client)[-2:] == ["compaction_end", "agent_settled"]


async def test_a_time_limit_ends_a_tool(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(permissions={"mode": "allow"})
    home.script({"toolCalls": [{"name": "bash", "arguments": {"command": "sleep 300"}}]})
    async with serving(home) as client:
        result = await client.request("prompt", {"message": "go", "wait": True, "timeoutMs": 1000})
        assert (result["stopReason"], "error" in result) == ("aborted", False)
        assert "time limit" in result["errorMessage"]
        (end,) = [n.params for n in client.notifications if n.method == "tool_execution_end"]
        assert end["isError"] is True
