"""navigate_tree target by target and moment by moment: where the leaf goes, what comes back, what changes nothing."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rpc_agent.conversation.usage import make_usage
from rpc_agent.rpc.errors import RpcError
from tests.support.agent_server import CheckingClient, Home, serving
from tests.support.hooks import extension
from tests.support.sessions import assistant as bare_assistant
from tests.support.sessions import raw_entry, user, write_session

pytestmark = pytest.mark.anyio

HANG: Mapping[str, Any] = {"text": "half", "hang": True}
FAILS: Mapping[str, Any] = {"error": {"message": "no"}}
NOTES: Mapping[str, Any] = {"text": "## Goal\nThe other way."}
SLOW: Mapping[str, Any] = {**NOTES, "chunk": 4, "paceMs": 1}
STAYS = "stays"
"""In the tables: no entry is written and nobody is told."""


def assistant(text: str) -> dict[str, Any]:
    return {**bare_assistant(text), "usage": make_usage()}


TOOL_CALL = {
    **assistant("looking"),
    "content": [{"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "read.py"}}],
    "stopReason": "toolUse",
}
TOOL_RESULT = {
    "role": "toolResult",
    "toolCallId": "c1",
    "toolName": "read",
    "content": [{"type": "text", "text": "what the file said"}],
    "isError": False,
    "timestamp": 0,
}
CUSTOM: dict[str, Any] = {"type": "custom_message", "customType": "note", "content": "from a program", "display": True}
PICTURE = {"type": "image", "data": "QUJD", "mimeType": "image/png"}
MIXED: list[Any] = [{"type": "text", "text": "look at"}, PICTURE, {"type": "text", "text": "this"}]
TRUNK = (
    raw_entry("root", None, "the beginning"),
    raw_entry("call", "root", type="message", message=TOOL_CALL),
    raw_entry("result", "call", type="message", message=TOOL_RESULT),
    raw_entry("answer", "result", type="message", message=assistant("I looked")),
    raw_entry("custom", "answer", **CUSTOM),
    raw_entry("mixed", "custom", type="message", message={**user(""), "content": MIXED}),
    raw_entry("reply", "mixed", type="message", message=assistant("seen")),
    raw_entry("compact", "reply", type="compaction", summary="## Goal\nx", firstKeptEntryId="mixed", tokensBefore=9),
    raw_entry("asked", "compact", "and now?"),
    raw_entry("said", "asked", type="message", message=assistant("this")),
    raw_entry("named", "said", type="label", targetId="root", label="start"),
    raw_entry("other", "root", type="message", message=assistant("the other branch")),
    raw_entry("aside", "other", "on the other branch"),
    raw_entry("last", "said", "the last word"),
    raw_entry("end", "last", type="message", message=assistant("the end")),
)


async def opened(client: CheckingClient, tmp_path: Path, *more: dict[str, Any]) -> None:
    file = write_session(tmp_path / "tree.jsonl", *TRUNK, *more)
    await client.request("open_session", {"path": str(file)})


async def everything(client: CheckingClient) -> dict[str, Any]:
    """All that a navigation that fails must leave alone."""
    state = await client.request("get_state")
    entries = await client.request("get_entries")
    return {"leaf": state["leafId"], "entries": entries["entries"], "context": await client.request("get_messages")}


async def code_of(client: CheckingClient, question: tuple[int, asyncio.Future[Any]]) -> int | None:
    """The error code of an answer; None for a result."""
    try:
        await client.answer(question)
    except RpcError as error:
        return error.code
    return None


TARGETS = [
    ("asked", "compact", "and now?"),
    ("root", None, "the beginning"),
    ("mixed", "custom", "look at\nthis"),
    ("custom", "answer", "from a program"),
    ("answer", "answer", None),
    ("call", "call", None),
    ("result", "result", None),
    ("compact", "compact", None),
    ("named", "named", None),
    ("aside", "other", "on the other branch"),
    ("other", "other", None),
    (None, None, None),
    ("end", STAYS, None),
    ("nowhere0", -32014, None),
    ("", -32014, None),
]


@pytest.mark.parametrize(("target", "place", "text"), TARGETS)
async def test_a_target_says_where_the_leaf_goes_and_what_is_to_be_rewritten(
    tmp_path: Path, target: str | None, place: Any, text: str | None
) -> None:
    home = Home(tmp_path)
    home.script(NOTES)
    async with serving(home) as client:
        await opened(client, tmp_path)
        before, heard = await everything(client), len(client.notifications)
        asked = await client.ask("navigate_tree", {"targetId": target})
        if isinstance(place, int):
            assert await code_of(client, asked) == place
            assert (await everything(client), len(client.notifications)) == (before, heard)
            return
        moved = await client.answer(asked)
        new = [n.method for n in client.notifications[heard:]]
        assert (moved["cancelled"], moved.get("editorText"), "summaryEntry" in moved) == (False, text, False)
        if place is STAYS:
            assert (await everything(client), new) == (before, [])
            return
        after = await everything(client)
        marker = after["entries"][-1]
        assert after["entries"][:-1] == before["entries"]
        assert (marker["parentId"], marker["id"]) == (place, moved["leafId"])
        assert new == ["entry_appended", "leaf_changed"]
        told: Any = client.notifications[-1].params
        assert (told["previousLeafId"], told["leafId"]) == (before["leaf"], marker["id"])


LEFT = [
    # target, where the summary hangs, words of what it tells, words it does not tell
    ("asked", "compact", ("the last word", "the end", "this"), ("and now?", "seen")),
    ("answer", "answer", ("look at", "seen", "and now?", "the end"), ("I looked",)),
    ("root", None, ("I looked", "the end"), ("the beginning", "the other branch")),
    ("aside", "other", ("I looked", "seen", "the end"), ("the beginning", "the other branch")),
    (None, None, ("the beginning", "I looked", "the end"), ("the other branch",)),
]


@pytest.mark.parametrize(("target", "place", "told", "untold"), LEFT)
async def test_a_summary_tells_what_lies_between_the_leaf_and_the_deepest_common_ancestor(
    tmp_path: Path, target: str | None, place: str | None, told: tuple[str, ...], untold: tuple[str, ...]
) -> None:
    home = Home(tmp_path)
    home.script(summaries=[NOTES])
    async with serving(home, extensions=(_collector(tmp_path),)) as client:
        await opened(client, tmp_path)
        moved = await client.request("navigate_tree", {"targetId": target, "summarize": True, "label": "tried"})
        entry = moved["summaryEntry"]
        assert (entry["type"], entry["parentId"], entry["fromId"]) == ("branch_summary", place, "end")
        *_, stored, labelled = (await client.request("get_entries"))["entries"]
        assert (stored, labelled["targetId"], labelled["label"]) == (entry, entry["id"], "tried")
        record = (tmp_path / "left.txt").read_text(encoding="utf-8")
        assert [words for words in told if words not in record] == []
        assert [words for words in untold if words in record] == []


def _collector(tmp_path: Path) -> str:
    """An extension that writes down which entries a summary would tell."""
    code = f"""
import json

@api.on("session_before_tree")
def collect(event):
    with open({str(tmp_path / "left.txt")!r}, "w", encoding="utf-8") as file:
        json.dump(event["preparation"]["entriesToSummarize"], file)
"""
    return extension(tmp_path, code)


async def test_beginning_anew_twice_moves_once(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script()
    async with serving(home) as client:
        await opened(client, tmp_path)
        moved = await client.request("navigate_tree", {"targetId": None})
        before = await everything(client)
        again = await client.request("navigate_tree", {"targetId": None, "summarize": True})
        assert (again, await everything(client)) == (moved, before)


async def test_with_only_markers_behind_it_nothing_is_summarised(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script(summaries=[FAILS])
    async with serving(home) as client:
        await opened(client, tmp_path)
        await client.request("navigate_tree", {"targetId": "answer"})
        await client.request("set_label", {"entryId": "answer", "label": "here"})
        moved = await client.request("navigate_tree", {"targetId": "end", "summarize": True})
        assert (moved["cancelled"], "summaryEntry" in moved) == (False, False)
        assert "branch_summary_start" not in [n.method for n in client.notifications]


EXPECTED = [
    # Moved here first (absent: nowhere), believed, refused
    ("", "end", False),
    ("", "said", True),
    ("", None, True),
    ("", "nowhere0", True),
    ("answer", "answer", False),
    ("answer", "end", True),
    (None, None, False),
    (None, "answer", True),
    (None, "nowhere0", True),
]


@pytest.mark.parametrize(("first", "believed", "refused"), EXPECTED)
async def test_nothing_happens_when_the_leaf_is_another_than_the_caller_believes(
    tmp_path: Path, first: str | None, believed: str | None, refused: bool
) -> None:
    home = Home(tmp_path)
    home.script()
    async with serving(home) as client:
        await opened(client, tmp_path)
        if first != "":
            await client.request("navigate_tree", {"targetId": first})
        before = await everything(client)
        asked = await client.ask("navigate_tree", {"targetId": "other", "expectedLeafId": believed})
        if refused:
            with pytest.raises(RpcError) as error:
                await client.answer(asked)
            assert (error.value.code, (error.value.data or {})["leafId"]) == (-32017, before["leaf"])
            assert await everything(client) == before
        else:
            assert (await client.answer(asked))["cancelled"] is False


# Races


@pytest.mark.parametrize("summarize", [False, True])
async def test_during_a_run_it_is_refused_and_the_run_goes_on(tmp_path: Path, summarize: bool) -> None:
    home = Home(tmp_path)
    home.script(HANG, summaries=[NOTES])
    async with serving(home) as client:
        await opened(client, tmp_path)
        await client.request("prompt", {"message": "go"})
        refused = await client.ask("navigate_tree", {"targetId": "answer", "summarize": summarize})
        assert await code_of(client, refused) == -32011
        assert (await client.request("get_state"))["isStreaming"] is True
        await client.request("abort")
        moved = await client.request("navigate_tree", {"targetId": "answer"})
        assert moved["cancelled"] is False


async def test_during_a_compaction_it_waits_for_its_end(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(compaction={"keepRecentTokens": 1})
    home.script(summaries=[HANG])
    async with serving(home) as client:
        await opened(client, tmp_path)
        before = await everything(client)
        compacting = await client.ask("compact")
        await client.notification("compaction_start")
        moving = await client.ask("navigate_tree", {"targetId": "answer"})
        await client.request("abort_compaction")
        assert await code_of(client, compacting) == -32022
        moved = await client.answer(moving)
        after = await everything(client)
        assert (moved["leafId"], after["entries"][:-1]) == (after["leaf"], before["entries"])
        assert after["entries"][-1]["parentId"] == "answer"


async def test_two_navigations_happen_one_after_the_other(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script(summaries=[HANG])
    async with serving(home) as client:
        await opened(client, tmp_path)
        first = await client.ask("navigate_tree", {"targetId": "answer", "summarize": True})
        await client.notification("branch_summary_start")
        second = await client.ask("navigate_tree", {"targetId": "other"})
        assert (await client.request("abort_branch_summary"))["aborted"] is True
        assert (await client.answer(first))["aborted"] is True
        moved = await client.answer(second)
        assert (await client.request("get_state"))["leafId"] == moved["leafId"]
        assert (await client.request("get_entry", {"entryId": moved["leafId"]}))["entry"]["parentId"] == "other"


@pytest.mark.parametrize("stop", ["abort_branch_summary", "abort", "$/cancelRequest"])
@pytest.mark.parametrize("turns", [0, 1, 2, 5, 13, 50, 150, 500, 5000])
async def test_stopped_at_any_moment_it_has_moved_whole_or_not_at_all(tmp_path: Path, stop: str, turns: int) -> None:
    home = Home(tmp_path)
    home.script({"text": "yes"}, summaries=[SLOW])
    async with serving(home) as client:
        await opened(client, tmp_path)
        before = await everything(client)
        moving = await client.ask("navigate_tree", {"targetId": "answer", "summarize": True, "label": "tried"})
        for _ in range(turns):
            await asyncio.sleep(0)
        stopped: dict[str, Any] = {}
        if stop == "$/cancelRequest":
            await client.notify(stop, {"id": moving[0]})
        else:
            stopped = await client.request(stop)
        try:
            moved = await client.answer(moving)
        except RpcError as error:
            assert error.code == -32800, "only a call that had not begun is answered so"
            moved = {"cancelled": True}
        if stop == "abort_branch_summary":
            assert stopped["aborted"] is moved["cancelled"]
        after = await everything(client)
        if moved["cancelled"]:
            assert after == before
        else:
            old, (summary, label) = after["entries"][:-2], after["entries"][-2:]
            assert (old, summary, label["label"]) == (before["entries"], moved["summaryEntry"], "tried")
        assert (await client.request("get_state"))["isNavigating"] is False
        assert (await client.request("abort_branch_summary"))["aborted"] is False
        assert (await client.request("prompt", {"message": "on", "wait": True}))["text"] == "yes"
        starts = [n.method for n in client.notifications if n.method.startswith("branch_summary")]
        assert starts in ([], ["branch_summary_start", "branch_summary_end"])


@pytest.mark.parametrize(
    "bad", [FAILS, {"text": " "}, {"text": "cut", "stopReason": "length"}, {"toolCalls": [{"name": "ls"}]}]
)
async def test_an_answer_that_is_no_summary_leaves_everything_as_it_was(tmp_path: Path, bad: Mapping[str, Any]) -> None:
    home = Home(tmp_path)
    home.script({"text": "yes"}, summaries=[bad])
    async with serving(home) as client:
        await opened(client, tmp_path)
        before = await everything(client)
        asked = await client.ask("navigate_tree", {"targetId": "answer", "summarize": True, "label": "tried"})
        assert await code_of(client, asked) == -32025
        assert await everything(client) == before
        end: Any
        (end,) = [n.params for n in client.notifications if n.method == "branch_summary_end"]
        assert (end["aborted"], bool(end["errorMessage"])) == (False, True)


# Compactions


async def test_a_compaction_is_undone_and_redone_by_a_restarted_server(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(compaction={"keepRecentTokens": 1})
    home.script(summaries=[{"text": "## Goal\nShort."}])
    contexts = []
    async with serving(home) as client:
        file = write_session(tmp_path / "tree.jsonl", raw_entry("a", None, "word " * 900), raw_entry("b", "a", "now"))
        await client.request("open_session", {"path": str(file)})
        contexts.append((await client.request("get_messages"))["messages"])
        await client.request("compact")
        contexts.append((await client.request("get_messages"))["messages"])
        undone = await client.request("undo_compaction")
    for target, wanted in ((None, 0), (undone["previousLeafId"], 1), (undone["leafId"], 0)):
        async with serving(home) as client:
            await client.request("open_session", {"path": str(file)})
            if target is not None:
                await client.request("navigate_tree", {"targetId": target})
            assert (await client.request("get_messages"))["messages"] == contexts[wanted]
    assert contexts[0] != contexts[1]
