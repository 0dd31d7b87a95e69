"""compact, by hand and by itself: announced, transactional, and undone by nothing."""

from pathlib import Path
from typing import Any

import pytest

from rpc_agent.rpc.errors import RpcError
from tests.support.agent_server import Home, names, serving
from tests.support.chat_server import ChatServer, text_reply
from tests.support.compactions import LONG, SUMMARY, chatty, keep_little, talk
from tests.support.hooks import answer_hook, initialize

pytestmark = pytest.mark.anyio


async def test_it_replaces_old_turns_by_a_summary_and_says_so(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home, SUMMARY)
    async with serving(home) as client:
        await talk(client)
        before = len(client.notifications)
        result = await client.request("compact")
        assert result["summary"].startswith("## Goal")
        assert result["estimatedTokensAfter"] < result["tokensBefore"]
        heard = [n for n in client.notifications[before:] if n.method != "compaction_progress"]
        assert [n.method for n in heard] == [
            "compaction_start", "entry_appended", "compaction_end", "context_usage_changed",
        ]  # fmt: skip
        start, end = heard[0].params, heard[2].params
        assert (start["reason"], end["status"], end["aborted"], end["willRetry"]) == (
            "manual",
            "completed",
            False,
            False,
        )
        assert start["compactionId"] == end["compactionId"]
        assert end["result"] == {name: value for name, value in result.items() if name != "sessionId"}
        roles = [m["role"] for m in (await client.request("get_messages"))["messages"]]
        assert roles == ["system", "compactionSummary", "user", "assistant"]
        usage = (await client.request("get_state"))["contextUsage"]
        assert usage["tokens"] is None, "nobody knows until a model reports usage again"


async def test_the_session_goes_on_with_the_summary_and_the_kept_turn(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home, SUMMARY, turns=4)
    async with serving(home) as client:
        await talk(client)
        compacted = await client.request("compact")
        result = await client.request("prompt", {"message": "and now?", "wait": True})
        assert result["text"].startswith("answer 3")
        context = (await client.request("get_context"))["messages"]
        assert context[1]["entryId"] == compacted["entryId"]


async def test_too_short_a_conversation_is_refused_without_any_event(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "short"}, summaries=[SUMMARY])
    async with serving(home) as client:
        await client.request("prompt", {"message": "hi", "wait": True})
        before = len(client.notifications)
        with pytest.raises(RpcError) as refused:
            await client.request("compact")
        assert (refused.value.code, len(client.notifications)) == (-32020, before)


async def test_a_second_compaction_right_after_the_first_is_refused(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home, SUMMARY, SUMMARY)
    async with serving(home) as client:
        await talk(client)
        await client.request("compact")
        with pytest.raises(RpcError) as refused:
            await client.request("compact")
        assert refused.value.code == -32021


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"text": "## Goal\nBuild the", "stopReason": "length"}, "length"),
        ({"text": ""}, "empty"),
        ({"toolCalls": [{"name": "ls", "arguments": {}}]}, "toolCall"),
        ({"error": {"kind": "other", "message": "no"}}, "error"),
        ({"text": LONG * 9}, "degenerate"),
    ],
)
async def test_a_summary_that_is_none_changes_nothing_and_is_reported(
    tmp_path: Path, reply: dict[str, Any], reason: str
) -> None:
    home = Home(tmp_path)
    chatty(home, reply)
    async with serving(home) as client:
        await talk(client)
        messages = (await client.request("get_messages"))["messages"]
        with pytest.raises(RpcError) as failed:
            await client.request("compact")
        assert (failed.value.code, (failed.value.data or {})["reason"]) == (-32023, reason)
        end = next(n.params for n in client.notifications if n.method == "compaction_end")
        assert (end["status"], end["aborted"], "result" in end) == ("failed", False, False)
        assert end["errorMessage"]
        assert (await client.request("get_messages"))["messages"] == messages
        kinds = [entry["type"] for entry in (await client.request("get_entries"))["entries"]]
        assert "compaction" not in kinds


async def test_it_stops_a_run_first_and_does_not_resume_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    keep_little(home)
    home.script({"text": f"a {LONG}"}, {"text": f"b {LONG}"}, {"text": "half", "hang": True}, summaries=[SUMMARY])
    async with serving(home) as client:
        await talk(client, 2)
        await client.request("prompt", {"message": "three"})
        await client.notification("message_update", after=len(client.notifications))
        before = len(client.notifications)
        await client.request("compact")
        heard = [n.method for n in client.notifications[before:]]
        assert heard.index("agent_settled") < heard.index("compaction_start")
        assert "agent_start" not in heard[heard.index("compaction_start") :]
        assert (await client.request("get_state"))["isStreaming"] is False


async def test_a_message_that_comes_during_it_starts_a_run_after_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    keep_little(home)
    home.script({"text": f"a {LONG}"}, {"text": f"b {LONG}"}, {"text": "to the late one"}, summaries=[SUMMARY])
    async with serving(home) as client:
        await initialize(client, hooks=["session_before_compact"])
        await talk(client, 2)
        compacting = await client.ask("compact")
        await client.notification("compaction_start")
        with pytest.raises(RpcError) as refused:
            await client.request("prompt", {"message": "impatient"})
        assert refused.value.code == -32011
        late = await client.ask("prompt", {"message": "late", "streamingBehavior": "followUp", "wait": True})
        await answer_hook(client)
        await client.answer(compacting)
        assert (await client.answer(late))["text"] == "to the late one"


async def test_above_the_threshold_it_compacts_by_itself_after_the_run_and_before_it_settles(tmp_path: Path) -> None:
    home = Home(tmp_path)
    keep_little(home, reserveTokens=1000)
    big = {"text": f"b {LONG}", "usage": {"input": 9_500, "output": 100}}
    home.script(
        {"text": f"a {LONG}", "usage": {"input": 500, "output": 100}}, big, summaries=[SUMMARY], contextWindow=10_000
    )
    async with serving(home) as client:
        await talk(client, 2)
        heard = [name for name in names(client) if name != "compaction_progress"]
        assert heard[-6:] == [
            "agent_end", "compaction_start", "entry_appended", "compaction_end", "context_usage_changed", "agent_settled",
        ]  # fmt: skip
        start = next(n.params for n in client.notifications if n.method == "compaction_start")
        assert start["reason"] == "threshold"


async def test_switched_off_it_never_compacts_by_itself_but_still_by_hand(tmp_path: Path) -> None:
    home = Home(tmp_path)
    keep_little(home, enabled=False)
    big = {"text": f"b {LONG}", "usage": {"input": 9_500, "output": 100}}
    home.script({"text": f"a {LONG}"}, big, summaries=[SUMMARY], contextWindow=10_000)
    async with serving(home) as client:
        await talk(client, 2)
        assert "compaction_start" not in names(client)
        assert (await client.request("compact"))["summary"].startswith("## Goal")


async def test_without_a_model_it_is_refused(tmp_path: Path) -> None:
    async with serving(Home(tmp_path), offline=False) as client:
        with pytest.raises(RpcError) as refused:
            await client.request("compact")
        assert refused.value.code == -32031


async def test_the_summary_call_has_no_tools_and_carries_the_custom_instructions(tmp_path: Path) -> None:
    home = Home(tmp_path)
    keep_little(home)
    answers = [text_reply(f"answer {n} {LONG}") for n in range(3)]
    async with ChatServer([*answers, text_reply(SUMMARY["text"])]) as service:
        home.use_service(service.base_url)
        async with serving(home) as client:
            await talk(client)
            params = {"customInstructions": "keep every file name", "keepRecentTokens": 550}
            assert (await client.request("compact", params))["summary"].startswith(SUMMARY["text"])
        *_, last_turn, summary_call = service.requests
        assert ("tools" in last_turn, "tools" in summary_call) == (True, False)
        assert "keep every file name" in summary_call["messages"][-1]["content"]
        assert "keep every file name" not in str(last_turn)
