"""The half of an adapter that all APIs share: send one POST, stream its answer, end it well. Knows no API.

An adapter says what to send and how to read the answer (`begin`) and in which header the key goes. The key is sent
nowhere else, and neither it nor a header is in any error.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, NotRequired, TypedDict, Unpack

import anyio
import anyio.to_thread
from msgspec import Struct

from rpc_agent.conversation.models import Model
from rpc_agent.errors import AuthMissing
from rpc_agent.providers.answer_stream import AnswerReader, AnswerStream
from rpc_agent.providers.base import ModelCallFailed, ModelRequest, StreamEvent
from rpc_agent.providers.connections import Connections
from rpc_agent.providers.hidden import without_secrets
from rpc_agent.providers.refusal import failed
from rpc_agent.providers.retry_after import retry_after
from rpc_agent.providers.sse import SseTooLong
from rpc_agent.providers.timeouts import Timeouts

if TYPE_CHECKING:
    from rpc_agent.providers.http import Response

_MAX_ERROR_BYTES = 64 * 1024
"""Enough of any refusal; a proxy's error page does not deserve more."""
_KEY_REFUSED = 401
_DRAIN_SECONDS = 0.25
"""After the end of the answer only the end of the body is due, and it usually came in the same packet."""


Body = bytes | Sequence[bytes]
"""A request's body, whole or in parts that are sent behind each other."""


class Call(Struct, frozen=True):
    """One request, ready to be sent; `url` never holds a key."""

    url: str
    body: Body
    reader: AnswerReader


def estimate_tokens(body: Body) -> int:
    """A rough size of a request, for telling an overflow whose wording nobody knows."""
    return (len(body) if isinstance(body, bytes) else sum(map(len, body))) // 4


class Access(TypedDict):
    """How a service is reached."""

    key: Callable[[], str]
    """Called in a thread at the first request, as it may run the user's command; "" means that none is needed. It is
    called again when the service refuses the key: what a command gives may have a lifetime."""
    connections: Connections
    headers: NotRequired[Mapping[str, str]]
    """The user's own, sent besides ours and in place of ours of the same name."""
    timeouts: NotRequired[Timeouts | None]


class StreamingModel(ABC):
    """A ChatModel over HTTP."""

    key_headers: tuple[str, ...] = ("authorization",)
    """Where the key goes: the first; when the user set any of them, no key is sent."""
    key_prefix = "Bearer "

    def __init__(self, model: Model, **access: Unpack[Access]) -> None:
        self._model = model
        self._find_key = access["key"]
        self._key: str | None = None
        self._connections = access["connections"]
        self._own_headers = {name.lower(): value for name, value in access.get("headers", {}).items()}
        self._timeouts = access.get("timeouts")

    @abstractmethod
    def begin(self, request: ModelRequest) -> Call:
        """What to send for a request and how to read the answer."""

    def fixed_headers(self) -> Mapping[str, str]:
        """Headers of the API besides content type and key; names in lower case."""
        return {}

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[StreamEvent], None]:
        """One batch per network chunk. Raises ModelCallFailed."""
        for again in (False, True):
            known, call = self._key, self.begin(request)
            try:
                async with aclosing(self._answer(call)) as batches:
                    async for batch in batches:
                        yield batch
                yield [call.reader.finish()]
                return
            except ModelCallFailed as error:
                if again or error.status != _KEY_REFUSED or not await self._found_another_key(known):
                    raise self._without_key(error) from None

    async def _found_another_key(self, refused: str | None) -> bool:
        """Whether there is a key beside the one that was refused; None: it had only just been found."""
        if not refused:
            return False
        self._key = None
        try:
            await self._all_headers()
        except ModelCallFailed:
            self._key = refused
        return self._key != refused

    async def _answer(self, call: Call) -> AsyncGenerator[list[StreamEvent], None]:
        try:
            http = await self._connections.http(call.url)
        except (OSError, ValueError, ImportError) as error:
            # A proxy or a certificate file named in the environment that is not usable.
            raise ModelCallFailed(
                f"cannot set up HTTP; check the proxy and SSL variables: {error}", kind="other"
            ) from None
        # Only now: naming the module would load httpx.
        from rpc_agent.providers.http import HttpFailed, UnusableRequest  # noqa: PLC0415 - httpx loads at the first call

        headers = await self._all_headers()
        timeouts = self._timeouts or Timeouts()
        try:
            async with http.post(call.url, body=call.body, headers=headers, timeouts=timeouts) as response:
                if not 200 <= response.status < 300:
                    raise await self._refusal(response, estimate_tokens(call.body))
                answer = AnswerStream(call.reader, self._model.provider)
                async with aclosing(_batches(response.chunks, answer, timeouts.after_end)) as batches:
                    async for batch in batches:
                        yield batch
                await _drain(response)
        except UnusableRequest as error:
            raise ModelCallFailed(str(error), kind="other") from None
        except HttpFailed as error:
            # Once the end of the answer was said, a connection lost loses nothing.
            if not call.reader.is_complete:
                raise ModelCallFailed(str(error), kind="transport") from None
        except SseTooLong as error:
            raise ModelCallFailed(str(error), kind="other") from None

    async def _all_headers(self) -> Mapping[str, str]:
        if self._key is None:
            try:
                self._key = await anyio.to_thread.run_sync(self._find_key)
            except AuthMissing as error:
                raise ModelCallFailed(error.message, kind="auth") from None
        return {"content-type": "application/json", "accept": "text/event-stream", **self.headers_with(self._key)}

    def headers_with(self, key: str) -> Mapping[str, str]:
        """The headers that any request to the service needs: those of the API, the key, the user's own."""
        ours = dict(self.fixed_headers())
        if key and not any(name in self._own_headers for name in self.key_headers):
            ours[self.key_headers[0]] = f"{self.key_prefix}{key}"
        return {**ours, **self._own_headers}

    async def _refusal(self, response: "Response", estimate: int) -> ModelCallFailed:
        body = bytearray()
        async for chunk in response.chunks:
            body += chunk
            if len(body) > _MAX_ERROR_BYTES:
                break
        text = body[:_MAX_ERROR_BYTES].decode("utf-8", "replace")
        return failed(
            self._model.provider,
            response.status,
            text,
            window=self._model.context_window,
            estimate=estimate,
            retry_after=retry_after(response.headers),
        )

    def _without_key(self, error: ModelCallFailed) -> ModelCallFailed:
        """Some services quote the key they refuse."""
        secrets = {self._key or "", *(value for name, value in self._own_headers.items() if _is_secret(name))}
        return ModelCallFailed(
            without_secrets(error.message, secrets),
            kind=error.kind,
            status=error.status,
            retry_after=error.retry_after,
            limit=error.limit,
        )


def _is_secret(header: str) -> bool:
    return header not in ("content-type", "accept", "user-agent")


async def _drain(response: "Response") -> None:
    """Read to the end of the body, so that the connection can be used again; a server that leaves it open loses it."""
    with anyio.move_on_after(_DRAIN_SECONDS):
        async for _ in response.chunks:
            pass


async def _batches(
    chunks: AsyncGenerator[bytes, None], answer: AnswerStream, after_end: float
) -> AsyncGenerator[list[StreamEvent], None]:
    """The events of each chunk."""
    async with aclosing(_due(chunks, answer.reader, after_end)) as pieces:
        async for chunk in pieces:
            batch = answer.feed(chunk)
            if batch.events:
                yield batch.events
            if batch.failure is not None:
                raise batch.failure
            if answer.reader.done:
                return
    batch = answer.end()
    if batch.events:
        yield batch.events
    if batch.failure is not None:
        raise batch.failure


async def _due(
    chunks: AsyncGenerator[bytes, None], reader: AnswerReader, after_end: float
) -> AsyncGenerator[bytes, None]:
    """The chunks of an answer; after its end those that come within `after_end` seconds of each other."""
    async for chunk in chunks:
        yield chunk
        if reader.is_complete:
            break
    while True:
        last: bytes | None = None
        with anyio.move_on_after(after_end):
            last = await anext(chunks, None)
        if last is None:
            return
        yield last
