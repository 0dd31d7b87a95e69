"""abort: in every state a run can be in, it ends, keeps what was said, and leaves the session usable."""

from pathlib import Path

import pytest

from tests.support.agent_server import Home, names, serving

pytestmark = pytest.mark.anyio


async def test_abort_when_idle_answers_at_once(tmp_path: Path) -> None:
    async with serving(Home(tmp_path)) as client:
        result = await client.request("abort")
        assert list(result) == ["sessionId"]
        assert client.notifications == []


async def test_abort_in_a_delta_stores_the_partial_answer(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "half an answer", "hang": True}, {"text": "next"})
    async with serving(home) as client:
        await client.request("prompt", {"message": "go"})
        await client.notification("message_update", where=lambda p: p["assistantMessageEvent"]["type"] == "text_delta")
        await client.request("abort")
        assert names(client)[-5:] == ["message_end", "context_usage_changed", "turn_end", "agent_end", "agent_settled"]
        settled = client.notifications[-1].params
        assert (settled["aborted"], settled["stopReason"]) == (True, "aborted")
        entries = (await client.request("get_entries"))["entries"]
        last = entries[-1]["message"]
        assert (last["stopReason"], last["content"][0]["text"]) == ("aborted", "half an answer")
        again = await client.request("prompt", {"message": "again", "wait": True})
        assert again["text"] == "next"


async def test_abort_before_the_first_byte_ends_the_run(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "late", "delayMs": 600_000}, {"text": "next"})
    async with serving(home) as client:
        await client.request("prompt", {"message": "go"})
        await client.notification("message_start", where=lambda p: p["message"]["role"] == "assistant")
        await client.request("abort")
        assert (await client.request("get_state"))["isStreaming"] is False
        assert (await client.request("prompt", {"message": "again", "wait": True}))["text"] == "next"


async def test_abort_in_a_tool_adds_no_empty_turn_and_gives_the_call_its_result(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(permissions={"mode": "allow"})
    home.script({"toolCalls": [{"id": "c1", "name": "bash", "arguments": {"command": "sleep 300"}}]}, {"text": "next"})
    async with serving(home) as client:
        await client.request("prompt", {"message": "go"})
        await client.notification("tool_execution_start")
        await client.request("abort")
        assert names(client)[-7:] == [
            "tool_execution_end", "message_start", "entry_appended", "message_end",
            "turn_end", "agent_end", "agent_settled",
        ]  # fmt: skip
        last = (await client.request("get_entries"))["entries"][-1]["message"]
        assert (last["role"], last["toolCallId"], last["isError"]) == ("toolResult", "c1", True)
        assert (await client.request("prompt", {"message": "again", "wait": True}))["text"] == "next"


async def test_two_aborts_at_once_are_both_answered_and_settle_the_run_once(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "half", "hang": True})
    async with serving(home) as client:
        await client.request("prompt", {"message": "go"})
        questions = [await client.ask("abort"), await client.ask("abort")]
        for question in questions:
            await client.answer(question)
        assert names(client).count("agent_settled") == 1


async def test_abort_keeps_queued_messages_and_does_not_run_them(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "half", "hang": True}, {"text": "to the new one"}, {"text": "to the queued one"})
    async with serving(home) as client:
        await client.request("prompt", {"message": "go"})
        queued = await client.ask("prompt", {"message": "later", "streamingBehavior": "followUp", "wait": True})
        await client.notification("queue_update")
        await client.request("abort")
        answer = await client.answer(queued)
        assert (answer["disposition"], answer["text"], answer["stopReason"]) == ("queued", "", "aborted")
        assert (await client.request("get_state"))["pendingMessageCount"] == 1
        await client.request("prompt", {"message": "new", "wait": True})
        texts = [
            block["text"]
            for entry in (await client.request("get_entries"))["entries"]
            if entry.get("message", {}).get("role") == "assistant"
            for block in entry["message"]["content"]
        ]
        assert texts == ["half", "to the new one", "to the queued one"]
