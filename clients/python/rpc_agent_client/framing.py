"""Cuts a byte stream into messages and puts messages into bytes, in both framings. Knows no JSON and does no I/O."""

from typing import Literal, Protocol

from rpc_agent_client.errors import ProtocolViolation

FramingName = Literal["lines", "headers"]

# A header block is a few dozen bytes; more without its end means that something else is talking.
_MAX_HEADER_BYTES = 8192


class Decoder(Protocol):
    def feed(self, chunk: bytes) -> list[bytes]:
        """The messages that `chunk` completes; what is unfinished is kept for the next call."""
        ...


def encode(body: bytes, framing: FramingName) -> bytes:
    if framing == "headers":
        return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    return body + b"\n"


def make_decoder(framing: FramingName) -> Decoder:
    return HeaderDecoder() if framing == "headers" else LineDecoder()


class LineDecoder:
    """One message per line; blank lines are nothing. Linear in the bytes fed, whatever the chunk sizes."""

    def __init__(self) -> None:
        self._unfinished: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        first, *others = chunk.split(b"\n")
        self._unfinished.append(first)
        if not others:
            return []
        lines = [b"".join(self._unfinished), *others[:-1]]
        self._unfinished = [others[-1]]
        return [line for line in (line.strip() for line in lines) if line]


class HeaderDecoder:
    """`Content-Length: N`, a blank line, N bytes."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._length: int | None = None

    def feed(self, chunk: bytes) -> list[bytes]:
        self._buffer += chunk
        messages: list[bytes] = []
        while (body := self._take()) is not None:
            messages.append(body)
        return messages

    def _take(self) -> bytes | None:
        if self._length is None:
            self._length = self._take_header()
        if self._length is None or len(self._buffer) < self._length:
            return None
        body = bytes(self._buffer[: self._length])
        del self._buffer[: self._length]
        self._length = None
        return body

    def _take_header(self) -> int | None:
        end = self._buffer.find(b"\r\n\r\n", 0, _MAX_HEADER_BYTES)
        if end < 0:
            if len(self._buffer) >= _MAX_HEADER_BYTES:
                raise ProtocolViolation("no end of a header block", bytes(self._buffer))
            return None
        header = bytes(self._buffer[:end])
        del self._buffer[: end + 4]
        return _content_length(header)


def _content_length(header: bytes) -> int:
    for line in header.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit():
            return int(value)
    raise ProtocolViolation("a header block without a Content-Length", header)
