"""get_messages, get_context, get_entries, get_tree: reading what a session holds."""

from pathlib import Path

import pytest

from rpc_agent.rpc.errors import RpcError
from tests.support.agent_server import Home, serving
from tests.support.pages import all_pages

pytestmark = pytest.mark.anyio


async def test_the_context_counts_its_messages_and_names_their_entries(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "hello", "usage": {"input": 1000, "output": 10}}, contextWindow=20_000)
    async with serving(home) as client:
        await client.request("prompt", {"message": "hi", "wait": True})
        context = await client.request("get_context")
        messages = (await client.request("get_messages"))["messages"]
        entries = [e for e in (await client.request("get_entries"))["entries"] if e["type"] == "message"]
        assert [item["message"] for item in context["messages"]] == messages
        assert [item["entryId"] for item in context["messages"]] == [entry["id"] for entry in entries]
        assert all(item["tokens"] > 0 for item in context["messages"])
        assert (context["tokens"], context["contextWindow"], context["percent"]) == (1010, 20_000, 5.0)
        assert 0 < context["thresholdTokens"] < 20_000


async def test_entries_come_in_pages_that_follow_each_other(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "a"}, {"text": "b"})
    async with serving(home) as client:
        await client.request("prompt", {"message": "one", "wait": True})
        await client.request("prompt", {"message": "two", "wait": True})
        everything = (await client.request("get_entries"))["entries"]
        assert await all_pages(client, "get_entries", "entries", cursor="since", limit=2) == everything
        assert len(everything) == 5
        with pytest.raises(RpcError) as unknown:
            await client.request("get_entries", {"since": "nowhere0"})
        assert unknown.value.code == -32014


async def test_the_tree_is_flat_or_nested_and_shows_branches(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "a"}, {"text": "b"})
    async with serving(home) as client:
        await client.request("prompt", {"message": "one", "wait": True})
        system, user, _ = [e["id"] for e in (await client.request("get_entries"))["entries"]]
        await client.request("navigate_tree", {"targetId": user})
        await client.request("prompt", {"message": "other", "wait": True})
        flat = await client.request("get_tree")
        assert flat["nodes"][0]["childCount"] == 2
        assert [node["preview"] for node in flat["nodes"] if node.get("role") == "user"] == ["one", "other"]
        nested = await client.request("get_tree", {"form": "nested"})
        (root,) = nested["tree"]
        assert (root["entry"]["id"], len(root["children"])) == (system, 2)
        shallow = await client.request("get_tree", {"form": "nested", "depth": 1})
        assert [child.get("more") for child in shallow["tree"][0]["children"]] == [True, True]
        assert [child["children"] for child in shallow["tree"][0]["children"]] == [[], []]


async def test_a_deep_session_nests_no_deeper_than_readers_can_follow(tmp_path: Path) -> None:
    home = Home(tmp_path)
    lines = ['{"type":"session","version":3,"id":"deep","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}']
    parent = "null"
    for number in range(3000):
        fields = f'"id":"e{number}","parentId":{parent},"timestamp":"2026-01-01T00:00:00.000Z"'
        lines.append(f'{{"type":"message",{fields},"message":{{"role":"user","content":"x","timestamp":1}}}}')
        parent = f'"e{number}"'
    file = tmp_path / "deep.jsonl"
    file.write_text("\n".join(lines) + "\n")
    async with serving(home) as client:
        await client.request("open_session", {"path": str(file)})
        nested = await client.request("get_tree", {"form": "nested"})
        depth, node = 0, nested["tree"][0]
        while node["children"]:
            depth, node = depth + 1, node["children"][0]
        assert (depth, node["more"]) == (100, True)
        assert len(await all_pages(client, "get_tree", "nodes")) == 3000
