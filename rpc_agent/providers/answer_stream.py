"""The bytes of an answer -> batches of events: a stream, or one document of a server that does not stream. Pure.

Knows no API: a reader says what the data of an event means. Content types are not relied on; the first byte tells.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

from msgspec import Struct

from rpc_agent.providers.base import ModelCallFailed, Stopped, StreamEvent, TextDelta, ThinkingDelta, ToolCallDelta
from rpc_agent.providers.refusal import failed
from rpc_agent.providers.sse import SseEvent, SseSplitter
from rpc_agent.providers.stream_json import NotJson

_MAX_WHOLE_BYTES = 32 * 1024 * 1024
"""An answer that came as one JSON document in place of a stream."""
_MAX_CONTENT = 16 * 1024 * 1024
"""Characters. The longest answer of any model fits four times; a service that never ends must not fill memory."""
_EVENT_COST = 64
"""An event without a character costs memory too."""
_DOCUMENTS = (b"{", b"[", b"<")


class AnswerReader(Protocol):
    """Turns the data of stream events into events of the port; one for each answer. Pure."""

    @property
    def done(self) -> bool:
        """The service said that nothing follows."""
        ...

    @property
    def is_complete(self) -> bool:
        """The answer's end was said, so that a connection lost after it loses nothing."""
        ...

    def read(self, data: bytes, out: list[StreamEvent]) -> None:
        """One event's data, or a whole body that is JSON. Raises ModelCallFailed for an error inside the stream."""
        ...

    def finish(self) -> Stopped:
        """The end of the answer. Raises ModelCallFailed when it was cut or ended for a bad reason."""
        ...


class Batch(Struct, frozen=True):
    """What some bytes gave, up to the failure in them, if any: the same however the bytes were cut."""

    events: list[StreamEvent]
    failure: ModelCallFailed | None = None


class AnswerStream:
    """Feed it the body's pieces, and say when the body has ended."""

    def __init__(self, reader: AnswerReader, provider: str) -> None:
        self.reader = reader
        self._provider = provider
        self._splitter = SseSplitter()
        self._begun = False
        self._received = self._content = 0
        self._document: bytearray | None = None

    def feed(self, chunk: bytes) -> Batch:
        """Raises SseTooLong."""
        if not self._begun:
            chunk = chunk.lstrip()
            self._begun = bool(chunk)
            self._document = bytearray() if chunk.startswith(_DOCUMENTS) else None
        if self._document is None:
            self._received += len(chunk)
            batch = self._read(self._splitter.feed(chunk))
            # A stream of less is not counted: no answer is longer than its bytes.
            return batch if self._received < _MAX_CONTENT else self._bounded(batch)
        self._document += chunk
        if len(self._document) > _MAX_WHOLE_BYTES:
            return Batch([], ModelCallFailed("the answer is too long", kind="other"))
        return Batch([])

    def _bounded(self, batch: Batch) -> Batch:
        """The batch, with a failure when the content that came since we count is too much."""
        self._content += sum(_EVENT_COST + len(_content(event)) for event in batch.events)
        if self._content <= _MAX_CONTENT:
            return batch
        return Batch(batch.events, batch.failure or ModelCallFailed("the answer is too long", kind="other"))

    def end(self) -> Batch:
        """What the end of the body completes."""
        if self._document is not None:
            return self._read([SseEvent("", bytes(self._document))])
        last = self._splitter.end()
        # What was cut is no event; what is whole is one, though no blank line ends it.
        batch = self._read([last]) if last is not None else Batch([])
        batch = Batch([]) if isinstance(batch.failure, NotJson) else batch
        if batch.failure or self.reader.is_complete or self.reader.done or not self._splitter.stray:
            return batch
        return Batch(batch.events, self._stray_failure())

    def _stray_failure(self) -> ModelCallFailed:
        """Text that is no stream: a gateway's word in place of an answer."""
        failure = failed(self._provider, 200, self._splitter.stray.decode("utf-8", "replace"))
        kind = "transport" if failure.kind == "other" else failure.kind
        return ModelCallFailed(failure.message, kind=kind, retry_after=failure.retry_after, limit=failure.limit)

    def _read(self, events: Sequence[SseEvent]) -> Batch:
        batch: list[StreamEvent] = []
        read = self.reader.read
        try:
            for event in events:
                try:
                    read(event.data, batch)
                except NotJson as error:
                    self._read_odd(event, error, batch)
                if self.reader.done:
                    break  # What came in the same chunk is as little heard as what comes in the next.
        except ModelCallFailed as failure:
            return Batch(batch, failure)
        return Batch(batch)

    def _read_odd(self, event: SseEvent, error: NotJson, batch: list[StreamEvent]) -> None:
        """Lines that a server should have ended with blank ones; words of a keep-alive; an error in plain words."""
        cut: NotJson | None = None
        for raw in _lines(event.data):
            # Behind a second proxy the field's name may stand there twice.
            line = raw.removeprefix(b"data:").lstrip()
            if line.startswith((b"{", b"[")):
                try:
                    self.reader.read(line, batch)
                except NotJson:
                    # Behind what was cut off a gateway may say why.
                    cut = error
                continue
            failure = failed(self._provider, 200, line.decode("utf-8", "replace"))
            if line.startswith(b"<") or (failure.kind == "other" and event.name == "error"):
                raise ModelCallFailed(failure.message, kind="transport")
            if failure.kind != "other":
                raise failure
        if cut is not None:
            raise cut


def _content(event: StreamEvent) -> str:
    match event:
        case TextDelta(text=text) | ThinkingDelta(text=text):
            return text
        case ToolCallDelta(arguments=arguments):
            return arguments
        case _:
            return ""


def _lines(data: bytes) -> Iterator[bytes]:
    return (line for part in data.splitlines() if (line := part.strip()))
