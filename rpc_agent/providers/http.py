"""The one module that imports httpx: streaming POSTs, their time limits, and what goes wrong with them.

It has never heard of models. Load it through `connections`, off the event loop: httpx and TLS cost 60 ms.
"""

import re
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx
from msgspec import Struct

from rpc_agent.providers.timeouts import Timeouts

_LARGE_PART = 1024 * 1024
"""Bytes from which a part is written as it is: below it, copying costs less than one more write."""


_LAST_PORT = 65_535
_HEADER_NAME = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
_HEADER_VALUE = re.compile(r"[!-~](?:[\t -~]*[!-~])?|")
_KEY_HEADERS = ("authorization", "x-api-key", "x-goog-api-key")


class HttpFailed(Exception):
    """The exchange broke. The message says how, for a person; it never holds a header."""


class UnusableRequest(HttpFailed):
    """Nobody can be asked at such an address or with such a header, now or later."""


class Response(Struct, frozen=True):
    """Status and headers (names lower case) of an answer that is still coming, and its body's pieces."""

    status: int
    headers: Mapping[str, str]
    chunks: AsyncGenerator[bytes, None]


class Http:
    """One pool of connections for all services. Honours HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE and SSL_CERT_DIR.

    `tls` False: for addresses without TLS alone, any other is not trusted. `direct`: for plain HTTP to this very
    machine, which no proxy can reach; no variable is honoured then.
    """

    def __init__(self, *, tls: bool = True, direct: bool = False) -> None:
        # One TLS context for everything: making it reads the whole certificate store. One that has read none trusts
        # nobody.
        is_plain = direct or not tls
        verify = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if is_plain else httpx.create_ssl_context()
        self._client = httpx.AsyncClient(verify=verify, trust_env=not direct, follow_redirects=False)

    async def aclose(self) -> None:
        await self._client.aclose()

    def post(
        self, url: str, *, body: bytes | Sequence[bytes], headers: Mapping[str, str], timeouts: Timeouts
    ) -> AbstractAsyncContextManager[Response]:
        """The response as soon as its headers are here. Leaving the block ends the connection at once unless the body
        was read to its end. A request's body may come in parts, so that a long one need not be copied together.
        Raises HttpFailed, also out of `chunks`."""
        return self._exchange("POST", url, body, headers, timeouts)

    async def read(
        self, url: str, *, headers: Mapping[str, str], timeouts: Timeouts, body: bytes | None = None, most: int
    ) -> tuple[int, bytes]:
        """Status and whole body of a GET (a POST when there is a `body`). Raises HttpFailed, also for a body of more
        than `most` bytes."""
        method = "GET" if body is None else "POST"
        read = bytearray()
        async with self._exchange(method, url, body, headers, timeouts) as response:
            async for chunk in response.chunks:
                read += chunk
                if len(read) > most:
                    raise HttpFailed(f"the answer of {_place(url)} is longer than {most} bytes")
            return response.status, bytes(read)

    @asynccontextmanager
    async def _exchange(
        self,
        method: str,
        url: str,
        body: bytes | Sequence[bytes] | None,
        headers: Mapping[str, str],
        timeouts: Timeouts,
    ) -> AsyncGenerator[Response, None]:
        content: bytes | _Parts | None = body if body is None or isinstance(body, bytes) else _Parts(body)
        if isinstance(content, _Parts):
            headers = {**headers, "content-length": str(content.size)}
        limits = httpx.Timeout(None, connect=timeouts.connect, read=timeouts.idle, write=timeouts.write)
        _check(headers)
        try:
            request = self._client.build_request(method, url, content=content, headers=dict(headers), timeout=limits)
        except (httpx.InvalidURL, ValueError, UnicodeError):
            raise UnusableRequest(f"{_place(url)!r} is no usable address") from None
        if request.url.scheme not in ("http", "https") or not request.url.host:
            raise UnusableRequest(
                f"{_place(url)!r} is no usable address: it must begin with https://HOST or http://HOST"
            )
        if not 0 < (request.url.port or 1) <= _LAST_PORT:
            raise UnusableRequest(f"{_place(url)!r} is no usable address: ports end at {_LAST_PORT}")
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


class _Parts:
    """A body in parts, which can be sent more than once. Small ones at the ends go together with their neighbours."""

    def __init__(self, parts: Sequence[bytes]) -> None:
        self.size = sum(map(len, parts))
        self._parts = _gathered(parts)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self._parts:
            yield part


def _gathered(parts: Sequence[bytes]) -> list[bytes]:
    """Each write to a socket costs a round of the event loop, so what is small is joined."""
    gathered: list[list[bytes]] = [[]]
    for part in parts:
        if len(part) >= _LARGE_PART:
            gathered += [[part], []]
        else:
            gathered[-1].append(part)
    return [joined for group in gathered if (joined := b"".join(group))]


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


def _check(headers: Mapping[str, str]) -> None:
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise UnusableRequest(f"the header {name!r} cannot be sent: that is no name of one")
        if not _HEADER_VALUE.fullmatch(value):
            what = "the key" if name.lower() in _KEY_HEADERS else f"the header {name!r}"
            raise UnusableRequest(f"{what} cannot be sent: it holds a space at an end, a line break or no ASCII")


def _place(url: str) -> str:
    """An address, usable or not, without what may hold a password or a key."""
    return re.sub(r"//[^/?#]*@", "//", url).partition("?")[0]


def _reason(error: Exception, request: httpx.Request) -> str:
    place = _place(str(request.url))
    match error:
        case httpx.ConnectTimeout():
            return f"cannot reach {place}: the connection timed out"
        case httpx.ReadTimeout():
            return f"no answer from {place}: the request timed out"
        case httpx.ConnectError():
            return f"cannot reach {place}: connection error: {error}"
        case _:
            return f"the connection to {place} was closed: {error or type(error).__name__}"
