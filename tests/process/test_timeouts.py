"""A real server, and services that stall or cannot be reached: a limit of the user's ends the wait, and it is tried again."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_server import Home
from tests.support.chat_server import ServerReply, chunk, serve_in_thread, sse, text_reply
from tests.support.serve_process import ServeProcess, serve_process

HALF = sse(chunk({"content": "half"})).replace(b"data: [DONE]\n\n", b"")


def home_for(tmp_path: Path, base_url: str, **timeouts: int) -> Home:
    home = Home(tmp_path)
    model = {"id": "m", "contextWindow": 20_000, "maxTokens": 4000}
    provider = {"baseUrl": base_url, "api": "openai-completions", "apiKey": "none", "models": [model]}
    home.models({"mine": {**provider, "timeouts": timeouts}})
    home.settings(defaultModel="mine/m", retry={"baseDelayMs": 1, "maxRetries": 1})
    return home


def prompted(server: ServeProcess) -> tuple[Any, list[Any]]:
    """The answer to one prompt, and the retries that were announced before it."""
    *heard, answer = server.heard("prompt", message="hi", wait=True)
    return answer["result"], [each["params"] for each in heard if each.get("method") == "auto_retry_start"]


@pytest.mark.parametrize("stall", [ServerReply(body=HALF, stall=True), ServerReply(delay=3600)], ids=["mid", "start"])
def test_an_answer_that_stalls_is_given_up_after_the_users_limit_and_tried_again(
    tmp_path: Path, stall: ServerReply
) -> None:
    with ExitStack() as stack:
        service = stack.enter_context(serve_in_thread([stall, text_reply("whole")]))
        server = stack.enter_context(serve_process(home_for(tmp_path, service.base_url, idleMs=200)))
        result, retries = prompted(server)
        server.request(2, "get_messages")
        messages = server.answer(2)["messages"]
        assert server.finish() == 0
    assert (result["stopReason"], result["text"]) == ("stop", "whole")
    assert ["0.2 s" in retry["errorMessage"] or "timed out" in retry["errorMessage"] for retry in retries] == [True]
    assert [message["role"] for message in messages if message["role"] != "system"] == ["user", "assistant"]
    assert len(service.requests) == 2


@contextmanager
def unreachable() -> Iterator[str]:
    """The address of a port whose queue of connections is full, so that a new one is neither taken nor refused."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        for _ in range(8):
            waiting = stack.enter_context(socket.socket())
            waiting.settimeout(0.05)
            try:
                waiting.connect(address)
            except TimeoutError:
                break
        else:
            pytest.skip("this system's queue of connections cannot be filled")
        yield f"http://127.0.0.1:{address[1]}/v1"


def test_a_connection_that_never_comes_is_given_up_after_the_users_limit_and_tried_again(tmp_path: Path) -> None:
    with unreachable() as base_url, serve_process(home_for(tmp_path, base_url, connectMs=150)) as server:
        result, retries = prompted(server)
        assert server.finish() == 0
    assert result["stopReason"] == "error"
    assert "the connection timed out" in result["errorMessage"]
    assert ["the connection timed out" in retry["errorMessage"] for retry in retries] == [True]
