"""A chat-completions server on loopback, in a process of its own, whose answer is the time the request was complete.

The clock is monotonic and the same for all processes of a machine (Linux, macOS). `GET /last` gives the body of the
last POST, and a POST below `/notes` is answered with a summary. Started as `python -m bench.service`; it prints its
port.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

_USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
_CALLS_TOOL = b"call the tool"
"""A request is answered by a call of ls when a message says so and no tool has answered after it."""
_NOTES = "## Goal\n" + "Finish what was begun, and keep what was said about the parser and its tests.\n" * 20


class _Connection(asyncio.Protocol):
    last_body = b""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._missing = 0
        self._is_get = False
        self._wants_notes = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if not self._parts:
            head, _, rest = data.partition(b"\r\n\r\n")
            self._is_get = head.startswith(b"GET")
            self._wants_notes = head.startswith(b"POST /notes/")
            lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
            self._missing = int(lengths[0].split(b":")[1]) if lengths else 0
            data = rest
        self._parts.append(data)
        self._missing -= len(data)
        if self._missing <= 0:
            self._answer(time.perf_counter())

    def _answer(self, arrived: float) -> None:
        body, self._parts = b"".join(self._parts), []
        if self._is_get:
            self._send(type(self).last_body, b"application/octet-stream")
            return
        type(self).last_body = body
        said = _NOTES if self._wants_notes else repr(arrived)
        self._send(_call() if _wants_tool(body) else _text(said), b"text/event-stream")

    def _send(self, body: bytes, kind: bytes) -> None:
        head = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n"
        self._transport.write(head % (kind, len(body)) + body)


def _wants_tool(body: bytes) -> bool:
    # Where the messages stand in the body differs from client to client.
    at = body.rfind(_CALLS_TOOL)
    return at >= 0 and b'"role":"tool"' not in body[at:]


def _text(text: str) -> bytes:
    return _stream({"content": text}, "stop")


def _call() -> bytes:
    call = {"index": 0, "id": f"c{time.perf_counter_ns()}", "function": {"name": "ls", "arguments": "{}"}}
    return _stream({"tool_calls": [call]}, "tool_calls")


def _stream(delta: dict[str, object], finish: str) -> bytes:
    chunks = [
        {"choices": [{"index": 0, "delta": delta}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        {"choices": [], "usage": _USAGE},
    ]
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks) + b"data: [DONE]\n\n"


@contextmanager
def loopback() -> Iterator[str]:
    """The base URL of a service that lives as long as the block."""
    command = [sys.executable, "-m", "bench.service"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.stdin.close()


async def _main() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(_Connection, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_main())
