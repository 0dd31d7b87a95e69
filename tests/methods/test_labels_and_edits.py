"""set_label, edit_context, get_entry, get_last_assistant_text."""

from pathlib import Path
from typing import Any

import pytest

from rpc_agent.rpc.errors import RpcError
from tests.support.agent_server import CheckingClient, Home, serving

pytestmark = pytest.mark.anyio


async def one_turn(client: CheckingClient) -> list[dict[str, Any]]:
    await client.request("prompt", {"message": "hi", "wait": True})
    return list((await client.request("get_entries"))["entries"])


async def test_a_label_is_shown_in_the_tree_and_taken_away_again(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "a"})
    async with serving(home) as client:
        target = (await one_turn(client))[1]["id"]
        made = await client.request("set_label", {"entryId": target, "label": "start"})
        entry = (await client.request("get_entry", {"entryId": made["entryId"]}))["entry"]
        assert (entry["type"], entry["targetId"], entry["label"]) == ("label", target, "start")
        labels = [node["label"] for node in (await client.request("get_tree"))["nodes"] if "label" in node]
        await client.request("set_label", {"entryId": target, "label": None})
        left = [node for node in (await client.request("get_tree"))["nodes"] if "label" in node]
        assert (labels, left) == (["start"], [])


async def test_a_message_is_left_out_of_the_context_or_replaced(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "a"})
    async with serving(home) as client:
        _, user, assistant = await one_turn(client)
        await client.request("edit_context", {"targetId": user["id"], "replacement": {"content": "rewritten"}})
        await client.request("edit_context", {"targetId": assistant["id"], "replacement": None})
        messages = (await client.request("get_messages"))["messages"]
        assert [(m["role"], m["content"]) for m in messages[1:]] == [("user", "rewritten")]
        kept = (await client.request("get_entry", {"entryId": user["id"]}))["entry"]
        assert kept["message"]["content"] == "hi", "the entry itself stays as it was"


async def test_what_cannot_be_edited_is_refused_with_the_reason(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "a"}, {"text": "b"})
    async with serving(home) as client:
        system, user, assistant = await one_turn(client)
        await client.request("navigate_tree", {"targetId": user["id"]})
        cases = {"nothere0": -32014, assistant["id"]: -32015, system["id"]: -32016}
        for target, code in cases.items():
            with pytest.raises(RpcError) as refused:
                await client.request("edit_context", {"targetId": target, "replacement": None})
            assert (target, refused.value.code) == (target, code)
        with pytest.raises(RpcError) as malformed:
            await client.request("edit_context", {"targetId": system["id"], "replacement": {"text": "x"}})
        assert malformed.value.code == -32602


async def test_the_last_text_of_the_model(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "the last word"})
    async with serving(home) as client:
        assert (await client.request("get_last_assistant_text"))["text"] is None
        await one_turn(client)
        assert (await client.request("get_last_assistant_text"))["text"] == "the last word"
        with pytest.raises(RpcError) as unknown:
            await client.request("get_entry", {"entryId": "nothere0"})
        assert unknown.value.code == -32014
