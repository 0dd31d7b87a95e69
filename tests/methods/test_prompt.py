"""prompt: what it answers, what it makes the client hear, and in which order."""

from pathlib import Path

import pytest

from rpc_agent.rpc.errors import RpcError
from tests.support.agent_server import Home, names, serving

pytestmark = pytest.mark.anyio

PLAIN = [
    "agent_start", "turn_start",
    "message_start", "entry_appended", "message_end",
    "message_start", "entry_appended", "message_end",
    "message_start", "entry_appended", "message_end", "context_usage_changed",
    "turn_end", "agent_end", "agent_settled",
]  # fmt: skip


async def test_a_plain_prompt_is_answered_before_its_first_notification_and_settles_last(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "Hello there."})
    async with serving(home) as client:
        result = await client.request("prompt", {"message": "hi"})
        await client.notification("agent_settled")
        assert result["disposition"] == "started"
        assert names(client) == PLAIN
        positions = [index for index, message in enumerate(client.received) if message.get("id") == 1]
        assert positions == [0], "the answer comes first"
        assert {n.params["runId"] for n in client.notifications} == {result["runId"]}


async def test_sequence_numbers_have_no_gaps(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "Hello there, this takes a few deltas."})
    async with serving(home) as client:
        await client.request("prompt", {"message": "hi", "wait": True})
        seqs = [n.params["seq"] for n in client.notifications]
        assert seqs == list(range(1, len(seqs) + 1))
        assert (await client.request("get_state"))["lastSeq"] == seqs[-1]


async def test_with_wait_the_answer_holds_what_the_model_said(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "Hello.", "usage": {"input": 10, "output": 2}})
    async with serving(home) as client:
        result = await client.request("prompt", {"message": "hi", "wait": True})
        assert result["stopReason"] == "stop"
        assert result["text"] == "Hello."
        assert result["model"] == "scripted/m"
        assert (result["usage"]["input"], result["usage"]["output"]) == (10, 2)
        assert "error" not in result
        assert client.received[-1]["result"] == result, "a waiting prompt is answered after agent_settled"


async def test_a_tool_turn_has_its_events_in_the_order_of_the_protocol(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (home.project / "a.txt").write_text("x")
    home.script({"toolCalls": [{"id": "c1", "name": "ls", "arguments": {}}]}, {"text": "One file."})
    async with serving(home) as client:
        await client.request("prompt", {"message": "files?", "wait": True})
        assert names(client)[8:] == [
            "message_start", "entry_appended", "message_end", "context_usage_changed",
            "tool_execution_start", "tool_execution_end",
            "message_start", "entry_appended", "message_end",
            "turn_end", "turn_start",
            "message_start", "entry_appended", "message_end", "context_usage_changed",
            "turn_end", "agent_end", "agent_settled",
        ]  # fmt: skip
        ended = next(n.params for n in client.notifications if n.method == "tool_execution_end")
        assert ended["result"]["content"] == [{"type": "text", "text": "a.txt\n"}]
        assert ended["isError"] is False


async def test_tools_of_one_answer_give_their_results_in_the_order_of_the_calls(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (home.project / "a.txt").write_text("A")
    home.settings(permissions={"mode": "allow"})
    calls = [
        {"id": "slow", "name": "bash", "arguments": {"command": "until [ -e go ]; do sleep 0.01; done"}},
        {"id": "fast", "name": "read", "arguments": {"path": "a.txt"}},
    ]
    home.script({"toolCalls": calls}, {"text": "done"})
    async with serving(home) as client:
        question = await client.ask("prompt", {"message": "go", "wait": True})
        await client.notification("tool_execution_end", where=lambda end: end["toolCallId"] == "fast")
        (home.project / "go").touch()
        await client.answer(question)
        messages = (await client.request("get_messages"))["messages"]
        results = [m["toolCallId"] for m in messages if m["role"] == "toolResult"]
        assert results == ["slow", "fast"]


async def test_an_unknown_tool_and_bad_arguments_are_error_results_and_the_run_goes_on(tmp_path: Path) -> None:
    home = Home(tmp_path)
    calls = [{"id": "c1", "name": "fly", "arguments": {}}, {"id": "c2", "name": "read", "arguments": {"path": 7}}]
    home.script({"toolCalls": [*calls, {"id": "c3", "name": "read", "arguments": '{"path": '}]}, {"text": "sorry"})
    async with serving(home) as client:
        result = await client.request("prompt", {"message": "go", "wait": True})
        messages = (await client.request("get_messages"))["messages"]
        results = {m["toolCallId"]: m["isError"] for m in messages if m["role"] == "toolResult"}
        assert (results, result["text"]) == ({"c1": True, "c2": True, "c3": True}, "sorry")


async def test_writing_tools_are_refused_without_permission_and_the_refusal_says_how_to_allow_them(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path)
    home.script({"toolCalls": [{"name": "write", "arguments": {"path": "x", "content": "y"}}]}, {"text": "no"})
    async with serving(home) as client:
        await client.request("prompt", {"message": "go", "wait": True})
        result = next(n.params for n in client.notifications if n.method == "tool_execution_end")
        assert result["isError"] is True
        assert "--permissions allow" in result["result"]["content"][0]["text"]
        assert not (home.project / "x").exists()


async def test_a_length_stop_runs_no_tool_because_its_arguments_may_be_cut(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(permissions={"mode": "allow"})
    call = {"name": "write", "arguments": {"path": "x", "content": "y"}}
    home.script({"toolCalls": [call], "stopReason": "length"}, {"text": "again"})
    async with serving(home) as client:
        await client.request("prompt", {"message": "go", "wait": True})
        assert not (home.project / "x").exists()


async def test_a_prompt_while_one_runs_needs_to_say_how_it_is_to_be_delivered(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "thinking", "hang": True})
    async with serving(home) as client:
        await client.request("prompt", {"message": "one"})
        with pytest.raises(RpcError) as refused:
            await client.request("prompt", {"message": "two"})
        assert (refused.value.code, (refused.value.data or {})["reason"]) == (-32011, "sessionBusy")
        queued = await client.request("prompt", {"message": "two", "streamingBehavior": "followUp"})
        assert queued["disposition"] == "queued"
        await client.request("abort")


async def test_follow_ups_that_wait_get_the_answer_to_their_own_message(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "first"}, {"text": "second"}, {"text": "third"})
    async with serving(home) as client:
        asked = [
            await client.ask("prompt", {"message": f"m{n}", "streamingBehavior": "followUp", "wait": True})
            for n in range(3)
        ]
        answers = [await client.answer(question) for question in asked]
        assert [answer["text"] for answer in answers] == ["first", "second", "third"]
        assert names(client).count("agent_settled") == 1


async def test_a_failing_provider_makes_a_result_with_its_error_and_no_rpc_error(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "half", "error": {"kind": "other", "message": "it broke", "status": 400}})
    async with serving(home) as client:
        result = await client.request("prompt", {"message": "hi", "wait": True})
        assert result["stopReason"] == "error"
        assert "it broke" in result["errorMessage"]
        assert result["error"] == {"code": -32033, "reason": "providerFailed"}
        assert result["text"] == "half"


async def test_without_any_model_the_prompt_is_refused_before_anything_happens(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with serving(home, offline=False) as client:
        with pytest.raises(RpcError) as refused:
            await client.request("prompt", {"message": "hi", "wait": True})
        assert (refused.value.code, (refused.value.data or {})["reason"]) == (-32031, "noModel")
        assert "OPENAI_API_KEY" in refused.value.message
        assert client.notifications == []


async def test_a_model_without_a_key_is_refused_naming_the_variable(tmp_path: Path) -> None:
    home = Home(tmp_path)
    entry = {"baseUrl": "http://127.0.0.1:9/v1", "api": "openai-completions", "apiKeyEnv": "MY_TEST_KEY"}
    home.models({"mine": {**entry, "models": [{"id": "m", "contextWindow": 1000, "maxTokens": 100}]}})
    home.settings(defaultModel="mine/m")
    async with serving(home) as client:
        with pytest.raises(RpcError) as refused:
            await client.request("prompt", {"message": "hi"})
        assert (refused.value.code, (refused.value.data or {})["reason"]) == (-32032, "authMissing")
        assert "MY_TEST_KEY" in refused.value.message


async def test_expected_leaf_id_protects_against_a_leaf_that_moved(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "a"}, {"text": "b"})
    async with serving(home) as client:
        await client.request("prompt", {"message": "one", "wait": True, "expectedLeafId": None})
        with pytest.raises(RpcError) as refused:
            await client.request("prompt", {"message": "two", "expectedLeafId": None})
        leaf = (await client.request("get_state"))["leafId"]
        assert (refused.value.code, (refused.value.data or {})["leafId"]) == (-32017, leaf)
        again = await client.request("prompt", {"message": "two", "wait": True, "expectedLeafId": leaf})
        assert again["text"] == "b"


async def test_images_are_stored_behind_the_text(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "nice"}, input=["text", "image"])
    image = {"type": "image", "data": "QQ==", "mimeType": "image/png"}
    async with serving(home) as client:
        await client.request("prompt", {"message": "look", "images": [image], "wait": True})
        user = next(m for m in (await client.request("get_messages"))["messages"] if m["role"] == "user")
        assert user["content"] == [{"type": "text", "text": "look"}, image]


async def test_max_turns_ends_a_run_that_would_go_on(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"toolCalls": [{"name": "ls", "arguments": {}}]}, {"text": "never asked"})
    async with serving(home) as client:
        result = await client.request("prompt", {"message": "go", "wait": True, "maxTurns": 1})
        assert (result["stopReason"], result["text"]) == ("toolUse", "")
        assert "turn limit" in result["errorMessage"]


async def test_timeout_ms_aborts_the_run(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "half", "hang": True})
    async with serving(home) as client:
        result = await client.request("prompt", {"message": "go", "wait": True, "timeoutMs": 1000})
        assert (result["stopReason"], result["text"]) == ("aborted", "half")
        assert "time limit" in result["errorMessage"]


async def test_cancelling_a_waiting_prompt_aborts_its_run_and_answers_with_the_partial_text(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "half", "hang": True})
    async with serving(home) as client:
        question = await client.ask("prompt", {"message": "go", "wait": True})
        await client.notification("message_update", where=lambda p: p["assistantMessageEvent"]["type"] == "text_delta")
        await client.notify("$/cancelRequest", {"id": question[0]})
        result = await client.answer(question)
        assert (result["stopReason"], result["text"]) == ("aborted", "half")


async def test_unknown_params_are_named(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with serving(home) as client:
        with pytest.raises(RpcError) as refused:
            await client.request("prompt", {"message": "hi", "colour": "red"})
        assert refused.value.code == -32602
        assert [error["path"] for error in (refused.value.data or {})["errors"]] == ["colour"]


async def test_meta_is_ignored_and_positional_params_are_accepted(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "a"}, {"text": "b"})
    async with serving(home) as client:
        first = await client.request("prompt", {"message": "hi", "wait": True, "_meta": {"x": 1}})
        second = await client.request("prompt", ["again"])
        await client.notification("agent_settled", after=len(client.notifications) - 1)
        assert (first["text"], second["disposition"]) == ("a", "started")
