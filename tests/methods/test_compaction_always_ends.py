"""compact and automatic compaction when the model is of no use, and when no compaction could help."""

from pathlib import Path
from typing import Any

import pytest

from rpc_agent.rpc.errors import RpcError
from rpc_agent.rpc.in_memory import InMemoryClient
from tests.support.agent_server import Home, names, serving
from tests.support.compactions import LONG, SUMMARY, chatty, keep_little, talk

pytestmark = pytest.mark.anyio

REFUSED = {"error": {"kind": "other", "message": "no"}}


def heard(client: InMemoryClient, name: str) -> list[Any]:
    return [each.params for each in client.notifications if each.method == name]


async def test_a_threshold_that_cannot_be_met_is_said_once_and_work_goes_on(tmp_path: Path) -> None:
    home = Home(tmp_path)
    usage = {"input": 29_000, "output": 10}
    home.script({"text": "hello", "usage": usage}, summaries=[SUMMARY], contextWindow=32_768)
    replies = home.config / "replies.json"
    replies.write_text(replies.read_text().replace('"replies"', '"repeat": true, "replies"'))
    async with serving(home) as client:
        for _ in range(5):
            result = await client.request("prompt", {"message": "hi", "wait": True})
            assert result["text"] == "hello"
        assert "compaction_start" not in names(client)
        (warning,) = heard(client, "context_warning")
        assert (warning["kind"], warning["threshold"], warning["tokens"]) == ("unreachableThreshold", 24_576, 29_010)
        assert "larger window" in warning["message"]


async def test_after_a_refusal_of_the_context_a_summary_is_made_without_the_model(tmp_path: Path) -> None:
    home = Home(tmp_path)
    keep_little(home)
    too_long = {"error": {"kind": "overflow", "message": "prompt is too long: 210000 tokens > 200000 maximum"}}
    home.script({"text": f"a {LONG}"}, {"text": f"b {LONG}"}, too_long, {"text": "done"}, summaries=[REFUSED, REFUSED])
    async with serving(home) as client:
        await talk(client, 2)
        result = await client.request("prompt", {"message": "the last wish", "wait": True})
        assert result["text"] == "done"
        (end,) = heard(client, "compaction_end")
        assert (end["reason"], end["status"], end["willRetry"]) == ("overflow", "completed", True)
        assert end["result"]["details"]["fallback"] is True
        assert end["result"]["estimatedTokensAfter"] < end["result"]["tokensBefore"]


async def test_by_hand_a_failure_changes_nothing_unless_the_fallback_is_asked_for(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home, REFUSED, REFUSED)
    async with serving(home) as client:
        await talk(client)
        before = (await client.request("get_messages"))["messages"]
        with pytest.raises(RpcError) as failed:
            await client.request("compact")
        assert failed.value.code == -32023
        assert (await client.request("get_messages"))["messages"] == before
        made = await client.request("compact", {"fallback": True})
        assert made["details"]["fallback"] is True and "question 0" in made["summary"]
        assert "compaction" in [each["type"] for each in (await client.request("get_entries"))["entries"]]


async def test_the_model_is_never_passed_over_while_it_answers_well(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home, SUMMARY)
    async with serving(home) as client:
        await talk(client)
        made = await client.request("compact", {"fallback": True})
        assert made["summary"].startswith(SUMMARY["text"]) and "fallback" not in made["details"]


async def test_a_small_summary_model_reads_in_chunks_and_each_call_is_counted(tmp_path: Path) -> None:
    home = Home(tmp_path)
    keep_little(home, reserveTokens=1000)
    home.script(*[{"text": f"answer {n} {LONG * 5}"} for n in range(6)], summaries=[SUMMARY] * 30, contextWindow=0)
    models = (home.config / "models.json").read_text()
    (home.config / "models.json").write_text(
        models.replace('"models": [', '"models": [{"id": "small", "contextWindow": 8000, "maxTokens": 1000}, ')
    )
    home.settings(compaction={"keepRecentTokens": 600, "reserveTokens": 1000, "model": "scripted/small"})
    async with serving(home) as client:
        for number in range(6):
            await client.request("prompt", {"message": f"question {number} {LONG * 5}", "wait": True})
        await client.request("compact")
        steps = [each for each in heard(client, "compaction_progress") if "chunk" in each]
        assert [each["chunk"] for each in steps] == list(range(1, steps[0]["chunks"] + 1))
        assert {"history", "merge"} <= {each["phase"] for each in steps}


async def test_a_giant_result_that_is_kept_is_shortened_and_comes_back_with_undo(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (home.project / "big.txt").write_text("HEAD\n" + "line of text\n" * 3_500 + "TAIL\n")
    home.settings(tokens={"estimate": "simple"}, compaction={"keepRecentTokens": 2_000, "reserveTokens": 2_000})
    reads = {"toolCalls": [{"name": "read", "arguments": {"path": "big.txt", "limit": 1900}}]}
    home.script({"text": f"a {LONG}"}, reads, {"text": "seen"}, summaries=[SUMMARY], contextWindow=8_000)
    async with serving(home) as client:
        await client.request("prompt", {"message": f"hello {LONG}", "wait": True})
        result = await client.request("prompt", {"message": "look", "wait": True})
        assert result["text"] == "seen"
        (end,) = heard(client, "compaction_end")
        assert end["status"] == "completed"
        context = (await client.request("get_messages"))["messages"]
        (shown,) = [each for each in context if each["role"] == "toolResult"]
        assert "characters left out to make room" in shown["content"][0]["text"]
        await client.request("undo_compaction")
        context = (await client.request("get_messages"))["messages"]
        (whole,) = [each for each in context if each["role"] == "toolResult"]
        assert "characters left out" not in whole["content"][0]["text"]


async def test_standing_instructions_above_the_threshold_are_said_once_whatever_the_history(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(tokens={"estimate": "simple"}, compaction={"keepRecentTokens": 100})
    (home.config / "AGENTS.md").write_text("word " * 21_000)
    home.script(*[{"text": f"hello {LONG}"} for _ in range(4)], summaries=[SUMMARY] * 4, contextWindow=32_768)
    async with serving(home) as client:
        for _ in range(4):
            result = await client.request("prompt", {"message": "hi", "wait": True})
            assert result["stopReason"] == "stop"
        assert "compaction_start" not in names(client)
        (warning,) = heard(client, "context_warning")
        assert warning["fixedTokens"] > warning["threshold"] == 16_384
