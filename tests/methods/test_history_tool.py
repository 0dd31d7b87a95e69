"""The tool history, as the model has it: from the first compaction on, and only of what it was meant to see."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_server import CheckingClient, Home, serving
from tests.support.compactions import LONG, SUMMARY, keep_little

pytestmark = pytest.mark.anyio


def looks(**arguments: Any) -> dict[str, Any]:
    return {"toolCalls": [{"name": "history", "arguments": arguments}]}


def prepared(home: Home, *calls: dict[str, Any], **options: Any) -> None:
    keep_little(home)
    before = [{"text": f"answer {n} {LONG}"} for n in range(3)]
    after = [reply for call in calls for reply in (call, {"text": "seen"})]
    home.script(*before, *after, summaries=[SUMMARY], **options)


async def talk(client: CheckingClient, *, calls: int, says: Sequence[str] = ()) -> list[str]:
    """Three long turns, a compaction, and then a prompt for each call; the results of the calls."""
    for number in range(3):
        await client.request("prompt", {"message": f"question {number} {LONG} port 4{number}17 ß", "wait": True})
    await client.request("compact")
    for _ in range(calls):
        await client.request("prompt", {"message": "look it up", "wait": True})
    messages = (await client.request("get_messages"))["messages"]
    return [each["content"][0]["text"] for each in messages if each["role"] == "toolResult"]


async def test_words_an_expression_and_an_id_find_what_the_summary_left_out(tmp_path: Path) -> None:
    home = Home(tmp_path)
    prepared(home, looks(query="PORT 4017"), looks(query=r"port\s4\d17", limit=2), looks(query="ß question"))
    async with serving(home) as client:
        words, expression, umlaut = await talk(client, calls=3)
        entries = (await client.request("get_entries"))["entries"]
        users = [e["id"] for e in entries if e["type"] == "message" and e["message"]["role"] == "user"]
        assert words.startswith(f"#{users[0]} user, ") and "port 4017" in words and len(words.splitlines()) == 3
        assert [line.split()[0] for line in expression.splitlines()[:2]] == [f"#{users[2]}", f"#{users[1]}"]
        assert "The first 2" in expression
        assert [line.split()[0] for line in umlaut.splitlines()[:3]] == [f"#{each}" for each in users[2::-1]]


async def test_an_entry_is_read_whole_by_the_id_that_the_ledger_names(tmp_path: Path) -> None:
    home = Home(tmp_path)
    prepared(home)
    async with serving(home) as client:
        await talk(client, calls=0)
        entries = (await client.request("get_entries"))["entries"]
        first = next(e["id"] for e in entries if e["type"] == "message" and e["message"]["role"] == "user")
        home.script(looks(entryId=f"#{first}"), {"text": "seen"}, looks(entryId="none"), {"text": "seen"})
        session = (await client.request("get_state"))["sessionFile"]
    async with serving(home) as client:
        await client.request("open_session", {"path": session})
        for _ in range(2):
            await client.request("prompt", {"message": "read it", "wait": True})
        messages = (await client.request("get_messages"))["messages"]
        whole, missing = [each for each in messages if each["role"] == "toolResult"]
        assert f"question 0 {LONG} port 4017 ß" in whole["content"][0]["text"]
        assert missing["isError"] and "no entry 'none'" in missing["content"][0]["text"]


async def test_it_is_offered_from_the_first_compaction_on_and_goes_with_its_undoing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    prepared(home, looks(query="port"))
    async with serving(home) as client:
        await talk(client, calls=1)
        entries = (await client.request("get_entries"))["entries"]
        systems = [e["message"] for e in entries if e["type"] == "message" and e["message"]["role"] == "system"]
        first, patch = systems
        assert "history" not in {tool["name"] for tool in first["toolsAdded"]}
        assert [tool["name"] for tool in patch["toolsAdded"]] == ["history"]
        assert "- history: " in patch["sections"]["tools"]
        context = (await client.request("get_messages"))["messages"]
        assert context[1]["role"] == "compactionSummary"


async def test_before_any_compaction_there_is_no_such_tool(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script(looks(query="x"), {"text": "ok"})
    async with serving(home) as client:
        await client.request("prompt", {"message": "hi", "wait": True})
        messages = (await client.request("get_messages"))["messages"]
        (result,) = [each for each in messages if each["role"] == "toolResult"]
        assert result["isError"]


async def test_what_was_kept_or_taken_from_the_model_is_not_found(tmp_path: Path) -> None:
    home = Home(tmp_path)
    prepared(home, looks(query="secretword"), looks(query="question"))
    async with serving(home) as client:
        await client.request("bash", {"command": "echo secretword", "excludeFromContext": True})
        for number in range(3):
            await client.request("prompt", {"message": f"question {number} {LONG}", "wait": True})
        entries = (await client.request("get_entries"))["entries"]
        users = [e["id"] for e in entries if e["type"] == "message" and e["message"]["role"] == "user"]
        await client.request("edit_context", {"targetId": users[0], "replacement": None})
        await client.request("edit_context", {"targetId": users[1], "replacement": {"content": "question redacted"}})
        await client.request("compact")
        for _ in range(2):
            await client.request("prompt", {"message": "look", "wait": True})
        messages = (await client.request("get_messages"))["messages"]
        hidden, shown = [each["content"][0]["text"] for each in messages if each["role"] == "toolResult"]
        assert hidden.startswith("(nothing in this session fits")
        assert users[0] not in shown and "question redacted" in shown


async def test_a_session_that_is_nowhere_on_disk_can_be_searched_too(tmp_path: Path) -> None:
    home = Home(tmp_path)
    prepared(home, looks(query="4117"))
    async with serving(home, ephemeral=True) as client:
        (found,) = await talk(client, calls=1)
        assert "port 4117" in found
