"""How often text comes: each delta, merged by the frame, or not at all; and what a client opts out of."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_server import CheckingClient, Home, names, serving

pytestmark = pytest.mark.anyio

TEXT = "The quick brown fox jumps over the lazy dog. " * 20


async def ask(client: CheckingClient, **capabilities: Any) -> str:
    await client.request(
        "initialize",
        {"protocolVersion": 1, "clientInfo": {"name": "t", "version": "1"}, "capabilities": capabilities},
    )
    result = await client.request("prompt", {"message": "hi", "wait": True})
    return str(result["text"])


def deltas(client: CheckingClient) -> list[str]:
    updates = [n.params["assistantMessageEvent"] for n in client.notifications if n.method == "message_update"]
    return [update["delta"] for update in updates if update["type"] == "text_delta"]


async def test_each_sends_every_delta(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": TEXT, "chunk": 9})
    async with serving(home) as client:
        assert await ask(client, deltas="each") == "".join(deltas(client)) == TEXT
        assert len(deltas(client)) == len(TEXT) / 9


async def test_merged_sends_at_most_one_a_frame_and_loses_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"thinking": "hm " * 50, "text": TEXT, "chunk": 3})
    async with serving(home) as client:
        assert await ask(client, deltas="merged") == "".join(deltas(client)) == TEXT
        assert len(deltas(client)) < len(TEXT) / 6
        seqs = [n.params["seq"] for n in client.notifications]
        assert seqs == list(range(1, len(seqs) + 1))


async def test_none_sends_no_update_and_numbers_have_no_gap(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": TEXT})
    async with serving(home) as client:
        assert await ask(client, deltas="none") == TEXT
        assert "message_update" not in names(client, but=())
        seqs = [n.params["seq"] for n in client.notifications]
        assert seqs == list(range(1, len(seqs) + 1))


async def test_what_a_client_opted_out_of_is_not_sent_and_not_counted(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": TEXT})
    async with serving(home) as client:
        await ask(client, optOutNotifications=["message_update", "entry_appended", "no_such_thing"])
        assert {"message_update", "entry_appended"} & set(names(client, but=())) == set()
        seqs = [n.params["seq"] for n in client.notifications]
        assert seqs == list(range(1, len(seqs) + 1))


async def test_a_reader_that_stops_slows_the_model_and_loses_no_text(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "x" * 100_000, "chunk": 10})
    async with serving(home) as client:
        file = Path((await client.request("get_state"))["sessionFile"])
        question = await client.ask("prompt", {"message": "hi", "wait": True})
        await client.notification("message_update")
        client.transport.stop_reading()
        # Several turns of the event loop for each delta: a model that is not slowed has said everything by then.
        for _ in range(40_000):
            await asyncio.sleep(0)
        assert b'"role":"assistant"' not in file.read_bytes()
        client.transport.read_again()
        assert (await client.answer(question, timeout=60))["text"] == "x" * 100_000
        assert "".join(deltas(client)) == "x" * 100_000
        seqs = [n.params["seq"] for n in client.notifications]
        assert seqs == list(range(1, len(seqs) + 1))


async def test_deltas_come_back_in_a_replay_as_they_were_sent(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": TEXT, "chunk": 9})
    async with serving(home) as client:
        await client.request("prompt", {"message": "hi", "wait": True})
        sent = [{"method": n.method, "params": n.params} for n in client.notifications]
        assert (await client.request("get_events", {"since": 0}))["events"] == sent
