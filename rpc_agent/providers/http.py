"""The one module that imports httpx: streaming POSTs, their time limits, and what goes wrong with them.

It has never heard of models. Load it through `connections`, off the event loop: httpx and TLS cost 60 ms.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Seconds."""

    connect: float = 10.0
    """A reachable host answers a TCP and TLS handshake within a few; more means a wrong address or a dead network."""
    idle: float = 300.0
    """Between bytes, and before the first: models think for minutes, but a stream silent this long has stalled."""
    write: float = 60.0
    """For one piece of the request: a slow uplink with images needs tens."""


class HttpFailed(Exception):
    """The exchange broke. The message says how, for a person; it never holds a header."""


@dataclass(frozen=True, slots=True)
class Response:
    """Status and headers (names lower case) of an answer that is still coming, and its body's pieces."""

    status: int
    headers: Mapping[str, str]
    chunks: AsyncGenerator[bytes, None]


class Http:
    """One pool of connections for all services. Honours HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE and SSL_CERT_DIR."""

    def __init__(self) -> None:
        # One TLS context for everything: making it reads the whole certificate store.
        self._client = httpx.AsyncClient(verify=httpx.create_ssl_context(), follow_redirects=False)

    async def aclose(self) -> None:
        await self._client.aclose()

    @asynccontextmanager
    async def post(
        self, url: str, *, body: bytes, headers: Mapping[str, str], timeouts: Timeouts
    ) -> AsyncGenerator[Response, None]:
        """The response as soon as its headers are here. Leaving the block ends the connection at once unless the body
        was read to its end. Raises HttpFailed, also out of `chunks`."""
        limits = httpx.Timeout(None, connect=timeouts.connect, read=timeouts.idle, write=timeouts.write)
        try:
            request = self._client.build_request("POST", url, content=body, headers=dict(headers), timeout=limits)
        except (httpx.InvalidURL, ValueError, UnicodeError):
            raise HttpFailed(f"{url!r} is no usable address") from None
        response = await self._send(request)
        chunks = _chunks(response, timeouts)
        try:
            yield Response(response.status_code, response.headers, chunks)
        finally:
            await chunks.aclose()
            await response.aclose()

    async def _send(self, request: httpx.Request) -> httpx.Response:
        """Send; once more when a kept connection turned out to be closed by the other side before it answered."""
        connected = _Connected()
        request.extensions["trace"] = connected
        try:
            return await self._client.send(request, stream=True)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError) as error:
            if connected.fresh:
                raise HttpFailed(_reason(error, request)) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise HttpFailed(_reason(error, request)) from None
        try:
            return await self._client.send(request, stream=True)
        except httpx.HTTPError as error:
            raise HttpFailed(_reason(error, request)) from None


class _Connected:
    """Notes whether a request opened a connection of its own or got a kept one."""

    def __init__(self) -> None:
        self.fresh = False

    async def __call__(self, event: str, info: Mapping[str, Any]) -> None:
        if event == "connection.connect_tcp.started":
            self.fresh = True


async def _chunks(response: httpx.Response, timeouts: Timeouts) -> AsyncGenerator[bytes, None]:
    try:
        # Never aiter_lines: it splits at U+2028 inside JSON.
        async for chunk in response.aiter_bytes():
            yield chunk
    except httpx.ReadTimeout:
        raise HttpFailed(f"the stream stalled: no byte for {timeouts.idle:g} s") from None
    except httpx.HTTPError as error:
        raise HttpFailed(_reason(error, response.request)) from None


def _reason(error: Exception, request: httpx.Request) -> str:
    place = request.url.copy_with(query=None, username=None, password=None)
    match error:
        case httpx.ConnectTimeout():
            return f"cannot reach {place}: the connection timed out"
        case httpx.ReadTimeout():
            return f"no answer from {place}: the request timed out"
        case httpx.ConnectError():
            return f"cannot reach {place}: connection error: {error}"
        case _:
            return f"the connection to {place} was closed: {error or type(error).__name__}"
