"""Overflow: recognised, recovered once, told in order, learned from; and what never fits."""

from pathlib import Path

import pytest

from tests.support.agent_server import names, serving
from tests.support.compactions import LONG, TOO_LONG, recovering_home, talk

pytestmark = pytest.mark.anyio


async def test_an_overflow_is_compacted_away_and_the_question_asked_again(tmp_path: Path) -> None:
    answers = [{"text": f"a {LONG}"}, {"text": f"b {LONG}"}]
    home = recovering_home(tmp_path, *answers, TOO_LONG, {"text": "now it fits"})
    async with serving(home) as client:
        await talk(client, 2)
        before = len(client.notifications)
        result = await client.request("prompt", {"message": "three", "wait": True})
        assert (result["text"], result["stopReason"], "error" in result) == ("now it fits", "stop", False)
        heard = [n for n in client.notifications[before:] if n.method not in ("message_update", "compaction_progress")]
        assert [n.method for n in heard][5:] == [
            "message_start", "entry_appended", "message_end", "context_usage_changed",
            "turn_end", "agent_end", "entry_appended",
            "compaction_start", "entry_appended", "compaction_end", "context_usage_changed",
            "agent_start", "turn_start",
            "message_start", "entry_appended", "message_end",  # the system message that now offers `history`
            "message_start", "entry_appended", "message_end", "context_usage_changed",
            "turn_end", "agent_end", "agent_settled",
        ]  # fmt: skip
        end = next(n.params for n in heard if n.method == "compaction_end")
        assert (end["reason"], end["status"], end["willRetry"]) == ("overflow", "completed", True)
        assert [n.params["willRetry"] for n in heard if n.method == "agent_end"] == [False, False]
        messages = (await client.request("get_messages"))["messages"]
        assert all(message.get("stopReason") != "error" for message in messages), "the failed try is left out"


async def test_a_second_overflow_is_not_tried_again_and_is_told_once(tmp_path: Path) -> None:
    answers = [{"text": f"a {LONG}"}, {"text": f"b {LONG}"}]
    home = recovering_home(tmp_path, *answers, TOO_LONG, TOO_LONG, {"text": "fine"})
    async with serving(home) as client:
        await talk(client, 2)
        before = len(client.notifications)
        result = await client.request("prompt", {"message": "three", "wait": True})
        assert (result["stopReason"], result["error"]) == ("error", {"code": -32034, "reason": "contextOverflow"})
        ends = [n.params for n in client.notifications[before:] if n.method == "compaction_end"]
        starts = [n.params for n in client.notifications[before:] if n.method == "compaction_start"]
        assert [(end["status"], end["reason"]) for end in ends] == [("completed", "overflow"), ("failed", "overflow")]
        assert len(starts) == 1, "the spent fuse alone has no start"
        assert (await client.request("prompt", {"message": "four", "wait": True}))["text"] == "fine"


async def test_when_the_summary_fails_too_the_session_stays_usable(tmp_path: Path) -> None:
    answers = [{"text": f"a {LONG}"}, {"text": f"b {LONG}"}]
    failing = [{"error": {"kind": "other", "message": "no"}}] * 8
    home = recovering_home(tmp_path, *answers, TOO_LONG, {"text": "fine"}, {"text": "fine"}, summaries=failing)
    async with serving(home) as client:
        await talk(client, 2)
        result = await client.request("prompt", {"message": "three", "wait": True})
        assert (result["stopReason"], result["text"]) == ("stop", "fine"), "with a summary that needs no model"
        again = await client.request("prompt", {"message": "four", "wait": True})
        assert again["stopReason"] == "stop"


async def test_a_silent_overflow_is_compacted_and_the_good_answer_stays(tmp_path: Path) -> None:
    big = {"text": "a good answer", "usage": {"input": 12_000, "output": 10}}
    home = recovering_home(tmp_path, {"text": f"a {LONG}"}, {"text": f"b {LONG}"}, big, contextWindow=10_000)
    home.settings(compaction={"keepRecentTokens": 600, "reserveTokens": 500})
    async with serving(home) as client:
        await talk(client, 2)
        result = await client.request("prompt", {"message": "three", "wait": True})
        assert result["text"] == "a good answer"
        end = next(n.params for n in client.notifications if n.method == "compaction_end")
        assert (end["reason"], end["willRetry"]) == ("overflow", False)
        assert names(client).count("agent_start") == 3


async def test_an_answer_cut_because_the_context_was_full_is_asked_for_again(tmp_path: Path) -> None:
    cut = {"text": "half", "stopReason": "length", "usage": {"input": 9_000, "output": 10}}
    home = recovering_home(
        tmp_path, {"text": f"a {LONG}"}, {"text": f"b {LONG}"}, cut, {"text": "whole"}, contextWindow=100_000
    )
    async with serving(home) as client:
        await talk(client, 2)
        result = await client.request("prompt", {"message": "three", "wait": True})
        assert (result["text"], result["stopReason"]) == ("whole", "stop")


async def test_a_message_that_can_never_fit_is_refused_with_the_reason(tmp_path: Path) -> None:
    home = recovering_home(tmp_path, {"text": "never asked"}, contextWindow=4_000)
    async with serving(home) as client:
        result = await client.request("prompt", {"message": "word " * 10_000, "wait": True})
        assert (result["stopReason"], result["error"]["reason"]) == ("error", "contextOverflow")
        assert "never fit" in result["errorMessage"]
        assert names(client) == ["agent_settled"]


async def test_a_limit_that_a_refusal_states_is_learned_and_told(tmp_path: Path) -> None:
    refusal = {"error": {**TOO_LONG["error"], "limit": 50_000}}
    home = recovering_home(tmp_path, {"text": f"a {LONG}"}, {"text": f"b {LONG}"}, refusal, {"text": "fits"})
    home.settings(tokens={"estimate": "classes"})
    async with serving(home) as client:
        await talk(client, 2)
        await client.request("prompt", {"message": "three", "wait": True})
        warning = next(n.params for n in client.notifications if n.method == "context_warning")
        assert (warning["kind"], warning["limit"]) == ("limitLearned", 50_000)
        state = await client.request("get_state")
        assert (state["contextUsage"]["contextWindow"], state["model"]["effectiveContextWindow"]) == (50_000, 50_000)
        answers = [
            (await client.request("get_available_models"))["models"][0],
            (await client.request("set_model", {"provider": "scripted", "modelId": "m"}))["model"],
            next(n.params["model"] for n in reversed(client.notifications) if n.method == "model_changed"),
        ]
        assert answers == [state["model"]] * 3


async def test_input_that_was_cut_without_a_word_is_noticed_once(tmp_path: Path) -> None:
    low = {"text": "fine", "usage": {"input": 500, "output": 10}}
    home = recovering_home(tmp_path, low, low, contextWindow=100_000)
    home.settings(tokens={"estimate": "classes"})
    async with serving(home) as client:
        for number in range(2):
            await client.request("prompt", {"message": f"{number} {'word ' * 8000}", "wait": True})
        warnings = [n.params for n in client.notifications if n.method == "context_warning"]
        assert [warning["kind"] for warning in warnings] == ["silentTruncation"]
        assert warnings[0]["countedTokens"] == 500


@pytest.mark.parametrize("kind", ["rate", "quota", "auth", "other", "overloaded"])
async def test_other_failures_are_no_overflow(tmp_path: Path, kind: str) -> None:
    error = {"error": {"kind": kind, "message": "the service says no"}}
    home = recovering_home(tmp_path, {"text": f"a {LONG}"}, {"text": f"b {LONG}"}, *[error] * 4)
    async with serving(home) as client:
        await talk(client, 2)
        await client.request("prompt", {"message": "three", "wait": True})
        assert "compaction_start" not in names(client)
