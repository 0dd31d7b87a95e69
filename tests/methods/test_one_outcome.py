"""Races that the sequences of tests/stateful found, each as small as it gets: one answer, one end, nothing lost."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rpc_agent.rpc import envelopes
from rpc_agent.rpc.errors import RpcError
from tests.support.agent_server import CheckingClient, Home, names, serving
from tests.support.compactions import LONG, chatty, talk

pytestmark = pytest.mark.anyio

HANG = {"text": "never done", "hang": True}
SLOW_SUMMARY = {"text": "never finished", "hang": True}
TOOL = {"toolCalls": [{"name": "bash", "arguments": {"command": "while [ ! -e go ]; do sleep 0.01; done"}}]}


async def code_of(client: CheckingClient, question: Any) -> int:
    with pytest.raises(RpcError) as refused:
        await client.answer(question)
    return refused.value.code


def keyless(home: Home) -> None:
    """Add a model whose key nobody has to the scripted one."""
    file = home.config / "models.json"
    providers = json.loads(file.read_text(encoding="utf-8"))["providers"]
    provider = {"baseUrl": "http://127.0.0.1:9/v1", "api": "openai-completions", "apiKeyEnv": "A_KEY_NOBODY_HAS"}
    home.models({**providers, "keyless": {**provider, "models": [{"id": "m", "contextWindow": 100_000}]}})


# The end of the input, and of a session


async def test_a_run_that_nobody_waits_for_settles_before_the_output_ends_too(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script(HANG)
    async with serving(home) as client:
        await client.request("prompt", {"message": "hi"})
    heard = names(client)
    assert (heard.count("agent_start"), heard.count("agent_settled"), heard[-1]) == (1, 1, "agent_settled")


async def test_what_waits_in_line_behind_another_is_still_done_after_the_end_of_input(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home, {"text": "## Goal\nNotes.", "paceMs": 5}, turns=4)
    async with serving(home) as client:
        await talk(client)
        compacting = await client.ask("compact")
        prompt = await client.ask("prompt", {"message": "and then", "wait": True})
        client.transport.end()
        assert (await client.answer(compacting))["summary"].startswith("## Goal")
        assert (await client.answer(prompt))["stopReason"] == "stop"


async def test_requests_in_line_behind_a_close_find_no_session(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script(HANG)
    async with serving(home) as client:
        session = {"sessionId": (await client.request("new_session"))["sessionId"]}
        await client.request("prompt", {"message": "hi", **session})
        await client.notification("message_update")
        asked = [
            await client.ask(method, {**params, **session})
            for method, params in (
                ("close_session", {}),
                ("prompt", {"message": "late"}),
                ("set_session_name", {"name": "late"}),
                ("close_session", {}),
            )
        ]
        assert await client.answer(asked[0])
        assert [await code_of(client, question) for question in asked[1:]] == [-32010] * 3
        assert names(client)[-1] == "agent_settled"


async def test_closing_a_session_answers_everybody_who_waits(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script(HANG)
    async with serving(home) as client:
        session = {"sessionId": (await client.request("new_session"))["sessionId"]}
        running = await client.ask("prompt", {"message": "one", "wait": True, **session})
        await client.notification("message_update")
        queued = await client.ask("prompt", {"message": "two", "wait": True, "streamingBehavior": "steer", **session})
        idle = await client.ask("wait_for_idle", session)
        shell = await client.ask("bash", {"command": "sleep 60", **session})
        await client.request("ping")
        await client.request("close_session", session)
        assert [(await client.answer(each))["stopReason"] for each in (running, queued)] == ["aborted", "aborted"]
        assert (await client.answer(idle))["aborted"] is True
        assert (await client.answer(shell))["cancelled"] is True


async def test_a_close_that_is_cancelled_half_way_closes_the_session_all_the_same(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script(HANG, {"text": "again"})
    async with serving(home) as client:
        state = await client.request("new_session")
        await client.request("prompt", {"message": "hi"})
        await client.notification("message_update")
        closing = await client.ask("close_session", {"sessionId": state["sessionId"]})
        await client.notification("message_end", where=lambda p: p["message"].get("stopReason") == "aborted")
        await client.notify("$/cancelRequest", {"id": closing[0]})
        assert await client.answer(closing) == {"sessionId": state["sessionId"]}
        opened = await client.request("open_session", {"path": state["sessionFile"]})
        assert (opened["sessionId"], opened["readOnly"]) == (state["sessionId"], False)


async def test_a_prompt_that_comes_with_shutdown_is_refused_or_stopped_and_the_server_ends(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script(HANG, HANG)
    async with serving(home) as client:
        await client.request("get_state")
        prompt = await client.ask("prompt", {"message": "hi", "wait": True})
        shutdown = await client.ask("shutdown")
        assert await client.answer(shutdown) is None
        try:
            assert (await client.answer(prompt))["stopReason"] == "aborted"
        except RpcError as error:
            assert error.code == -32051
        assert await code_of(client, await client.ask("new_session")) == -32051


# Messages


async def test_a_message_that_comes_during_a_navigation_is_delivered_after_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home, SLOW_SUMMARY, turns=3)
    async with serving(home) as client:
        await talk(client, 2)
        first = next(n.params["entryId"] for n in client.notifications if n.method == "message_end")
        moving = await client.ask("navigate_tree", {"targetId": first, "summarize": True})
        await client.notification("branch_summary_start")
        queued = await client.ask("prompt", {"message": "meanwhile", "streamingBehavior": "steer", "wait": True})
        await client.notification("queue_update")
        await client.request("abort_branch_summary")
        assert (await client.answer(moving))["aborted"] is True
        assert (await client.answer(queued))["stopReason"] == "stop"


async def test_abort_of_a_compaction_leaves_what_came_meanwhile_in_the_queue(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home, SLOW_SUMMARY, turns=4)
    async with serving(home) as client:
        await talk(client)
        compacting = await client.ask("compact")
        await client.notification("compaction_start")
        queued = await client.ask("prompt", {"message": "meanwhile", "streamingBehavior": "steer", "wait": True})
        await client.notification("queue_update")
        await client.request("abort")
        assert (await client.request("get_state"))["isStreaming"] is False
        assert await code_of(client, compacting) == -32022
        assert (await client.answer(queued))["stopReason"] == "aborted"
        assert (await client.request("get_queue"))["steering"] == [{"text": "meanwhile"}]


async def test_messages_delivered_together_share_the_ending_and_only_the_last_has_the_text(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(permissions={"mode": "allow"}, followUpMode="all")
    home.script(TOOL, {"text": "done"}, {"text": "to both"})
    async with serving(home) as client:
        await client.request("prompt", {"message": "start"})
        await client.notification("tool_execution_start")
        both = [
            await client.ask("prompt", {"message": text, "streamingBehavior": "followUp", "wait": True})
            for text in ("one", "two")
        ]
        await client.notification("queue_update", where=lambda params: params["followUp"] == ["one", "two"])
        (home.project / "go").touch()
        answers = [await client.answer(question) for question in both]
        assert [(answer["stopReason"], answer["text"]) for answer in answers] == [("stop", ""), ("stop", "to both")]


async def test_a_message_that_can_never_fit_tells_who_waits_why(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(tokens={"estimate": "simple"})
    home.script({"text": "hello"}, contextWindow=8_000)
    async with serving(home) as client:
        answer = await client.request("prompt", {"message": "word " * 12_000, "wait": True})
        assert (answer["stopReason"], answer["error"]) == ("error", {"code": -32034, "reason": "contextOverflow"})
        assert (await client.request("prompt", {"message": "short", "wait": True}))["text"] == "hello"


async def test_steering_in_the_last_moment_of_a_run_is_delivered_once(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "first"}, {"text": "second"})
    async with serving(home) as client:
        await client.request("prompt", {"message": "one"})
        await client.notification("agent_end")
        await client.request("steer", {"message": "two"})
        await client.request("wait_for_idle")
        messages = (await client.request("get_messages"))["messages"]
        assert [m["content"] for m in messages if m["role"] == "user"] == ["one", "two"]


async def test_wait_for_idle_waits_for_the_runs_that_follow_each_other(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script(HANG, {"text": "after"}, {"text": "and after"})
    async with serving(home) as client:
        await client.request("prompt", {"message": "one"})
        await client.notification("message_update")
        await client.request("abort")
        await client.request("prompt", {"message": "two"})
        await client.request("follow_up", {"message": "three"})
        idle = await client.request("wait_for_idle")
        assert (idle["text"], idle["stopReason"]) == ("and after", "stop")
        assert (await client.request("get_state"))["pendingMessageCount"] == 0


# Cancellation


async def test_cancelling_a_prompt_that_waits_in_line_leaves_no_trace(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home, SLOW_SUMMARY, turns=4)
    async with serving(home) as client:
        await talk(client)
        compacting = await client.ask("compact")
        prompt = await client.ask("prompt", {"message": "never", "wait": True})
        await client.notify("$/cancelRequest", {"id": prompt[0]})
        assert await code_of(client, prompt) in (-32800, -32011)
        await client.request("abort")
        await code_of(client, compacting)
        messages = (await client.request("get_messages"))["messages"]
        assert [m for m in messages if m["content"] == "never"] == []


async def test_a_compact_that_is_cancelled_while_it_stops_the_run_does_not_begin(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home, SLOW_SUMMARY, turns=3)
    home.script({"text": f"a {LONG}"}, {"text": f"b {LONG}"}, HANG, summaries=[SLOW_SUMMARY])
    async with serving(home) as client:
        await talk(client, 2)
        await client.request("prompt", {"message": "hang"})
        await client.notification("message_update", where=lambda p: "never" in str(p))
        compacting = await client.ask("compact")
        await client.notify("$/cancelRequest", {"id": compacting[0]})
        assert await code_of(client, compacting) in (-32022, -32800)
        await client.request("abort")
        assert "compaction_start" not in names(client)


async def test_two_requests_with_one_id_are_both_answered(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "one"}, {"text": "two"})
    async with serving(home) as client:
        for method, params in (("prompt", {"message": "hi", "wait": True}), ("get_queue", {})):
            await client.send(envelopes.encode_request("same", method, params))
        await client.wait(lambda: len(answers_of(client, "same")) == 2)
        results = [message["result"] for message in answers_of(client, "same")]
        assert sorted("stopReason" in result for result in results) == [False, True]


def answers_of(client: CheckingClient, id: object) -> list[Mapping[str, Any]]:
    return [m for m in client.received if isinstance(m, dict) and m.get("id") == id]


async def test_a_prompt_and_an_abort_in_one_write_come_to_one_aborted_run(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script(HANG, {"text": "next"})
    async with serving(home) as client:
        session = {"sessionId": (await client.request("new_session"))["sessionId"]}
        asked = [envelopes.encode_request(id, m, {**p, **session}) for id, m, p in (
            ("p", "prompt", {"message": "hi"}), ("a", "abort", {}), ("a2", "abort", {}),
        )]  # fmt: skip
        await client.transport.send(asked)
        await client.wait(lambda: all(answers_of(client, id) for id in ("p", "a", "a2")))
        await client.request("abort")
        heard = names(client)
        assert (heard.count("agent_start"), heard.count("agent_settled"), heard[-1]) == (1, 1, "agent_settled")
        assert (await client.request("prompt", {"message": "on", "wait": True}))["text"] == "next"


# Models that change at work


async def test_a_model_without_a_key_chosen_in_a_run_fails_the_next_turn_and_nothing_else(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(permissions={"mode": "allow"})
    home.script(TOOL, {"text": "back"})
    keyless(home)
    async with serving(home) as client:
        run = await client.ask("prompt", {"message": "hi", "wait": True})
        await client.notification("tool_execution_start")
        await client.request("set_model", {"provider": "keyless", "modelId": "m"})
        (home.project / "go").touch()
        answer = await client.answer(run)
        assert (answer["stopReason"], answer["model"]) == ("error", "keyless/m")
        assert "A_KEY_NOBODY_HAS" in answer["errorMessage"]
        heard = names(client)
        assert heard.count("turn_start") == heard.count("turn_end") == 2
        changed = next(n.params for n in client.notifications if n.method == "model_changed")
        assert "runId" not in changed
        await client.request("set_model", {"provider": "scripted", "modelId": "m"})
        assert (await client.request("prompt", {"message": "on", "wait": True}))["text"] == "back"


async def test_the_retries_of_a_summary_say_which_compaction_they_are_for(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(
        tokens={"estimate": "simple"},
        compaction={"keepRecentTokens": 600, "reserveTokens": 1000},
        retry={"baseDelayMs": 1},
    )
    full = {"text": f"a {LONG}", "usage": {"input": 9_500, "output": 100}}
    refused = {"error": {"kind": "rate", "message": "slow down", "status": 429}}
    summaries = [refused, {"text": "## Goal\nNotes."}]
    home.script({"text": f"a {LONG}"}, {"text": f"b {LONG}"}, full, summaries=summaries, contextWindow=10_000)
    async with serving(home) as client:
        await talk(client, 2)
        await client.request("prompt", {"message": "two", "wait": True})
    told = [n.params for n in client.notifications if n.method.startswith(("summarization", "compaction_start"))]
    assert len({params["compactionId"] for params in told}) == 1 and len(told) == 4


async def test_a_summary_model_that_is_not_there_fails_the_compaction_and_not_the_run(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(
        tokens={"estimate": "simple"},
        compaction={"keepRecentTokens": 600, "reserveTokens": 1000, "model": "scripted/gone"},
    )
    full = {"text": f"a {LONG}", "usage": {"input": 9_500, "output": 100}}
    home.script({"text": f"a {LONG}"}, {"text": f"b {LONG}"}, full, {"text": "went on"}, contextWindow=10_000)
    async with serving(home) as client:
        await talk(client, 2)
        answer = await client.request("prompt", {"message": "two", "wait": True})
        assert (answer["stopReason"], "error" in answer) == ("stop", False)
        ended = [n.params for n in client.notifications if n.method == "compaction_end"]
        assert [(end["status"], "scripted/gone" in end["errorMessage"]) for end in ended] == [("failed", True)]
        assert await code_of(client, await client.ask("compact")) == -32030


# Batches


@pytest.mark.parametrize("second", ["abort", "wait_for_idle", "close_session"])
async def test_a_batch_whose_calls_wait_for_each_other_is_answered(tmp_path: Path, second: str) -> None:
    home = Home(tmp_path)
    home.script({"text": "hello"})
    async with serving(home) as client:
        session = {"sessionId": (await client.request("new_session"))["sessionId"]}
        batch = [
            {"jsonrpc": "2.0", "id": "p", "method": "prompt", "params": {"message": "hi", **session}},
            {"jsonrpc": "2.0", "id": "s", "method": second, "params": session},
        ]
        await client.send(json.dumps(batch).encode())
        await client.wait(lambda: any(isinstance(message, list) for message in client.received))
        answers = next(message for message in client.received if isinstance(message, list))
        assert [(answer["id"], "result" in answer) for answer in answers] == [("p", True), ("s", True)]
        await client.wait(lambda: "agent_settled" in names(client))
        assert names(client).count("agent_settled") == 1


async def test_a_session_opened_while_it_is_being_closed_waits_for_its_file(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script(HANG, {"text": "again"})
    async with serving(home) as client:
        state = await client.request("new_session")
        await client.request("prompt", {"message": "hi"})
        await client.notification("message_update")
        closing = await client.ask("close_session", {"sessionId": state["sessionId"]})
        opening = await client.ask("open_session", {"path": state["sessionFile"]})
        await client.answer(closing)
        opened = await client.answer(opening)
        assert (opened["readOnly"], opened["isStreaming"]) == (False, False)
        assert await client.request("set_session_name", {"name": "open"}) == {"sessionId": state["sessionId"]}


async def test_an_undo_is_on_the_disk_before_the_session_is_deleted(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home, {"text": "## Goal\nNotes."})
    async with serving(home) as client:
        await talk(client)
        session = {"sessionId": (await client.request("compact"))["sessionId"]}
        undoing = await client.ask("undo_compaction", session)
        await client.notification("leaf_changed")
        deleting = await client.ask("delete_session", session)
        undone = await client.answer(undoing)
        assert (undone["sessionId"], undone["leafId"] != undone["previousLeafId"]) == (session["sessionId"], True)
        assert await client.answer(deleting) == session
