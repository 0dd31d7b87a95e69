"""A real server whose model's service stalls, drips, resets, lies about what it counted, or sends without end.

Whatever the service does, the prompt has its outcome, memory stays bounded, and the next prompt is served.
"""

import json
import os
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_server import Home
from tests.support.chat_server import ServerReply, chunk, serve_in_thread, sse, text_reply
from tests.support.processes import peak_mebibytes
from tests.support.raw_service import HEAD, Answer, raw_service
from tests.support.serve_process import ServeProcess, serve_process

MEGABYTE = 1 << 20
HUNDRED = 100 if "SOAK" in os.environ else 40
"""Megabytes; in the short form just more than what is heard of one event or one answer."""
LINES = 100 if "SOAK" in os.environ else 5
"""Megabytes of short lines: a hundred are seven million."""
MOST_MEBIBYTES = 450
"""Of a server that keeps 32 MiB of an answer, has it as JSON in a file and on its way out. 100 MB do not fit many times."""


def home_for(tmp_path: Path, base_url: str, **settings: Any) -> Home:
    home = Home(tmp_path)
    model = {"id": "m", "contextWindow": 20_000, "maxTokens": 4000}
    home.models({"mine": {"baseUrl": base_url, "api": "openai-completions", "apiKey": "none", "models": [model]}})
    home.settings(defaultModel="mine/m", **{"retry": {"baseDelayMs": 1, "maxRetries": 1}, **settings})
    return home


def prompted(server: ServeProcess, message: str = "hi") -> Any:
    return server.ask("prompt", message=message, wait=True)


def delta(text: str) -> bytes:
    return b"data: " + json.dumps(chunk({"content": text})).encode() + b"\n\n"


def one_endless_line(connection: socket.socket) -> None:
    connection.sendall(HEAD + b'data: {"choices":[{"delta":{"content":"')
    for _ in range(HUNDRED):
        connection.sendall(b"x" * MEGABYTE)


def one_large_delta(connection: socket.socket) -> None:
    connection.sendall(HEAD + b'data: {"choices":[{"index":0,"delta":{"content":"')
    for _ in range(HUNDRED):
        connection.sendall(b"x" * MEGABYTE)
    connection.sendall(b'"}}]}\n\n' + delta("the end") + b"data: [DONE]\n\n")


def many_deltas(connection: socket.socket) -> None:
    connection.sendall(HEAD)
    piece = delta("word " * 13_000)
    for _ in range(16 * HUNDRED):
        connection.sendall(piece)


def many_small_lines(connection: socket.socket) -> None:
    """Comments: nothing of an answer, and no end of it."""
    connection.sendall(HEAD)
    for _ in range(LINES):
        connection.sendall(b": keep-alive\n\n" * (MEGABYTE // 14))


def one_document(connection: socket.socket) -> None:
    connection.sendall(HEAD + b'{"choices":[{"message":{"content":"')
    for _ in range(HUNDRED):
        connection.sendall(b"x" * MEGABYTE)


def a_refusal(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 500 Sorry\r\nconnection: close\r\n\r\n")
    for _ in range(HUNDRED):
        connection.sendall(b"sorry, " * (MEGABYTE // 7))


def headers(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    for number in range(HUNDRED):
        connection.sendall(b"x-%d: " % number + b"x" * MEGABYTE + b"\r\n")


HUNDRED_MEGABYTES: list[tuple[Answer, str]] = [
    (one_endless_line, "longer than 33554432 bytes"),
    (one_large_delta, "longer than 33554432 bytes"),
    (many_deltas, "the answer is too long"),
    (many_small_lines, "the stream ended before the answer was complete"),
    (one_document, "the answer is too long"),
    (a_refusal, "mine answered 500"),
    (headers, ""),
]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("answer", "said"), HUNDRED_MEGABYTES, ids=[each[0].__name__ for each in HUNDRED_MEGABYTES])
def test_a_hundred_megabytes_are_a_failure_in_bounded_memory(tmp_path: Path, answer: Answer, said: str) -> None:
    with raw_service(answer) as base_url:
        home = home_for(tmp_path, base_url, retry={"enabled": False})
        with serve_process(home) as server:
            server.request(0, "initialize", {"protocolVersion": 1, "capabilities": {"deltas": "none"}})
            server.answer(0)
            result = prompted(server)
            assert (result["stopReason"], said in result["errorMessage"]) == ("error", True), result["errorMessage"][
                :300
            ]
            assert len(result["errorMessage"]) < 5_000
            assert peak_mebibytes(server.process.pid) < MOST_MEBIBYTES
            server.request(2, "get_state")
            assert server.answer(2)["isStreaming"] is False
            assert server.finish() == 0


LIES: list[tuple[str, Any]] = [
    ("nothing", 0),
    ("less than nothing", -5),
    ("a fraction", 7.5),
    ("a text", "12"),
    ("null", None),
    ("a list", [1]),
    ("true", True),
    ("a million millions", 10**12),
    ("more than JSON readers hold", 10**30),
    ("infinite", float("inf")),
]


def test_whatever_a_service_says_it_counted_the_session_goes_on(tmp_path: Path) -> None:
    bodies: list[bytes] = []
    asked: list[bytes] = []

    def answer(connection: socket.socket) -> None:
        asked.append(bodies[-1])
        connection.sendall(HEAD + bodies[-1])

    with raw_service(answer) as base_url, serve_process(home_for(tmp_path, base_url)) as server:
        found = {name: talked(server, bodies, count) for name, count in LIES}
        assert server.finish() == 0
    assert found == {name: [("stop", "So.", True)] * 4 for name, _ in LIES}
    # A summary is asked for once in a while where the count says that the context is full, and never for ever.
    assert len(asked) <= 12 * len(LIES)


def talked(server: ServeProcess, bodies: list[bytes], count: Any) -> list[tuple[str, str, bool]]:
    """Four turns of a new session whose model counts so: how each ended, and whether it is counted in numbers."""
    usage = {"prompt_tokens": count, "completion_tokens": count, "prompt_tokens_details": {"cached_tokens": count}}
    body = sse(chunk({"content": "So."}), chunk({}, "stop"), {"choices": [], "usage": usage})
    bodies.append(body.replace(b"Infinity", b"1e999"))
    server.ask("new_session")
    results = [prompted(server) for _ in range(4)]
    return [(result["stopReason"], result["text"], is_counted(result["usage"])) for result in results]


def is_counted(usage: Any) -> bool:
    return all(0 <= usage[name] < 1 << 53 for name in ("input", "output", "cacheRead", "totalTokens"))


def test_a_drip_goes_on_for_as_long_as_it_drips_and_an_abort_ends_it_at_once(tmp_path: Path) -> None:
    drip = text_reply("word " * 2000, cut=20, pause=0.005)
    with serve_in_thread([drip]) as service, serve_process(home_for(tmp_path, service.base_url)) as server:
        server.request(1, "prompt", {"message": "hi"})
        for _ in range(3):
            server.until(method="message_update")
        started = time.monotonic()
        server.request(2, "abort")
        assert server.until(method="agent_settled")["params"]["stopReason"] == "aborted"
        assert time.monotonic() - started < 2
        assert server.finish() == 0


def stalls(connection: socket.socket) -> None:
    connection.sendall(HEAD + delta("Half of "))
    connection.recv(1)


def stalls_at_once(connection: socket.socket) -> None:
    connection.recv(1)


@pytest.mark.parametrize("answer", [stalls, stalls_at_once])
def test_a_service_that_stalls_holds_nobody_up_and_an_abort_ends_it_at_once(
    tmp_path: Path, answer: Callable[[socket.socket], None]
) -> None:
    with raw_service(answer) as base_url, serve_process(home_for(tmp_path, base_url)) as server:
        server.request(1, "prompt", {"message": "hi"})
        server.until(method="turn_start")
        server.request(2, "new_session", {"model": "offline/offline"})
        other = server.answer(2)["sessionId"]
        server.request(3, "prompt", {"message": "What files are here?", "wait": True, "sessionId": other})
        assert server.answer(3)["stopReason"] == "stop"
        started = time.monotonic()
        assert server.finish() == 0
        assert time.monotonic() - started < 5


@pytest.mark.parametrize("close_unanswered", [False, True], ids=["a reset", "no answer"])
def test_a_service_that_breaks_off_is_asked_again_and_then_reported(tmp_path: Path, close_unanswered: bool) -> None:
    half = text_reply("Half of it")
    broken = ServerReply(body=half.body[:300], reset=True, close_unanswered=close_unanswered)
    replies = [broken, broken, text_reply("All of it.")]
    with serve_in_thread(replies) as service, serve_process(home_for(tmp_path, service.base_url)) as server:
        failed = prompted(server)
        assert (failed["stopReason"], failed["error"]["reason"]) == ("error", "providerFailed")
        assert (prompted(server)["text"], len(service.requests)) == ("All of it.", 3)
        assert server.finish() == 0
