"""Asks a chat-completions server and streams its answer. Knows connections; `response` knows what the bytes mean."""

from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from rpc_agent.conversation.models import Model
from rpc_agent.errors import AuthMissing
from rpc_agent.providers.base import ModelCallFailed, ModelRequest, StreamEvent
from rpc_agent.providers.connections import Connections
from rpc_agent.providers.openai_completions.compat import read_compat
from rpc_agent.providers.openai_completions.request import Pieces, request_body
from rpc_agent.providers.openai_completions.response import ChatCompletionReader, failed
from rpc_agent.providers.retry_after import retry_after
from rpc_agent.providers.sse import SseSplitter, SseTooLong

if TYPE_CHECKING:
    from rpc_agent.providers.http import Response, Timeouts

_MAX_ERROR_BYTES = 64 * 1024
"""Enough of any refusal; a proxy's error page does not deserve more."""
_MAX_WHOLE_BYTES = 32 * 1024 * 1024
"""An answer that came as one JSON document in place of a stream."""
_DRAIN_SECONDS = 0.25
"""After [DONE] only the end of the body is due, and it usually came in the same packet."""
_KEPT_CONVERSATIONS = 16
"""Conversations whose message pieces are kept; a desktop app drives several sessions over one model."""


class OpenAICompletions:
    """A ChatModel over HTTP. `headers` are the user's own, sent besides ours.

    `key` is called in a thread at the first request, as it may run the user's command; "" means that none is needed.
    Neither it nor a header is in any error.
    """

    def __init__(
        self,
        model: Model,
        *,
        key: Callable[[], str],
        connections: Connections,
        headers: Mapping[str, str] | None = None,
        timeouts: "Timeouts | None" = None,
    ) -> None:
        self._model = model
        self._find_key = key
        self._key: str | None = None
        self._connections = connections
        self._headers = {"content-type": "application/json", "accept": "text/event-stream"} | dict(headers or {})
        self._timeouts = timeouts
        self._compat = read_compat(model.compat)
        self._pieces: OrderedDict[str, Pieces] = OrderedDict()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[StreamEvent], None]:
        """One batch per network chunk. Raises ModelCallFailed."""
        body = request_body(
            request, self._compat, self._pieces_for(request).of(request.messages, request.model, self._compat)
        )
        reader = ChatCompletionReader(
            provider=self._model.provider,
            # Calls that the service leaves nameless differ from those of the turns before by this number.
            call_prefix=f"call_{len(request.messages)}",
            window=self._model.context_window,
            estimate=len(body) // 4,
        )
        try:
            async with aclosing(self._answer(body, reader)) as batches:
                async for batch in batches:
                    yield batch
            yield [reader.finish()]
        except ModelCallFailed as error:
            raise self._without_key(error) from None

    async def _answer(self, body: bytes, reader: ChatCompletionReader) -> AsyncGenerator[list[StreamEvent], None]:
        try:
            http = await self._connections.http()
        except (OSError, ValueError, ImportError) as error:
            # A proxy or a certificate file named in the environment that is not usable.
            raise ModelCallFailed(
                f"cannot set up HTTP; check the proxy and SSL variables: {error}", kind="other"
            ) from None
        # Only now: naming the module would load httpx.
        from rpc_agent.providers.http import HttpFailed, Timeouts  # noqa: PLC0415 - httpx loads at the first call

        url = self._model.base_url.rstrip("/") + "/chat/completions"
        try:
            async with http.post(
                url, body=body, headers=await self._all_headers(), timeouts=self._timeouts or Timeouts()
            ) as response:
                if response.status != 200:
                    raise await self._refusal(response, len(body) // 4)
                async with aclosing(_batches(response.chunks, reader)) as batches:
                    async for batch in batches:
                        yield batch
                await _drain(response)
        except HttpFailed as error:
            # Once the end of the answer was said, a connection lost loses nothing.
            if not reader.is_complete:
                raise ModelCallFailed(str(error), kind="transport") from None
        except SseTooLong as error:
            raise ModelCallFailed(str(error), kind="other") from None

    async def _all_headers(self) -> Mapping[str, str]:
        if self._key is None:
            try:
                self._key = await anyio.to_thread.run_sync(self._find_key)
            except AuthMissing as error:
                raise ModelCallFailed(error.message, kind="auth") from None
        has_own = any(name.lower() == "authorization" for name in self._headers)
        return self._headers if has_own or not self._key else {**self._headers, "authorization": f"Bearer {self._key}"}

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
            retry_after=retry_after(response.headers, text),
        )

    def _pieces_for(self, request: ModelRequest) -> Pieces:
        pieces = self._pieces.setdefault(request.routing_id, Pieces())
        self._pieces.move_to_end(request.routing_id)
        while len(self._pieces) > _KEPT_CONVERSATIONS:
            self._pieces.popitem(last=False)
        return pieces

    def _without_key(self, error: ModelCallFailed) -> ModelCallFailed:
        """Some services quote the key they refuse."""
        secrets = {self._key or "", *(value for name, value in self._headers.items() if _is_secret(name))}
        message = error.message
        for secret in sorted(secrets, key=len, reverse=True):
            message = message.replace(secret, "[key]") if len(secret) > 5 else message
        return ModelCallFailed(
            message, kind=error.kind, status=error.status, retry_after=error.retry_after, limit=error.limit
        )


def _is_secret(header: str) -> bool:
    return header.lower() not in ("content-type", "accept", "user-agent")


async def _drain(response: "Response") -> None:
    """Read to the end of the body, so that the connection can be used again; a server that leaves it open loses it."""
    with anyio.move_on_after(_DRAIN_SECONDS):
        async for _ in response.chunks:
            pass


async def _batches(
    chunks: AsyncIterator[bytes], reader: ChatCompletionReader
) -> AsyncGenerator[list[StreamEvent], None]:
    """The events of each chunk. A body that is one JSON document (an error, or an answer of a server that does not
    stream) is told from a stream by its first byte, because content types are not to be relied on."""
    splitter = SseSplitter()
    whole: bytearray | None = None
    first = b""
    async for chunk in chunks:
        if not first:
            chunk = chunk.lstrip()
            first = chunk[:1]
            whole = bytearray() if first in (b"{", b"<") and first else None
        if whole is not None:
            whole += chunk
            if len(whole) > _MAX_WHOLE_BYTES:
                raise ModelCallFailed("the answer is too long", kind="other")
            continue
        batch: list[StreamEvent] = []
        for event in splitter.feed(chunk):
            reader.read(event.data, batch)
        if batch:
            yield batch
        if reader.done:
            return
    if whole is not None:
        batch = []
        reader.read(bytes(whole), batch)
        yield batch
