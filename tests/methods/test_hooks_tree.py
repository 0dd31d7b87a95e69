"""session_before_tree and session_tree: always asked, over the wire and in Python."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_server import CheckingClient, Home, names, serving
from tests.support.hooks import entries, errors, extension, hook, of

pytestmark = pytest.mark.anyio


def script(home: Home, *summaries: str) -> None:
    home.script({"text": "one"}, {"text": "two"}, summaries=[{"text": text} for text in summaries])


async def two_turns(client: CheckingClient) -> list[dict[str, Any]]:
    for text in ("first question", "second question"):
        await client.request("prompt", {"message": text, "wait": True})
    return [entry for entry in await entries(client) if entry["type"] == "message"]


async def test_it_is_asked_without_a_summary_too_and_told_afterwards(tmp_path: Path) -> None:
    home = Home(tmp_path)
    script(home)
    async with serving(home) as client:
        asked = await hook(client, {"session_before_tree": None, "session_tree": None})
        said = await two_turns(client)
        leaf = (await client.request("get_state"))["leafId"]
        moved = await client.request("navigate_tree", {"targetId": said[2]["id"], "label": "here"})
        preparation = of(asked, "session_before_tree")[0]["preparation"]
        left = [entry["id"] for entry in preparation.pop("entriesToSummarize")]
        assert left == [entry["id"] for entry in said[3:]]
        assert preparation == {
            "targetId": said[2]["id"],
            "oldLeafId": leaf,
            "commonAncestorId": said[2]["id"],
            "userWantsSummary": False,
            "customInstructions": None,
            "replaceInstructions": False,
            "label": "here",
        }
        assert of(asked, "session_tree") == [{"newLeafId": moved["leafId"], "oldLeafId": leaf}]


async def test_the_leaf_itself_is_no_navigation_and_nobody_is_asked(tmp_path: Path) -> None:
    home = Home(tmp_path)
    script(home)
    async with serving(home) as client:
        asked = await hook(client, {"session_before_tree": {"cancel": True}})
        said = await two_turns(client)
        assert (await client.request("navigate_tree", {"targetId": said[-1]["id"]}))["cancelled"] is False
        assert asked == []


async def test_a_client_cancels_a_navigation(tmp_path: Path) -> None:
    home = Home(tmp_path)
    script(home)
    async with serving(home) as client:
        await hook(client, {"session_before_tree": {"cancel": True}})
        said = await two_turns(client)
        leaf = (await client.request("get_state"))["leafId"]
        moved = await client.request("navigate_tree", {"targetId": said[2]["id"], "summarize": True})
        assert {**moved, "sessionId": ""} == {"sessionId": "", "cancelled": True, "leafId": leaf}
        assert "branch_summary_start" not in names(client)


async def test_a_client_gives_the_summary_and_a_label(tmp_path: Path) -> None:
    home = Home(tmp_path)
    script(home)
    answer = {"summary": {"summary": "What I know.", "details": {"by": "me"}}, "label": "tried"}
    async with serving(home) as client:
        asked = await hook(client, {"session_before_tree": answer, "session_tree": None})
        said = await two_turns(client)
        moved = await client.request("navigate_tree", {"targetId": said[2]["id"], "summarize": True})
        entry = moved["summaryEntry"]
        assert (entry["summary"], entry["details"], entry["fromHook"]) == ("What I know.", {"by": "me"}, True)
        assert (await entries(client))[-1]["label"] == "tried"
        (told,) = of(asked, "session_tree")
        assert (told["summaryEntry"], told["fromExtension"]) == (entry, True)


async def test_a_summary_that_nobody_wanted_is_not_stored(tmp_path: Path) -> None:
    home = Home(tmp_path)
    script(home)
    async with serving(home) as client:
        await hook(client, {"session_before_tree": {"summary": {"summary": "unasked"}}})
        said = await two_turns(client)
        moved = await client.request("navigate_tree", {"targetId": said[2]["id"]})
        assert "summaryEntry" not in moved


async def test_instructions_of_a_hook_reach_the_model_that_summarises(tmp_path: Path) -> None:
    home = Home(tmp_path)
    script(home, "## Goal\nAs told.")
    trace = tmp_path / "asked.txt"
    code = f"""
@api.on("session_before_tree")
def instruct(event):
    with open({str(trace)!r}, "w") as file:
        file.write(str(event["preparation"]["userWantsSummary"]))
    return {{"customInstructions": "Only names.", "replaceInstructions": True}}
"""

    async with serving(home, extensions=(extension(tmp_path, code),)) as client:
        said = await two_turns(client)
        moved = await client.request("navigate_tree", {"targetId": said[2]["id"], "summarize": True})
        assert (moved["summaryEntry"]["summary"], trace.read_text()) == ("## Goal\nAs told.", "True")


async def test_nonsense_is_reported_and_the_navigation_goes_on(tmp_path: Path) -> None:
    home = Home(tmp_path)
    script(home)
    async with serving(home) as client:
        await hook(client, {"session_before_tree": {"summary": "not an object"}})
        said = await two_turns(client)
        assert (await client.request("navigate_tree", {"targetId": said[2]["id"]}))["cancelled"] is False
        assert [(name, error) for _, name, error in errors(client)] == [
            ("session_before_tree", "its answer cannot be used: summary is an object with a text summary")
        ]


async def test_an_abort_ends_the_wait_for_a_hook(tmp_path: Path) -> None:
    home = Home(tmp_path)
    script(home)
    async with serving(home) as client:
        await hook(client, {"session_before_tree": None})
        said = await two_turns(client)
        del client.on_request["run_hook"]
        leaf = (await client.request("get_state"))["leafId"]
        moving = await client.ask("navigate_tree", {"targetId": said[2]["id"]})
        await client.wait(lambda: bool(client.requests))
        assert (await client.request("get_state"))["isNavigating"] is True
        await client.request("abort")
        moved = await client.answer(moving)
        assert (moved["cancelled"], moved["aborted"], moved["leafId"]) == (True, True, leaf)
