"""get_events: what a window that was reloaded has missed."""

from pathlib import Path

import pytest

from tests.support.agent_server import Home, serving

pytestmark = pytest.mark.anyio


async def test_what_was_sent_after_a_number_is_sent_again(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "hello"})
    async with serving(home) as client:
        await client.request("prompt", {"message": "hi", "wait": True})
        sent = [{"method": n.method, "params": n.params} for n in client.notifications]
        stream = (await client.request("get_state"))["streamId"]
        replay = await client.request("get_events", {"since": 0, "streamId": stream})
        assert (replay["events"], replay["truncated"]) == (sent, False)
        assert (replay["firstSeq"], replay["lastSeq"]) == (1, len(sent))
        some = await client.request("get_events", {"since": 3, "limit": 2})
        assert some["events"] == sent[3:5]
        none = await client.request("get_events", {"since": len(sent)})
        assert (none["events"], none["truncated"]) == ([], False)
        # A number that was never given is from another stream: whoever asks with it must read anew.
        future = await client.request("get_events", {"since": len(sent) + 1})
        assert (future["events"], future["truncated"]) == ([], True)


async def test_another_life_of_the_session_has_nothing_to_replay(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "hello"})
    async with serving(home) as client:
        await client.request("prompt", {"message": "hi", "wait": True})
        replay = await client.request("get_events", {"since": 0, "streamId": "another"})
        assert (replay["events"], replay["truncated"]) == ([], True)


async def test_the_memory_of_events_is_bounded_and_says_so(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "x" * 6000, "chunk": 1})
    async with serving(home) as client:
        await client.request("prompt", {"message": "hi", "wait": True})
        replay = await client.request("get_events", {"since": 0})
        assert replay["truncated"] is True
        assert replay["events"][0]["params"]["seq"] == replay["firstSeq"] > 1
        assert len(replay["events"]) == replay["lastSeq"] - replay["firstSeq"] + 1
