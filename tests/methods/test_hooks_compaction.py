"""Hooks around a compaction, over the wire and in Python: vetoes, summaries of their own, and word of the end."""

from pathlib import Path
from typing import Any

import pytest

from rpc_agent.rpc.errors import RpcError
from tests.support.agent_server import Home, names, serving
from tests.support.compactions import chatty, keep_little, talk
from tests.support.hooks import entries, errors, extension, hook, of, roles

pytestmark = pytest.mark.anyio
SUMMARY = {"text": "## Goal\nThe model's notes."}
ENDS = {"session_compact": None, "session_compact_failed": None}


async def test_a_client_vetoes_a_compaction_and_nothing_changes(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home, SUMMARY)
    async with serving(home) as client:
        asked = await hook(client, {"session_before_compact": {"cancel": True}, **ENDS})
        await talk(client)
        before = await entries(client)
        with pytest.raises(RpcError) as refused:
            await client.request("compact", {"customInstructions": "be brief"})
        assert (refused.value.code, await entries(client)) == (-32022, before)
        ended = await client.notification("compaction_end")
        assert (ended["status"], ended["aborted"]) == ("cancelled", True)
        (event,) = of(asked, "session_before_compact")
        assert (event["reason"], event["willRetry"], event["customInstructions"]) == ("manual", False, "be brief")
        assert of(asked, "session_compact_failed") == [
            {"reason": "manual", "aborted": True, "willRetry": False, "fromExtension": False}
        ]


async def test_the_event_says_what_would_be_done(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home, SUMMARY)
    async with serving(home) as client:
        asked = await hook(client, {"session_before_compact": None, **ENDS})
        await talk(client)
        plan = await client.request("preview_compaction")
        result = await client.request("compact")
        (event,) = of(asked, "session_before_compact")
        preparation = event["preparation"]
        assert [message["role"] for message in preparation["messagesToSummarize"]] == ["user", "assistant"] * 2
        assert {name: preparation[name] for name in preparation if name != "messagesToSummarize"} == {
            "turnPrefixMessages": [],
            "previousSummary": None,
            "fileOps": {"read": [], "written": [], "edited": []},
            "tokensBefore": plan["tokensBefore"],
            "firstKeptEntryId": plan["firstKeptEntryId"],
            "isSplitTurn": False,
            "settings": {"enabled": True, "reserveTokens": 16384, "keepRecentTokens": 600},
        }
        recorded = (await client.request("get_entry", {"entryId": result["entryId"]}))["entry"]
        assert [entry["id"] for entry in event["branchEntries"]] == [e["id"] for e in await entries(client)][:-1]
        assert of(asked, "session_compact") == [
            {"compactionEntry": recorded, "fromExtension": False, "reason": "manual", "willRetry": False}
        ]


async def test_a_client_gives_a_summary_and_no_model_is_asked(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home)

    def answer(event: Any) -> Any:
        kept = event["preparation"]["firstKeptEntryId"]
        own = {"summary": "Mine.", "firstKeptEntryId": kept, "tokensBefore": 4321, "details": {"by": "me"}}
        return {"compaction": own}

    async with serving(home) as client:
        asked = await hook(client, {"session_before_compact": answer, **ENDS})
        await talk(client)
        result = await client.request("compact")
        assert (result["summary"], result["tokensBefore"], result["details"]) == ("Mine.", 4321, {"by": "me"})
        assert result["firstKeptEntryId"] == of(asked, "session_before_compact")[0]["preparation"]["firstKeptEntryId"]
        recorded = (await client.request("get_entry", {"entryId": result["entryId"]}))["entry"]
        assert (recorded["fromHook"], recorded["systemMessage"]["role"]) == (True, "system")
        assert await roles(client) == ["system", "compactionSummary", "user", "assistant"]
        assert of(asked, "session_compact")[0]["fromExtension"] is True


async def test_a_summary_that_keeps_nothing_names_its_own_entry(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home)
    own = {"summary": "All of it.", "firstKeptEntryId": None, "tokensBefore": 10}
    async with serving(home) as client:
        await hook(client, {"session_before_compact": {"compaction": own}})
        await talk(client)
        result = await client.request("compact")
        assert result["firstKeptEntryId"] == result["entryId"]
        assert await roles(client) == ["system", "compactionSummary"]


async def test_a_summary_may_carry_the_tail_that_it_keeps(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home, turns=4)
    tail = [{"role": "user", "content": "the one thing to remember", "timestamp": 1}]
    own = {"summary": "All of it.", "firstKeptEntryId": None, "tokensBefore": 10, "retainedTail": tail}
    async with serving(home) as client:
        await hook(client, {"session_before_compact": {"compaction": own}})
        await talk(client)
        path = (await client.request("get_state"))["sessionFile"]
        await client.request("compact")
        messages = (await client.request("get_messages"))["messages"]
        assert [messages[-1]] == tail
    async with serving(home) as client:
        await client.request("open_session", {"path": path})
        assert (await client.request("get_messages"))["messages"] == messages
        assert (await client.request("prompt", {"message": "go on", "wait": True}))["stopReason"] == "stop"


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ({"compaction": {"summary": "x", "firstKeptEntryId": "nowhere", "tokensBefore": 1}}, "is not in the context"),
        ({"compaction": {"summary": " ", "firstKeptEntryId": None, "tokensBefore": 1}}, "needs a summary"),
        ({"compaction": {"summary": "x", "firstKeptEntryId": 5, "tokensBefore": 1}}, "an entry id or null"),
        ({"compaction": {"summary": "x", "firstKeptEntryId": None, "retainedTail": [{"role": "king"}]}}, "'king'"),
        ({"compaction": {"summary": "x", "firstKeptEntryId": None, "details": 7}}, "details is an object"),
        ({"cancle": True}, "unknown: cancle"),
        ([], "the client answered with something that cannot be used"),
        ("yes", "the client answered with something that cannot be used"),
    ],
)
async def test_nonsense_is_reported_and_the_model_writes_the_summary(tmp_path: Path, answer: Any, fault: str) -> None:
    home = Home(tmp_path)
    chatty(home, SUMMARY)
    async with serving(home) as client:
        await hook(client, {"session_before_compact": answer})
        await talk(client)
        assert (await client.request("compact"))["summary"].startswith("## Goal")
        ((extension, name, error),) = errors(client)
        assert (extension, name) == ("client", "session_before_compact")
        assert fault in error


async def test_an_abort_takes_the_question_back_and_nothing_changes(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home, SUMMARY)
    async with serving(home) as client:
        await hook(client, {"session_before_compact": None})
        await talk(client)
        del client.on_request["run_hook"]
        before = await entries(client)
        compacting = await client.ask("compact")
        await client.wait(lambda: bool(client.requests))
        assert await client.request("abort_compaction") == {
            "sessionId": (await client.request("get_state"))["sessionId"],
            "aborted": True,
        }
        with pytest.raises(RpcError) as stopped:
            await client.answer(compacting)
        assert stopped.value.code == -32022
        cancelled = [n.params["id"] for n in client.notifications if n.method == "$/cancelRequest"]
        assert (cancelled, await entries(client)) == ([client.requests[-1].id], before)


async def test_a_client_that_dies_leaves_the_summary_to_the_model(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home, SUMMARY)
    async with serving(home) as client:
        await hook(client, {"session_before_compact": None})
        await talk(client)
        del client.on_request["run_hook"]
        compacting = await client.ask("compact")
        await client.wait(lambda: bool(client.requests))
        client.transport.end()
        assert (await client.answer(compacting))["summary"].startswith("## Goal")


async def test_after_a_vetoed_threshold_the_run_goes_on_uncompacted(tmp_path: Path) -> None:
    home = Home(tmp_path)
    keep_little(home, reserveTokens=8000)
    home.script(*[{"text": f"answer {n} " + "word " * 400} for n in range(3)], contextWindow=10_000)
    async with serving(home) as client:
        asked = await hook(client, {"session_before_compact": {"cancel": True}})
        await talk(client)
        reasons = [event["reason"] for event in of(asked, "session_before_compact")]
        assert set(reasons) == {"threshold"}
        ends = [n.params["status"] for n in client.notifications if n.method == "compaction_end"]
        assert ends == ["cancelled"] * len(reasons)
        assert await roles(client) == ["system", *["user", "assistant"] * 3]
        assert names(client)[-1] == "agent_settled"


async def test_an_extension_in_python_gives_the_summary_and_the_client_may_still_veto(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home)
    code = """
@api.on("session_before_compact")
async def own(event):
    kept = event["preparation"]["firstKeptEntryId"]
    return {"compaction": {"summary": "From Python.", "firstKeptEntryId": kept, "tokensBefore": 1}}
"""
    file = extension(tmp_path, code)
    veto: dict[str, Any] = {"cancel": True}
    async with serving(home, extensions=(file,)) as client:
        await hook(client, {"session_before_compact": lambda event: dict(veto)})
        await talk(client)
        with pytest.raises(RpcError):
            await client.request("compact")
        veto.clear()
        assert (await client.request("compact"))["summary"] == "From Python."
