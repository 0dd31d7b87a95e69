"""preview_compaction, undo_compaction, set_auto_compaction."""

from pathlib import Path

import pytest

from rpc_agent.protocol.methods import METHODS
from rpc_agent.rpc.errors import RpcError
from tests.support.agent_server import Home, names, serving
from tests.support.compactions import LONG, SUMMARY, chatty, talk

pytestmark = pytest.mark.anyio


async def test_a_preview_says_what_a_compaction_then_does_and_writes_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home, SUMMARY)
    async with serving(home) as client:
        await talk(client)
        entries = await client.request("get_entries")
        preview = await client.request("preview_compaction")
        assert await client.request("get_entries") == entries
        assert (preview["isSplitTurn"], preview["hasPreviousSummary"]) == (False, False)
        context = [item["entryId"] for item in (await client.request("get_context"))["messages"]]
        assert [*preview["summarizedEntryIds"], *preview["keptEntryIds"]] == context
        result = await client.request("compact")
        assert result["firstKeptEntryId"] == preview["firstKeptEntryId"] == preview["keptEntryIds"][0]
        assert result["tokensBefore"] == preview["tokensBefore"]


async def test_undo_gives_back_the_exact_context_and_going_back_redoes_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home, SUMMARY)
    async with serving(home) as client:
        await talk(client)
        before = (await client.request("get_messages"))["messages"]
        compacted = await client.request("compact")
        after = (await client.request("get_messages"))["messages"]
        undone = await client.request("undo_compaction")
        assert undone["previousLeafId"] == compacted["entryId"]
        assert (await client.request("get_messages"))["messages"] == before
        await client.request("navigate_tree", {"targetId": undone["previousLeafId"]})
        assert (await client.request("get_messages"))["messages"] == after


async def test_without_a_compaction_there_is_nothing_to_undo(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home, SUMMARY)
    async with serving(home) as client:
        await talk(client, 1)
        with pytest.raises(RpcError) as nothing:
            await client.request("undo_compaction")
        leaf = (await client.request("get_state"))["leafId"]
        with pytest.raises(RpcError) as other:
            await client.request("undo_compaction", {"entryId": leaf})
        assert (nothing.value.code, nothing.value.data["reason"]) == (-32020, "nothingToCompact")
        assert (other.value.code, other.value.data["reason"]) == (-32602, "invalidParams")


async def test_the_switch_turns_automatic_compaction_off_for_this_session(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(tokens={"estimate": "simple"}, compaction={"keepRecentTokens": 600, "reserveTokens": 1000})
    big = {"text": f"b {LONG}", "usage": {"input": 9_500, "output": 100}}
    home.script({"text": f"a {LONG}"}, big, summaries=[SUMMARY], contextWindow=10_000)
    async with serving(home) as client:
        await client.request("set_auto_compaction", {"enabled": False})
        assert (await client.request("get_state"))["autoCompactionEnabled"] is False
        await talk(client, 2)
        assert "compaction_start" not in names(client)


async def test_without_a_model_a_preview_says_so_and_the_contract_tells_that_it_may(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(offline=False)
    async with serving(home) as client:
        with pytest.raises(RpcError) as refused:
            await client.request("preview_compaction")
    assert refused.value.data is not None
    assert refused.value.data["reason"] == "noModel"
    assert {"noModel", "authMissing"} <= set(METHODS["preview_compaction"].errors)
