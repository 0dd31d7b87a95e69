"""A real HTTP server on loopback that answers paths with JSON and remembers who asked what.

    async with JsonServer({"/api/tags": {"models": []}}) as server:
        ... server.port ...

An answer may be a callable that is given the request's JSON; `HANG` never answers. Other paths get 404, and a body that
quotes the key it was sent, as some services do.
"""

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Self

HANG = object()


class JsonServer:
    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = answers
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.said_key = False
        """Whether a refusal quoted a key."""
        self.port = 0
        self._open: dict[asyncio.StreamWriter, asyncio.Event] = {}
        self._ending = asyncio.Event()

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = int(self._server.sockets[0].getsockname()[1])
        return self

    async def __aexit__(self, *raised: object) -> None:
        self._server.close()
        self._ending.set()
        ended = list(self._open.values())
        for writer in list(self._open):
            writer.close()
        for event in ended:
            await asyncio.wait_for(event.wait(), 10)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ended = self._open[writer] = asyncio.Event()
        try:
            while head := await reader.readline():
                await self._answer(head.decode().split(" ")[1], reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            del self._open[writer]
            ended.set()

    async def _answer(self, path: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        headers: dict[str, str] = {}
        while line := (await reader.readline()).decode().strip():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        self.paths.append(path)
        self.headers.append(headers)
        answer = self.answers.get(path)
        if callable(answer):
            answer = answer(json.loads(body))
        if answer is HANG:
            await self._ending.wait()
            return
        status = 200 if answer is not None else 404
        if answer is None:
            self.said_key = "authorization" in headers
            answer = {"error": {"message": f"not here for {headers.get('authorization')}"}}
        content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        writer.write(b"HTTP/1.1 %d Test\r\ncontent-length: %d\r\n\r\n%s" % (status, len(content), content))
        await writer.drain()
