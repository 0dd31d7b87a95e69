"""Each way out of an overflow, through a real service on loopback, with the exact order of notifications."""

import json
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_server import Home
from tests.support.chat_server import ChatServer, ServerReply, call_reply, error_reply, serve_in_thread, text_reply
from tests.support.compactions import LONG
from tests.support.serve_process import ServeProcess, serve_process

WINDOW = 20_000
STATED = {
    "error": {"message": "This model's maximum context length is 16000 tokens, however you requested 17011 tokens."}
}
TALK = [text_reply(f"a {LONG}"), text_reply(f"b {LONG}")]
NOTES = text_reply("## Goal\nShort notes.")

BEFORE = [
    "agent_start", "turn_start", "message_start", "entry_appended", "message_end",
    "message_start", "entry_appended", "message_end", "context_usage_changed", "turn_end", "agent_end",
]  # fmt: skip
COMPACTED = ["compaction_start", "entry_appended", "compaction_end", "context_usage_changed"]
SUMMARY_RETRY = [
    "summarization_retry_scheduled", "summarization_retry_attempt_start", "summarization_retry_finished",
]  # fmt: skip
ANSWERED = [
    "agent_start", "turn_start", "message_start", "entry_appended", "message_end",
    "message_start", "entry_appended", "message_end", "context_usage_changed", "turn_end", "agent_end", "agent_settled",
]  # fmt: skip
"""The first message is the system message that offers `history` from the first compaction on."""

FIRST = [*BEFORE[:2], *BEFORE[2:5], *BEFORE[2:]]
"""The very first message of a session comes behind the system message."""
HEAVY_LEFT_OUT = ["entry_appended", "entry_appended"]
"""The refused answer and the pictures, each left out by an edit."""
AGAIN = [
    "agent_start", "turn_start", "message_start", "entry_appended", "message_end", "context_usage_changed",
    "turn_end", "agent_end", "agent_settled",
]  # fmt: skip

RETRIED_IN_VAIN = [*AGAIN[:-1], "auto_retry_end", "agent_settled"]
TOOL_TURN = [
    *BEFORE[:9], "tool_execution_start", "tool_execution_end", "message_start", "entry_appended", "message_end",
    "turn_end",
]  # fmt: skip


def home_for(tmp_path: Path, service: ChatServer) -> Home:
    home = Home(tmp_path)
    model = {"id": "m", "contextWindow": WINDOW, "maxTokens": 4000}
    provider = {"baseUrl": service.base_url, "api": "openai-completions", "apiKey": "none", "models": [model]}
    home.models({"mine": provider})
    home.settings(
        defaultModel="mine/m",
        tokens={"estimate": "simple"},
        compaction={"keepRecentTokens": 600, "reserveTokens": 1000},
        retry={"baseDelayMs": 1, "maxRetries": 1},
    )
    return home


def third_question(server: ServeProcess) -> tuple[Any, list[Any]]:
    """Two turns of talk, then the question that overflows: its result, and what was heard on the way."""
    for _ in range(2):
        server.ask("prompt", message=f"q {LONG}", wait=True)
    *heard, answer = server.heard("prompt", message="three", wait=True)
    return answer["result"], heard


def methods(heard: Sequence[Any]) -> list[str]:
    quiet = ("message_update", "compaction_progress", "context_warning")
    return [message["method"] for message in heard if message["method"] not in quiet]


OVERFLOWS = {
    "a refusal with the numbers": error_reply(400, STATED),
    "the same wrapped as a fault of the service": error_reply(503, {"error": {"message": json.dumps(STATED)}}),
    "a code without words": error_reply(400, {"error": {"code": "context_length_exceeded", "message": ""}}),
}


@pytest.mark.parametrize("name", OVERFLOWS)
def test_a_refusal_is_compacted_away_and_the_question_asked_once_more(tmp_path: Path, name: str) -> None:
    with (
        serve_in_thread([*TALK, OVERFLOWS[name], NOTES, text_reply("it fits")]) as service,
        serve_process(home_for(tmp_path, service)) as server,
    ):
        result, heard = third_question(server)
        assert (result["text"], result["stopReason"]) == ("it fits", "stop")
        assert methods(heard) == [*BEFORE, "entry_appended", *COMPACTED, *ANSWERED]
        assert server.finish() == 0
    assert service.faults == []
    assert "tools" not in service.requests[3], "the summary is asked for without tools"
    contents = [str(message["content"]) for message in service.requests[4]["messages"]]
    assert "Short notes." in contents[1], "the summary stands where the old turns were"
    assert contents[-1] == "three"


def test_a_context_that_overflows_again_ends_in_the_error_told_once(tmp_path: Path) -> None:
    refusal = error_reply(400, STATED)
    with (
        serve_in_thread([*TALK, refusal, NOTES, refusal, text_reply("later")]) as service,
        serve_process(home_for(tmp_path, service)) as server,
    ):
        result, heard = third_question(server)
        assert (result["stopReason"], result["error"]["reason"]) == ("error", "contextOverflow")
        again = [*ANSWERED[:-1], "compaction_end", "agent_settled"]
        assert methods(heard) == [*BEFORE, "entry_appended", *COMPACTED, *again]
        server.request(10, "prompt", {"message": "four", "wait": True})
        assert server.answer(10)["text"] == "later"


def test_a_window_that_ends_the_answer_is_an_overflow(tmp_path: Path) -> None:
    ended = text_reply("half", finish="model_context_window_exceeded")
    with (
        serve_in_thread([*TALK, ended, NOTES, text_reply("it fits")]) as service,
        serve_process(home_for(tmp_path, service)) as server,
    ):
        result, heard = third_question(server)
        assert result["text"] == "it fits"
        assert methods(heard) == [*BEFORE, "entry_appended", *COMPACTED, *ANSWERED]


def test_an_answer_to_more_than_the_window_stays_and_the_context_is_compacted(tmp_path: Path) -> None:
    silent = text_reply("a good answer", prompt_tokens=WINDOW + 1000)
    with serve_in_thread([*TALK, silent, NOTES]) as service, serve_process(home_for(tmp_path, service)) as server:
        result, heard = third_question(server)
        assert result["text"] == "a good answer"
        assert methods(heard) == [*BEFORE, *COMPACTED, "agent_settled"]


def test_an_answer_cut_before_its_limit_is_asked_for_in_a_smaller_context(tmp_path: Path) -> None:
    cut = text_reply("half", finish="length")
    with (
        serve_in_thread([*TALK, cut, NOTES, text_reply("whole")]) as service,
        serve_process(home_for(tmp_path, service)) as server,
    ):
        result, heard = third_question(server)
        assert result["text"] == "whole"
        assert methods(heard) == [*BEFORE, "entry_appended", *COMPACTED, *ANSWERED]


@pytest.mark.parametrize(
    "failing",
    [
        [error_reply(500, {"error": {"message": "no"}})] * 4,
        # A connection that was kept may be closed by then for its age alone, so its end is no answer yet: one more.
        [ServerReply(close_unanswered=True)] * 5,
    ],
    ids=["refused", "closed"],
)
def test_when_the_summary_cannot_be_had_the_session_stays_usable(
    tmp_path: Path, failing: Sequence[ServerReply]
) -> None:
    with (
        serve_in_thread([*TALK, error_reply(400, STATED), *failing, text_reply("later")]) as service,
        serve_process(home_for(tmp_path, service)) as server,
    ):
        result, heard = third_question(server)
        # The summary is tried twice, then the words themselves stand in for it; the question is asked once more, and
        # its failure, which is no overflow, is retried once.
        recovery = [*BEFORE, "entry_appended", COMPACTED[0], *SUMMARY_RETRY, *COMPACTED[1:]]
        assert methods(heard) == [*recovery, *ANSWERED[:-1], "auto_retry_start", "entry_appended", *RETRIED_IN_VAIN]
        assert result["stopReason"] == "error"
        assert server.ask("prompt", message="four", wait=True)["stopReason"] == "stop"
        state = server.ask("get_state")
        assert (state["isStreaming"], state["isCompacting"]) == (False, False)


@pytest.mark.parametrize(
    "reply",
    [
        error_reply(429, {"error": {"message": "Rate limit reached: 40000 input tokens per minute"}}),
        error_reply(402, {"error": {"message": "insufficient credits"}}),
        error_reply(401, {"error": {"message": "invalid api key"}}),
    ],
)
def test_what_is_no_overflow_is_not_compacted(tmp_path: Path, reply: ServerReply) -> None:
    with serve_in_thread([*TALK, reply, reply]) as service, serve_process(home_for(tmp_path, service)) as server:
        result, heard = third_question(server)
        assert result["stopReason"] == "error"
        assert "compaction_start" not in methods(heard)


def test_a_request_too_large_in_bytes_loses_its_pictures_and_is_sent_once_more(tmp_path: Path) -> None:
    too_large = error_reply(413, {"error": {"message": "request entity too large"}})
    image = {"type": "image", "data": "QUJD" * 1000, "mimeType": "image/png"}
    with serve_in_thread([too_large, text_reply("seen"), too_large]) as service:
        home = home_for(tmp_path, service)
        models = json.loads((home.config / "models.json").read_text())
        models["providers"]["mine"]["models"][0]["input"] = ["text", "image"]
        home.models(models["providers"])
        with serve_process(home) as server:
            server.request(1, "prompt", {"message": "look", "images": [image], "wait": True})
            heard = []
            while (message := server.receive()).get("id") != 1:
                heard.append(message)
            assert (message["result"]["text"], methods(heard)) == ("seen", [*FIRST, *HEAVY_LEFT_OUT, *AGAIN])
            server.request(2, "prompt", {"message": "again", "wait": True})
            assert server.answer(2)["stopReason"] == "error", "nothing heavy is left, so it is not sent again"
        assert "QUJD" in str(service.requests[0]["messages"])
        assert "QUJD" not in str(service.requests[1]["messages"])
        assert len(service.requests) == 3


def test_an_overflow_between_two_turns_keeps_the_call_with_its_result(tmp_path: Path) -> None:
    called = call_reply(("ls", {}))
    with (
        serve_in_thread([*TALK, called, error_reply(400, STATED), NOTES, text_reply("it fits")]) as service,
        serve_process(home_for(tmp_path, service)) as server,
    ):
        result, heard = third_question(server)
        assert result["text"] == "it fits"
        assert methods(heard) == [*TOOL_TURN, *AGAIN[1:-1], "entry_appended", *COMPACTED, *ANSWERED]
    assert service.faults == []


def test_a_message_queued_before_an_overflow_is_delivered_once_behind_it(tmp_path: Path) -> None:
    is_queued = threading.Event()
    refusal = replace(error_reply(400, STATED), until=is_queued)
    with (
        serve_in_thread([*TALK, refusal, NOTES, text_reply("it fits"), text_reply("and four")]) as service,
        serve_process(home_for(tmp_path, service)) as server,
    ):
        for _ in range(2):
            server.ask("prompt", message=f"q {LONG}", wait=True)
        server.request(9, "prompt", {"message": "three", "wait": True})
        heard = [server.until(method="agent_start")]
        heard += server.heard("follow_up", message="four")
        is_queued.set()
        while (message := server.receive()).get("method") != "agent_settled":
            heard.append(message)
        told = [message for message in heard if "method" in message]
        order = methods(told)
        assert order.count("queue_update") == 2, "it was queued, and it was taken"
        # Where among the first events it was queued is up to the client.
        order = [name for name in order if name != "queue_update"]
        assert order == [*BEFORE, "entry_appended", *COMPACTED, *ANSWERED[:-2], *BEFORE[1:]]
        (answer,) = [message for message in [*heard, server.receive()] if message.get("id") == 9]
        assert answer["result"]["text"] == "it fits"
    last = [str(message["content"]) for message in service.requests[-1]["messages"]]
    assert last[-1] == "four" and "three" in last
