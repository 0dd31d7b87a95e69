"""navigate_tree: the leaf moves, stays moved after a restart, and a user message comes back to be rewritten."""

import json
from pathlib import Path

import pytest

from rpc_agent.rpc.errors import RpcError
from rpc_agent.rpc.in_memory import InMemoryClient
from tests.support.agent_server import Home, serving
from tests.support.sessions import line, raw_entry, session_bytes

pytestmark = pytest.mark.anyio


async def two_turns(client: InMemoryClient) -> list[dict[str, str]]:
    for text in ("first question", "second question"):
        await client.request("prompt", {"message": text, "wait": True})
    return [e for e in (await client.request("get_entries"))["entries"] if e["type"] == "message"]


def script(home: Home) -> None:
    home.script({"text": "one"}, {"text": "two"}, {"text": "three"}, summaries=[{"text": "## Goal\nThe other way."}])


async def test_to_an_assistant_message_the_leaf_is_a_marker_behind_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    script(home)
    async with serving(home) as client:
        entries = await two_turns(client)
        moved = await client.request("navigate_tree", {"targetId": entries[2]["id"]})
        assert (moved["cancelled"], "editorText" in moved) == (False, False)
        roles = [m["role"] for m in (await client.request("get_messages"))["messages"]]
        assert roles == ["system", "user", "assistant"]
        heard = [n.method for n in client.notifications][-2:]
        assert heard == ["entry_appended", "leaf_changed"]
        assert client.notifications[-1].params["previousLeafId"] == entries[-1]["id"]
        assert client.notifications[-1].params["leafId"] == moved["leafId"]


async def test_to_a_user_message_it_stands_before_it_and_gives_its_text_back(tmp_path: Path) -> None:
    home = Home(tmp_path)
    script(home)
    async with serving(home) as client:
        entries = await two_turns(client)
        moved = await client.request("navigate_tree", {"targetId": entries[3]["id"]})
        assert moved["editorText"] == "second question"
        result = await client.request("prompt", {"message": "another second question", "wait": True})
        assert result["text"] == "three"
        texts = [m["content"] for m in (await client.request("get_messages"))["messages"] if m["role"] == "user"]
        assert texts == ["first question", "another second question"]


@pytest.mark.parametrize("torn", [False, True])
async def test_a_user_message_whose_parent_is_missing_is_gone_back_to_like_any_other(
    tmp_path: Path, torn: bool
) -> None:
    home = Home(tmp_path)
    script(home)
    path = tmp_path / "s.jsonl"
    path.write_bytes(
        session_bytes(raw_entry("a", None, "first"))
        + (b"{torn\n" if torn else b"")
        + line(raw_entry("b", "lost", "second"))
        + line(raw_entry("c", "b", "third"))
    )
    async with serving(home) as client:
        await client.request("open_session", {"path": str(path)})
        moved = await client.request("navigate_tree", {"targetId": "b"})
        assert moved["editorText"] == "second"
        messages = (await client.request("get_messages"))["messages"]
        assert [message["content"] for message in messages] == (["first"] if torn else [])


async def test_to_nothing_the_session_begins_anew_and_to_the_leaf_nothing_happens(tmp_path: Path) -> None:
    home = Home(tmp_path)
    script(home)
    async with serving(home) as client:
        entries = await two_turns(client)
        count = len(client.notifications)
        same = await client.request("navigate_tree", {"targetId": entries[-1]["id"]})
        assert (same["cancelled"], same["leafId"], len(client.notifications)) == (False, entries[-1]["id"], count)
        await client.request("navigate_tree", {"targetId": None})
        assert (await client.request("get_messages"))["messages"] == []


async def test_there_and_back_gives_the_same_context_and_a_restart_finds_the_place(tmp_path: Path) -> None:
    home = Home(tmp_path)
    script(home)
    async with serving(home) as client:
        entries = await two_turns(client)
        there = (await client.request("get_messages"))["messages"]
        await client.request("navigate_tree", {"targetId": entries[2]["id"]})
        moved = (await client.request("get_messages"))["messages"]
        file = (await client.request("get_state"))["sessionFile"]
    async with serving(home) as client:
        await client.request("open_session", {"path": file})
        assert (await client.request("get_messages"))["messages"] == moved
        await client.request("navigate_tree", {"targetId": entries[-1]["id"]})
        assert (await client.request("get_messages"))["messages"] == there


async def test_an_unknown_target_is_refused(tmp_path: Path) -> None:
    home = Home(tmp_path)
    script(home)
    async with serving(home) as client:
        await two_turns(client)
        with pytest.raises(RpcError) as refused:
            await client.request("navigate_tree", {"targetId": "nowhere0"})
        assert refused.value.code == -32014


async def test_during_a_run_it_is_refused(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "one"}, {"text": "half", "hang": True})
    async with serving(home) as client:
        await client.request("prompt", {"message": "a", "wait": True})
        await client.request("prompt", {"message": "b"})
        with pytest.raises(RpcError) as refused:
            await client.request("navigate_tree", {"targetId": None})
        assert refused.value.code == -32011
        await client.request("abort")


async def test_with_a_summary_what_was_left_is_told_at_the_new_place(tmp_path: Path) -> None:
    home = Home(tmp_path)
    script(home)
    async with serving(home) as client:
        entries = await two_turns(client)
        moved = await client.request("navigate_tree", {"targetId": entries[2]["id"], "summarize": True})
        entry = moved["summaryEntry"]
        assert (entry["type"], entry["parentId"], entry["fromId"]) == (
            "branch_summary",
            entries[2]["id"],
            entries[-1]["id"],
        )
        roles = [m["role"] for m in (await client.request("get_messages"))["messages"]]
        assert roles == ["system", "user", "assistant", "branchSummary"]


async def test_a_label_is_put_on_the_target(tmp_path: Path) -> None:
    home = Home(tmp_path)
    script(home)
    async with serving(home) as client:
        entries = await two_turns(client)
        await client.request("navigate_tree", {"targetId": entries[2]["id"], "label": "here"})
        nodes = (await client.request("get_tree"))["nodes"]
        assert {node["entryId"]: node["label"] for node in nodes if "label" in node} == {entries[2]["id"]: "here"}


async def test_a_summary_that_is_stopped_leaves_everything_as_it_was(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script(
        {"text": "one"}, {"text": "two"}, summaries=[{"text": "half", "hang": True}, {"error": {"message": "no"}}]
    )
    async with serving(home) as client:
        entries = await two_turns(client)
        before = await client.request("get_entries")
        moving = await client.ask("navigate_tree", {"targetId": entries[2]["id"], "summarize": True})
        await client.notification("branch_summary_start")
        assert (await client.request("get_state"))["isNavigating"] is True
        assert (await client.request("abort_branch_summary"))["aborted"] is True
        moved = await client.answer(moving)
        assert (moved["cancelled"], moved["aborted"], moved["leafId"]) == (True, True, entries[-1]["id"])
        with pytest.raises(RpcError) as failed:
            await client.request("navigate_tree", {"targetId": entries[2]["id"], "summarize": True})
        assert failed.value.code == -32025
        assert await client.request("get_entries") == before
        ends = [n.params for n in client.notifications if n.method == "branch_summary_end"]
        assert [(end["aborted"], "errorMessage" in end) for end in ends] == [(True, False), (False, True)]
        assert (await client.request("abort_branch_summary"))["aborted"] is False


async def test_the_model_and_the_level_of_the_branch_come_back_with_it_as_after_a_restart(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "one"}, {"text": "two"}, reasoning=True)
    async with serving(home) as client:
        await client.request("set_thinking_level", {"level": "high"})
        entries = await two_turns(client)
        await client.request("set_thinking_level", {"level": "low"})
        await client.request("navigate_tree", {"targetId": entries[2]["id"]})
        state = await client.request("get_state")
        assert state["thinkingLevel"] == "high"
        assert client.notifications[-1].params["level"] == "high"
    async with serving(home) as client:
        opened = await client.request("open_session", {"path": state["sessionFile"]})
        assert (opened["thinkingLevel"], opened["model"]["id"]) == ("high", "m")


async def test_each_branch_brings_its_model_and_says_so(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "one"}, {"text": "two"}, {"text": "three"})
    provider = json.loads((home.config / "models.json").read_text(encoding="utf-8"))["providers"]["scripted"]
    home.models({"scripted": {**provider, "models": [*provider["models"], {**provider["models"][0], "id": "n"}]}})
    async with serving(home) as client:
        entries = await two_turns(client)
        await client.request("set_model", {"provider": "scripted", "modelId": "n"})
        await client.request("prompt", {"message": "third question", "wait": True})
        leaf = (await client.request("get_state"))["leafId"]
        count = len(client.notifications)
        await client.request("navigate_tree", {"targetId": leaf})
        assert len(client.notifications) == count
        await client.request("navigate_tree", {"targetId": entries[2]["id"]})
        there = await client.request("get_state")
        await client.request("navigate_tree", {"targetId": leaf})
        back = await client.request("get_state")
        assert (there["model"]["id"], back["model"]["id"]) == ("m", "n")
        changes = [n for n in client.notifications[count:] if n.method in ("leaf_changed", "model_changed")]
        assert [n.method for n in changes] == ["leaf_changed", "model_changed"] * 2
        assert [n.params["model"]["id"] for n in changes[1::2]] == ["m", "n"]
    async with serving(home) as client:
        assert (await client.request("open_session", {"path": back["sessionFile"]}))["model"]["id"] == "n"


async def test_standing_still_keeps_the_model_that_the_command_line_asked_for(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "one"}, {"text": "two"})
    async with serving(home) as client:
        entries = await two_turns(client)
        file = (await client.request("get_state"))["sessionFile"]
    async with serving(home, model="offline/offline") as client:
        await client.request("open_session", {"path": file})
        await client.request("navigate_tree", {"targetId": entries[-1]["id"]})
        assert (await client.request("get_state"))["model"]["id"] == "offline"
