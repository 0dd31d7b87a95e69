"""Retries of a failed call: abort_retry, set_auto_retry, Retry-After, and the order of what is told."""

from pathlib import Path

import pytest

from tests.support.agent_server import Home, names, serving

pytestmark = pytest.mark.anyio

BUSY = {"text": "half", "error": {"kind": "overloaded", "message": "try later", "status": 529}}
FAST = {"baseDelayMs": 1, "maxDelayMs": 1000, "maxRetries": 2}


async def test_a_retry_is_told_in_the_order_of_the_protocol_and_the_failed_try_is_left_out(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(retry=FAST)
    home.script(BUSY, {"text": "fine"})
    async with serving(home) as client:
        result = await client.request("prompt", {"message": "hi", "wait": True})
        assert (result["text"], result["stopReason"], "error" in result) == ("fine", "stop", False)
        heard = names(client)[8:]
        assert heard == [
            "message_start", "entry_appended", "message_end", "context_usage_changed",
            "turn_end", "agent_end", "auto_retry_start", "entry_appended",
            "agent_start", "turn_start",
            "message_start", "entry_appended", "message_end", "context_usage_changed",
            "auto_retry_end", "turn_end", "agent_end", "agent_settled",
        ]  # fmt: skip
        start = next(n.params for n in client.notifications if n.method == "auto_retry_start")
        assert (start["attempt"], start["maxAttempts"], start["delayMs"], start["errorMessage"]) == (
            1,
            2,
            1,
            "try later",
        )
        ends = [n.params["willRetry"] for n in client.notifications if n.method == "agent_end"]
        assert ends == [True, False]
        end = next(n.params for n in client.notifications if n.method == "auto_retry_end")
        assert (end["success"], end["attempt"]) == (True, 1)
        roles = [m["role"] for m in (await client.request("get_messages"))["messages"]]
        assert roles == ["system", "user", "assistant"]


async def test_when_every_try_fails_the_result_has_the_error(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(retry=FAST)
    home.script(BUSY, BUSY, BUSY, {"text": "next"})
    async with serving(home) as client:
        result = await client.request("prompt", {"message": "hi", "wait": True})
        assert (result["stopReason"], result["errorMessage"]) == ("error", "try later")
        end = next(n.params for n in client.notifications if n.method == "auto_retry_end")
        assert (end["success"], end["attempt"], end["finalError"]) == (False, 2, "try later")
        assert names(client)[-3:] == ["agent_end", "auto_retry_end", "agent_settled"]
        assert (await client.request("prompt", {"message": "again", "wait": True}))["text"] == "next"


async def test_a_wait_longer_than_the_cap_fails_at_once_and_says_why(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(retry=FAST)
    home.script({"error": {"kind": "rate", "message": "slow down", "status": 429, "retryAfter": 3600}})
    async with serving(home) as client:
        result = await client.request("prompt", {"message": "hi", "wait": True})
        assert result["stopReason"] == "error"
        assert "auto_retry_start" not in names(client)


async def test_what_the_service_asks_to_wait_is_waited(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(retry=FAST)
    home.script({"error": {"kind": "rate", "message": "slow down", "retryAfter": 0.1}}, {"text": "fine"})
    async with serving(home) as client:
        await client.request("prompt", {"message": "hi", "wait": True})
        start = next(n.params for n in client.notifications if n.method == "auto_retry_start")
        assert start["delayMs"] == 100


@pytest.mark.parametrize("kind", ["auth", "quota", "other", "outputCap"])
async def test_what_no_wait_mends_is_not_tried_again(tmp_path: Path, kind: str) -> None:
    home = Home(tmp_path)
    home.settings(retry=FAST)
    home.script({"error": {"kind": kind, "message": "no"}})
    async with serving(home) as client:
        await client.request("prompt", {"message": "hi", "wait": True})
        assert "auto_retry_start" not in names(client)


async def test_abort_retry_ends_the_wait_and_the_run_settles_with_its_error(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(retry={"baseDelayMs": 60_000})
    home.script(BUSY, {"text": "next"})
    async with serving(home) as client:
        question = await client.ask("prompt", {"message": "hi", "wait": True})
        await client.notification("auto_retry_start")
        await client.request("abort_retry")
        result = await client.answer(question)
        assert result["stopReason"] == "error"
        assert names(client)[-2:] == ["auto_retry_end", "agent_settled"]
        settled = client.notifications[-1].params
        assert (settled["aborted"], settled["stopReason"]) == (False, "error")
        assert (await client.request("prompt", {"message": "again", "wait": True}))["text"] == "next"


async def test_abort_in_a_retry_wait_settles_as_aborted(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(retry={"baseDelayMs": 60_000})
    home.script(BUSY)
    async with serving(home) as client:
        question = await client.ask("prompt", {"message": "hi", "wait": True})
        await client.notification("auto_retry_start")
        await client.request("abort")
        result = await client.answer(question)
        assert (result["stopReason"], "error" in result) == ("aborted", False)
        assert client.notifications[-1].params["aborted"] is True


async def test_switched_off_nothing_is_tried_again(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(retry=FAST)
    home.script(BUSY)
    async with serving(home) as client:
        await client.request("set_auto_retry", {"enabled": False})
        assert (await client.request("get_state"))["autoRetryEnabled"] is False
        result = await client.request("prompt", {"message": "hi", "wait": True})
        assert (result["stopReason"], "auto_retry_start" in names(client)) == ("error", False)
