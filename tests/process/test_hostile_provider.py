"""A service that wants to do harm: bombs, heads that quote the key, redirects, and calls of tools nobody should make."""

import json
import os
import socket
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_server import Home
from tests.support.chat_server import chunk, serve_in_thread, sse, text_reply, usage_chunk
from tests.support.processes import peak_mebibytes
from tests.support.raw_service import HEAD, Answer, raw_service
from tests.support.serve_process import ServeProcess, serve_process

KEY = "sk-of-the-user-0123456789"
MEGABYTE = 1 << 20
MOST_MEBIBYTES = 250
GOOD = HEAD + sse(chunk({"content": "fine"}), chunk({}, "stop"), usage_chunk())


def home_for(tmp_path: Path, base_url: str) -> Home:
    home = Home(tmp_path)
    provider = {"baseUrl": base_url, "api": "openai-completions", "apiKey": KEY, "models": [{"id": "m"}]}
    home.models({"mine": provider})
    home.settings(defaultModel="mine/m", retry={"enabled": False}, permissions={"mode": "allow"})
    return home


def prompted(server: ServeProcess) -> tuple[Any, list[Any]]:
    """The outcome of a prompt in a session of its own, and all that was said on the way."""
    server.ask("new_session")
    said = server.heard("prompt", message="go", wait=True)
    return said[-1]["result"], said


def packed(piece: bytes, count: int, head: bytes = HEAD) -> Answer:
    def answer(connection: socket.socket) -> None:
        press = zlib.compressobj(9, zlib.DEFLATED, 31)
        connection.sendall(head.replace(b"\r\n\r\n", b"\r\ncontent-encoding: gzip\r\n\r\n"))
        for _ in range(count):
            connection.sendall(press.compress(piece))
        connection.sendall(press.flush())

    return answer


def raw(data: bytes) -> Answer:
    return lambda connection: connection.sendall(data)


def endless(beginning: bytes, piece: bytes) -> Answer:
    def answer(connection: socket.socket) -> None:
        connection.sendall(beginning)
        for _ in range(100 * MEGABYTE // len(piece)):
            connection.sendall(piece)

    return answer


ECHO = b"Bearer " + KEY.encode()
FAILING: dict[str, tuple[Answer, str]] = {
    "a bomb of one line": (packed(b"0" * MEGABYTE, 50), "longer than"),
    "a bomb as a refusal": (packed(b"0" * MEGABYTE, 50, HEAD.replace(b"200 OK", b"500 X")), "answered 500"),
    "a stream that is not packed as it says": (raw(GOOD.replace(b"\r\n\r\n", b"\r\ncontent-encoding: gzip\r\n\r\n", 1)), "decompressing"),
    "a status without an end": (endless(b"HTTP/1.1 200 ", b"a" * 65_536), "closed"),
    "headers without an end": (endless(b"HTTP/1.1 200 OK\r\n", b"x: y\r\n" * 10_000), "closed"),
    "a size of a piece without an end": (endless(HEAD.replace(b"\r\n\r\n", b"\r\ntransfer-encoding: chunked\r\n\r\n"), b"f" * 65_536), "closed"),
    "a key for a status": (raw(ECHO + b"\r\n\r\n"), "[key]"),
    "a key for a header": (raw(b"HTTP/1.1 200 OK\r\nAuthorization " + ECHO + b"\r\n\r\n"), "[key]"),
    "a key for a size": (raw(HEAD.replace(b"\r\n\r\n", b"\r\ntransfer-encoding: chunked\r\n\r\n") + ECHO + b"\r\n"), "[key]"),
    "a key for a reason": (raw(b"HTTP/1.1 500 " + ECHO + b"\r\ncontent-length: 0\r\n\r\n"), "answered 500"),
    "an event deeper than any reader": (raw(HEAD + b"data: " + b"[" * 100_000 + b"]" * 100_000 + b"\n\n"), "not JSON"),
    "noise": (raw(bytes(range(256)) * 100), "closed"),
}  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_failure_of_any_kind_tells_no_key_and_takes_little(tmp_path: Path) -> None:
    answers: list[Answer] = []
    with raw_service(lambda connection: answers[-1](connection)) as base_url:
        home = home_for(tmp_path, base_url)
        with serve_process(home, "--log-level", "debug") as server:
            server.request(0, "initialize", {"protocolVersion": 1, "capabilities": {"deltas": "none"}})
            server.answer(0)
            told = {}
            everything: list[Any] = []
            for name, (answer, _) in FAILING.items():
                answers.append(answer)
                result, said = prompted(server)
                told[name] = (result["stopReason"], result.get("errorMessage", ""))
                everything += said
            peak = peak_mebibytes(server.process.pid)
            assert server.finish() == 0
    assert {name: (reason, FAILING[name][1] in text) for name, (reason, text) in told.items()} == dict.fromkeys(
        told, ("error", True)
    ), told
    assert max(len(text) for _, text in told.values()) < 5000
    stored = "".join(file.read_text(encoding="utf-8") for file in home.sessions.rglob("*.jsonl"))
    assert [
        place
        for place, text in (("said", json.dumps(everything)), ("log", server.stderr), ("file", stored))
        if KEY in text
    ] == []
    assert peak < MOST_MEBIBYTES, "an event may have 32 MiB"


def called(name: Any, arguments: Any, id: str = "c1", index: Any = 0) -> dict[str, Any]:
    return {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*found: dict[str, Any]) -> bytes:
    return HEAD + sse(*[chunk({"tool_calls": [call]}) for call in found], chunk({}, "tool_calls"), usage_chunk())


RUN = '{"command": "touch ran"}'
CALLS: dict[str, bytes] = {
    "a name with controls": calls(called("ba\x1b]0;x\x07sh\n", RUN)),
    "a name in another case": calls(called("BASH", RUN)),
    "a name with spaces": calls(called(" bash ", RUN)),
    "a name of a folder": calls(called("../bash", RUN)),
    "a giant name": calls(called("bash" * 20_000, RUN)),
    "no name": calls(called("", RUN)),
    "a tool that is not offered now": calls(called("history", '{"query": "x"}')),
    "a tool that was taken away": calls(called("write", '{"path": "ran", "content": ""}')),
    "a list of arguments": calls(called("bash", '["touch ran"]')),
    "a text of arguments": calls(called("bash", '"touch ran"')),
    "arguments of other kinds": calls(called("bash", '{"command": ["touch", "ran"]}')),
    "arguments nobody asked for": calls(called("bash", '{"command": "touch ran", "cwd": "/", "__class__": {"x": 1}}')),
    "arguments without an end": calls(called("bash", '{"command": "touch ran"')),
    "arguments deeper than any reader": calls(called("bash", '{"command": ' + "[" * 50_000 + "]" * 50_000 + "}")),
    "arguments deeper than a writer": calls(called("bash", '{"command": "touch ran", "x": ' + '{"a":' * 400 + "1" + "}" * 401)),
    "an answer that was cut": HEAD + sse(chunk({"tool_calls": [called("bash", RUN)]}), chunk({}, "length"), usage_chunk()),
}  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="touch")
def test_no_call_that_is_not_a_proper_one_of_a_tool_on_offer_runs(tmp_path: Path) -> None:
    asked: list[bytes] = []
    bodies: list[bytes] = []

    def answer(connection: socket.socket) -> None:
        # The second time it may go on, so that the run ends by itself.
        asked.append(bodies[-1])
        connection.sendall(GOOD if asked.count(bodies[-1]) > 1 else bodies[-1])

    with raw_service(answer) as base_url:
        home = home_for(tmp_path, base_url)
        with serve_process(home, "--tools", "bash,read") as server:
            found = {}
            for name, body in CALLS.items():
                bodies.append(body)
                result, said = prompted(server)
                ends = [each["params"]["isError"] for each in said if each.get("method") == "tool_execution_end"]
                found[name] = (result["stopReason"], result["text"], ends)
            assert server.finish() == 0
    assert found == dict.fromkeys(CALLS, ("stop", "fine", [True]))
    assert os.listdir(home.project) == []


def test_a_redirect_is_an_answer_and_nobody_is_asked_again(tmp_path: Path) -> None:
    with serve_in_thread([text_reply("you should not be here")]) as elsewhere:
        there = elsewhere.base_url
        places = (
            there,
            there.removeprefix("http:"),
            there.replace("http:", "https:"),
            "/v1/chat/completions",
            "file:///etc/passwd",
        )
        heads = [
            f"HTTP/1.1 {status} Go\r\nlocation: {place}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".encode()
            for status in (301, 303, 307, 308)
            for place in places
        ]
        asked: list[bytes] = []

        def answer(connection: socket.socket) -> None:
            asked.append(heads[len(asked)])
            connection.sendall(asked[-1])

        with raw_service(answer) as base_url, serve_process(home_for(tmp_path, base_url)) as server:
            told = [prompted(server)[0]["errorMessage"] for _ in heads]
            assert server.finish() == 0
        assert [head[9:12].decode() in text for head, text in zip(heads, told, strict=True)] == [True] * len(heads)
        assert (len(asked), elsewhere.headers) == (len(heads), [])
