"""wait_for_idle: answers when nothing works any more, with how the last run ended."""

from pathlib import Path

import pytest

from tests.support.agent_server import Home, serving

pytestmark = pytest.mark.anyio


async def test_it_waits_for_the_run_and_tells_its_last_text(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "the end", "delayMs": 50})
    async with serving(home) as client:
        await client.request("prompt", {"message": "go"})
        idle = await client.request("wait_for_idle")
        assert (idle["stopReason"], idle["text"], idle["aborted"]) == ("stop", "the end", False)


async def test_it_tells_that_the_run_was_aborted(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "half", "hang": True})
    async with serving(home) as client:
        await client.request("prompt", {"message": "go"})
        waiting = await client.ask("wait_for_idle")
        await client.notification("message_start", where=lambda p: p["message"]["role"] == "assistant")
        await client.request("abort")
        idle = await client.answer(waiting)
        assert (idle["stopReason"], idle["aborted"]) == ("aborted", True)


async def test_when_idle_it_answers_at_once(tmp_path: Path) -> None:
    async with serving(Home(tmp_path)) as client:
        idle = await client.request("wait_for_idle")
        assert (idle["text"], idle["aborted"]) == ("", False)
