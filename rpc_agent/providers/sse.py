"""Server-sent events out of bytes, however they were cut. Pure; knows nothing of JSON or of any service.

Lines end at CR, LF or CRLF and nowhere else: U+2028, U+2029 and U+0085 are ordinary text inside JSON.
"""

from msgspec import Struct

MAX_EVENT_BYTES = 32 * 1024 * 1024
"""A whole answer in one event (a server that does not really stream) fits many times; a runaway line does not."""

_IGNORED = (b":", b"id:", b"retry:")
_MAX_STRAY = 2000
"""Bytes kept of a text that is no stream; enough to tell what it says."""
_BOM = b"\xef\xbb\xbf"


class SseEvent(Struct, frozen=True):
    """`name` is "" where the stream gave none. `data` is UTF-8, its lines joined by LF; not decoded, as JSON readers
    take bytes."""

    name: str
    data: bytes


class SseTooLong(Exception):
    """An event grew past the limit; the stream is of no further use."""


class SseSplitter:
    """Feed it chunks; it gives the events that became complete.

    An event at the end of the stream without its blank line may be cut: `end` gives it, and whoever knows what is in
    it judges. Comments, `id` and `retry` are read and ignored: nobody reconnects to a model's answer. A line that is a
    JSON object is an event, as gateways put the error of a service between the lines.
    """

    def __init__(self, *, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max = max_event_bytes
        self._partial: list[bytes] = []
        self._data: list[bytes] = []
        self._name = ""
        self._size = 0
        self._after_cr = False
        self._at_start = True
        self.stray = b""
        """The beginning of what is no line of a stream."""

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Raises SseTooLong."""
        if self._after_cr and chunk:
            # This LF belongs to the CR that ended the last chunk.
            chunk = chunk[1:] if chunk[0] == 0x0A else chunk
            self._after_cr = False
        if not chunk:
            return []
        self._after_cr = chunk[-1] == 0x0D
        # bytes.splitlines, unlike str.splitlines, knows only CR, LF and CRLF.
        lines = chunk.splitlines()
        rest = b"" if chunk[-1] in b"\r\n" else lines.pop()
        if lines and self._partial:
            lines[0] = b"".join(self._partial) + lines[0]
            self._partial.clear()
        if lines and self._at_start:
            lines[0], self._at_start = lines[0].removeprefix(_BOM), False
        events = self._read_lines(lines)
        if rest:
            self._partial.append(rest)
        if events or (lines and not self._data):
            self._size = _size(self._data) + len(rest)
        else:
            self._size += len(chunk)
        if self._size > self._max:
            raise SseTooLong(f"an event of the stream is longer than {self._max} bytes")
        return events

    def _read_lines(self, lines: list[bytes]) -> list[SseEvent]:
        """The per-delta path: one pass, and no call for what nearly every line is."""
        events: list[SseEvent] = []
        data = self._data
        for line in lines:
            if line.startswith(b"data:"):
                data.append(line[6:] if line[5:6] == b" " else line[5:])
            elif not line:
                if data:
                    events.append(SseEvent(self._name, data[0] if len(data) == 1 else b"\n".join(data)))
                    data.clear()
                self._name = ""
            elif line.startswith(b"event:"):
                self._name = line[6:].removeprefix(b" ").decode("utf-8", "replace")
            elif line == b"data":
                data.append(b"")
            elif line.startswith(b"{") and line.rstrip().endswith(b"}"):
                events.append(SseEvent("", line))
            elif not line.startswith(_IGNORED) and len(self.stray) < _MAX_STRAY:
                self.stray += line[:_MAX_STRAY] + b"\n"
        return events

    def end(self) -> SseEvent | None:
        """The event that the end of the stream left without its blank line, and maybe cut."""
        lines = [b"".join(self._partial)] if self._partial else []
        if lines and self._at_start:
            lines[0], self._at_start = lines[0].removeprefix(_BOM), False
        self._partial.clear()
        events = self._read_lines([*lines, b""])
        return events[-1] if events else None


def _size(lines: list[bytes]) -> int:
    return sum(len(line) + 1 for line in lines)
