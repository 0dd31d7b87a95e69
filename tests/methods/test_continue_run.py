"""continue_run: go on after an error or an abort, without a new message."""

from pathlib import Path

import pytest

from rpc_agent.rpc.errors import RpcError
from tests.support.agent_server import Home, serving

pytestmark = pytest.mark.anyio


async def test_it_answers_the_last_message_again(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"error": {"kind": "other", "message": "broke"}}, {"text": "now it works"})
    async with serving(home) as client:
        await client.request("prompt", {"message": "hi", "wait": True})
        started = await client.request("continue_run")
        idle = await client.request("wait_for_idle")
        assert (idle["text"], bool(started["runId"])) == ("now it works", True)
        users = [m for m in (await client.request("get_messages"))["messages"] if m["role"] == "user"]
        assert len(users) == 1


async def test_there_must_be_something_to_go_on_with(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "hello"})
    async with serving(home) as client:
        with pytest.raises(RpcError) as refused:
            await client.request("continue_run")
        assert refused.value.code == -32602


async def test_during_a_run_it_is_refused(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "half", "hang": True})
    async with serving(home) as client:
        await client.request("prompt", {"message": "hi"})
        with pytest.raises(RpcError) as refused:
            await client.request("continue_run")
        assert refused.value.code == -32011
        await client.request("abort")
