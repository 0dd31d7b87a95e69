"""Cuts a byte stream into messages, by lines or by LSP headers, and wraps messages for the way back.

Pure: fed whole, byte by byte or anything between, it gives the same frames, in time linear in the bytes and in memory
bounded by one message. Refuses to look inside a message, except for a first byte that tells the framing.
"""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

DEFAULT_MAX_MESSAGE_BYTES = 64 << 20

_BOM = b"\xef\xbb\xbf"
_NAME_CHARACTERS = b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

_NAME_LIMIT = 256
# A first line that starts with more letters than any header has is no header.

_HEADER_LINE_LIMIT = 16 << 10
# Headers are short. A longer line is a body that got lost; only its end matters, where the next header may be glued on.

_FIELD = rb"([A-Za-z0-9-]+)[ \t]*:[ \t]*(.*)"
_GLUED = rb"(?is).*(content-length[ \t]*:.*)"
_LENGTH = rb"[0-9]{1,15}[ \t]*"

Framing = Literal["lines", "headers"]


class TooLong(NamedTuple):
    """In place of a message that was larger than `limit` bytes and was skipped."""

    limit: int


class Damaged(NamedTuple):
    """In place of bytes that are no message."""

    problem: str


Frame = bytes | TooLong | Damaged


class Decoder(Protocol):
    def feed(self, chunk: bytes) -> list[Frame]: ...

    def finish(self) -> list[Frame]:
        """The input ended: what was left."""
        ...


class LineDecoder:
    """One message a line. CR before LF is tolerated, blank lines are nothing, a last line without LF counts."""

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._pending: list[bytes] = []
        self._size = 0
        self._skipping = False

    def feed(self, chunk: bytes) -> list[Frame]:
        frames: list[Frame] = []
        first, *more = chunk.split(b"\n")
        self._grow(first, frames)
        for piece in more:
            self._end_line(frames)
            self._grow(piece, frames)
        return frames

    def finish(self) -> list[Frame]:
        frames: list[Frame] = []
        self._end_line(frames)
        return frames

    def _grow(self, piece: bytes, frames: list[Frame]) -> None:
        if self._skipping or not piece:
            return
        self._pending.append(piece)
        self._size += len(piece)
        if self._size > self._max_bytes + 1:  # One byte more may be the CR of a message that just fits.
            self._skip(frames)

    def _end_line(self, frames: list[Frame]) -> None:
        line = b"".join(self._pending).removesuffix(b"\r")
        if len(line) > self._max_bytes:
            self._skip(frames)
        elif line and not line.isspace():
            frames.append(line)
        self._pending, self._size, self._skipping = [], 0, False

    def _skip(self, frames: list[Frame]) -> None:
        self._pending, self._size, self._skipping = [], 0, True
        frames.append(TooLong(self._max_bytes))

    def only(self, chunk: bytes) -> bytes | None:
        """The message that a chunk is, if it is exactly one and nothing else is pending. Takes nothing in."""
        if self._pending or self._skipping or chunk.find(b"\n") != len(chunk) - 1 or len(chunk) > self._max_bytes:
            return None
        line = chunk[:-1].removesuffix(b"\r")
        return None if line.isspace() else line or None


class HeaderDecoder:
    """`Content-Length: N`, a blank line, N bytes.

    Out of step (no usable length, a length that was too short), it reports once and looks for the next header block.
    That block may follow the lost body on the same line, for bodies end without a line break.
    """

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._line = bytearray()
        self._line_is_cut = False
        self._in_block = False
        self._length: int | None = None
        self._lost = False
        self._body: list[bytes] = []
        self._missing = 0
        self._skipping = False

    def feed(self, chunk: bytes) -> list[Frame]:
        frames: list[Frame] = []
        at = 0
        while at < len(chunk):
            at = self._take_body(chunk, at, frames) if self._missing else self._take_line(chunk, at, frames)
        return frames

    def finish(self) -> list[Frame]:
        frames: list[Frame] = []
        cut_body = self._missing and not self._skipping
        cut_head = self._in_block or (self._line.strip() and not self._lost)
        if cut_body or cut_head:
            frames.append(Damaged("the input ended inside a message"))
        return frames

    def _take_body(self, chunk: bytes, at: int, frames: list[Frame]) -> int:
        end = min(at + self._missing, len(chunk))
        if not self._skipping:
            self._body.append(chunk[at:end])
        self._missing -= end - at
        if not self._missing:
            body = b"".join(self._body)
            if body and not body.isspace():
                frames.append(body)
            self._body, self._skipping = [], False
        return end

    def _take_line(self, chunk: bytes, at: int, frames: list[Frame]) -> int:
        end = chunk.find(b"\n", at)
        self._line += chunk[at:] if end < 0 else chunk[at:end]
        if len(self._line) > 2 * _HEADER_LINE_LIMIT:
            del self._line[:-_HEADER_LINE_LIMIT]
            self._line_is_cut = True
        if end < 0:
            return len(chunk)
        line = bytes(self._line).removesuffix(b"\r")
        is_cut = self._line_is_cut or len(line) > _HEADER_LINE_LIMIT
        self._line, self._line_is_cut = bytearray(), False
        self._read_line(b"" if is_cut else line, line[-_HEADER_LINE_LIMIT:], frames)
        return end + 1

    def _read_line(self, line: bytes, tail: bytes, frames: list[Frame]) -> None:
        """`tail` is the end of the line, and `line` the whole of it where it is short enough to be a header."""
        if not tail:
            self._end_block(frames)
        elif field := re.fullmatch(_FIELD, line, re.DOTALL):
            self._in_block, self._lost = True, False
            if field[1].lower() == b"content-length":
                self._length = int(field[2]) if re.fullmatch(_LENGTH, field[2]) else None
        else:
            self._read_stray_line(tail, frames)

    def _read_stray_line(self, tail: bytes, frames: list[Frame]) -> None:
        glued = re.fullmatch(_GLUED, tail)
        if not self._lost and (glued or not self._in_block):
            frames.append(Damaged("bytes where a header block was expected"))
            self._lost = True
        if glued:
            self._length = None
            self._read_line(glued[1], glued[1], frames)

    def _end_block(self, frames: list[Frame]) -> None:
        if not self._in_block:
            return
        length, self._length, self._in_block = self._length, None, False
        if length is None:
            frames.append(Damaged("a header block without a usable Content-Length"))
            self._lost = True
        elif length > self._max_bytes:
            frames.append(TooLong(self._max_bytes))
            self._missing, self._skipping = length, True
        else:
            self._missing = length


class AutoDecoder:
    """Waits for the first bytes that tell the framing, then decodes in it for good. `framing` is None until then."""

    def __init__(self, *, max_bytes: int = DEFAULT_MAX_MESSAGE_BYTES, framing: Framing | None = None) -> None:
        self._max_bytes = max_bytes
        self._start = b""
        self._may_have_bom = True
        self._decoder: Decoder | None = None
        self.framing = framing

    def feed(self, chunk: bytes) -> list[Frame]:
        if self._decoder is None:
            chunk = self._begin(chunk)
        return self._decoder.feed(chunk) if self._decoder is not None and chunk else []

    def only(self, chunk: bytes) -> bytes | None:
        """The message that a chunk is, if it surely is exactly one and nothing else is pending. Takes nothing in."""
        return self._decoder.only(chunk) if isinstance(self._decoder, LineDecoder) else None

    def finish(self) -> list[Frame]:
        """The input ended: what was left, and nothing when asked again."""
        decoder = self._decoder or _decoder_for(self.framing or "lines", self._max_bytes)
        frames = decoder.feed(self._start) + decoder.finish()
        self._start, self._decoder = b"", _decoder_for("lines", self._max_bytes)
        return frames

    def _begin(self, chunk: bytes) -> bytes:
        """What to decode: nothing before the framing is known, then all of the start but its BOM and blank lines."""
        start = self._start + chunk
        if self._may_have_bom and len(start) < len(_BOM) and _BOM.startswith(start):
            self._start = start
            return b""
        if self._may_have_bom:
            start = start.removeprefix(_BOM)
            self._may_have_bom = False
        start = start.lstrip(b"\r\n")
        self.framing = self.framing or detect(start)
        if self.framing is None or not start:
            # More line breaks may follow, and a message must not depend on which chunk they came in.
            self._start = start
            return b""
        self._start = b""
        self._decoder = _decoder_for(self.framing, self._max_bytes)
        return start


def detect(start: bytes) -> Framing | None:
    """The framing of a stream that starts so: a header field means headers. None: too early to say."""
    after_name = start.lstrip(_NAME_CHARACTERS)
    name_length = len(start) - len(after_name)
    if not after_name and name_length <= _NAME_LIMIT:
        return None
    return "headers" if 0 < name_length <= _NAME_LIMIT and after_name[:1] == b":" else "lines"


def encode_frames(messages: Sequence[bytes], framing: Framing) -> bytes:
    """Messages one behind the other, as `encode_frame` makes each."""
    if framing == "lines":
        # One search through all of them: many small messages are what a stream is made of.
        lines = b"\n".join([*messages, b""])
        if lines.count(b"\n") == len(messages) and b"\r" not in lines:
            return lines
    return b"".join([encode_frame(message, framing) for message in messages])


def encode_frame(message: bytes, framing: Framing) -> bytes:
    """One message as it goes out. `message` is JSON, so a line break in it can only be white space between tokens."""
    if framing == "headers":
        return b"Content-Length: %d\r\n\r\n%b" % (len(message), message)
    if b"\n" in message or b"\r" in message:
        message = message.translate(None, b"\r\n")
    return message + b"\n"


def _decoder_for(framing: Framing, max_bytes: int) -> Decoder:
    return LineDecoder(max_bytes=max_bytes) if framing == "lines" else HeaderDecoder(max_bytes=max_bytes)
