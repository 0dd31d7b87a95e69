"""A real HTTP server on loopback that speaks chat completions: plays prepared replies, records and checks requests.

    async with ChatServer([text_reply("hello")]) as server:
        ... base_url = server.base_url ...
    assert server.requests[0]["messages"][-1]["content"] == "hi"

From a synchronous test (a subprocess as the client): `with serve_in_thread([...]) as server`.
A request that a strict service would refuse (see `completions_faults`) is answered 400 and noted in `server.faults`.
Replies are played in order; when they run out the answer is 500 "no reply left".
"""

import asyncio
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Self

from tests.support.strict_completions import completions_faults


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerReply:
    """What is sent for one request. `cut` is the bytes of one write, 0 for all at once."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})
    cut: int = 0
    pause: float = 0.0
    """Seconds between two writes."""
    delay: float = 0.0
    """Seconds before the status line."""
    until: threading.Event | None = None
    """Nothing is sent before this is set, or half a minute has passed."""
    stall: bool = False
    """After the body nothing comes and the connection stays open, until the client closes it."""
    reset: bool = False
    """After the body the connection is reset (RST), its end unsaid."""
    close_unanswered: bool = False
    """The connection is closed in place of an answer."""
    repeat: bool = False
    """This reply answers all requests from here on."""


def sse(*chunks: object) -> bytes:
    """Chunks (objects, or texts as they are) as a stream, with [DONE] at the end."""
    lines = [chunk if isinstance(chunk, str) else json.dumps(chunk) for chunk in (*chunks, "[DONE]")]
    return "".join(f"data: {line}\n\n" for line in lines).encode()


def chunk(delta: Mapping[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": dict(delta), "finish_reason": finish_reason}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def usage_chunk(prompt: int = 10, completion: int = 5) -> dict[str, Any]:
    usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    return {"id": "c1", "object": "chat.completion.chunk", "choices": [], "usage": usage}


def text_reply(text: str, *, cut: int = 0, prompt_tokens: int = 10, finish: str = "stop", **more: Any) -> ServerReply:
    """An answer of text, three characters a delta."""
    deltas = [chunk({"content": text[at : at + 3]}) for at in range(0, len(text), 3)]
    body = sse(*deltas, chunk({}, finish), usage_chunk(prompt_tokens, -(-len(text) // 4)))
    return ServerReply(body=body, cut=cut, **more)


def call_reply(*calls: tuple[str, Mapping[str, Any]], text: str = "", cut: int = 0, number: int = 1) -> ServerReply:
    """An answer that calls tools: (name, arguments) each. `number` makes the ids differ between replies."""
    deltas = [chunk({"content": text})] if text else []
    for index, (name, arguments) in enumerate(calls):
        function = {"name": name, "arguments": ""}
        call = {"index": index, "id": f"call_{number}_{index}", "type": "function", "function": function}
        deltas.append(chunk({"tool_calls": [call]}))
        written = json.dumps(arguments)
        for at in range(0, len(written), 5):
            deltas.append(chunk({"tool_calls": [{"index": index, "function": {"arguments": written[at : at + 5]}}]}))
    return ServerReply(body=sse(*deltas, chunk({}, "tool_calls"), usage_chunk()), cut=cut)


def error_reply(status: int, body: object, headers: Mapping[str, str] | None = None) -> ServerReply:
    raw = body if isinstance(body, str) else json.dumps(body)
    return ServerReply(
        status=status, body=raw.encode(), headers={"content-type": "application/json", **(headers or {})}
    )


class ChatServer:
    """`requests` are the bodies as JSON, `raw_requests` as bytes, `headers` those of each request (lower case)."""

    def __init__(self, replies: Sequence[ServerReply] = (), refuse: Callable[[bytes], list[str]] | None = None) -> None:
        """`refuse` names what a strict service of another API would not accept in a request's body."""
        self.replies = list(replies)
        self._refuse = refuse or completions_faults
        self.requests: list[dict[str, Any]] = []
        self.raw_requests: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.faults: list[str] = []
        self.connections = 0
        self.request_came = asyncio.Event()
        self.client_closed = asyncio.Event()
        """Set when a client ended its connection before the reply was sent whole."""
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._all_closed = asyncio.Event()
        self._all_closed.set()

    @property
    def base_url(self) -> str:
        assert self._server is not None, "the server is not running"
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *raised: object) -> None:
        assert self._server is not None
        self._server.close()
        for writer in list(self._open):
            writer.close()
        await asyncio.wait_for(self._all_closed.wait(), 10)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._open.add(writer)
        self._all_closed.clear()
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while await self._serve_one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            self.client_closed.set()
        finally:
            self._open.discard(writer)
            if not self._open:
                self._all_closed.set()
            writer.close()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; False when the connection has ended."""
        head = await reader.readline()
        if not head:
            return False
        headers: dict[str, str] = {}
        while line := (await reader.readline()).strip():
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        reply = self._take(head.decode("latin-1").split(" ")[1], headers, body)
        if reply.delay:
            await self._or_client_gone(reader, asyncio.sleep(reply.delay))
        if reply.until is not None:
            await self._or_client_gone(reader, asyncio.to_thread(reply.until.wait, 30))
        if reply.close_unanswered:
            return False
        await self._send(reader, writer, reply)
        return not (reply.stall or reply.reset)

    def _take(self, path: str, headers: dict[str, str], body: bytes) -> ServerReply:
        self.paths.append(path)
        self.headers.append(headers)
        self.raw_requests.append(body)
        faults = self._refuse(body)
        self.requests.append(json.loads(body) if not faults or "not JSON" not in faults[0] else {})
        self.request_came.set()
        if faults:
            self.faults += faults
            return error_reply(400, {"error": {"message": "; ".join(faults), "type": "invalid_request_error"}})
        if not self.replies:
            return error_reply(500, {"error": {"message": "no reply left in the script of the test"}})
        return self.replies[0] if self.replies[0].repeat else self.replies.pop(0)

    async def _send(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, reply: ServerReply) -> None:
        head = [f"HTTP/1.1 {reply.status} Test", *(f"{name}: {value}" for name, value in reply.headers.items())]
        writer.write("\r\n".join([*head, "transfer-encoding: chunked", "", ""]).encode("latin-1"))
        size = reply.cut or len(reply.body) or 1
        for at in range(0, len(reply.body), size):
            if reader.at_eof():
                raise ConnectionError("the client has gone")
            piece = reply.body[at : at + size]
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()
            await asyncio.sleep(reply.pause)
        if reply.stall:
            await self._or_client_gone(reader, asyncio.sleep(3600))
        if reply.reset:
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.transport.abort()
            return
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    async def _or_client_gone(self, reader: asyncio.StreamReader, wait: Any) -> None:
        """Wait, but no longer than the client stays."""
        waiting, gone = asyncio.ensure_future(wait), asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({waiting, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
            gone.cancel()
            await asyncio.gather(waiting, gone, return_exceptions=True)
        if reader.at_eof():
            raise ConnectionError("the client has gone")


@contextmanager
def serve_in_thread(replies: Sequence[ServerReply]) -> Iterator[ChatServer]:
    """The server on a loop of its own, for tests whose client is another process."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def start() -> ChatServer:
        return await ChatServer(replies).__aenter__()

    try:
        server = asyncio.run_coroutine_threadsafe(start(), loop).result(10)
        try:
            yield server
        finally:
            asyncio.run_coroutine_threadsafe(server.__aexit__(), loop).result(10)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


def cut(reply: ServerReply, size: int) -> ServerReply:
    """The same reply, delivered in pieces of `size` bytes."""
    return replace(reply, cut=size)
