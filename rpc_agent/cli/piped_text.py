"""Text that is piped into a command: all of it, in bounded memory. Gives it no meaning."""

import os
import queue
import select
import sys
import threading
import time

MOST_BYTES = 4 << 20
"""More than any model reads; whoever pipes without an end must not fill the memory."""
_CHUNK_BYTES = 64 << 10
_CHUNKS_AHEAD = 8
# Windows does not interrupt a wait for Ctrl-C, so waits are short and repeated.
_WAIT_SECONDS = 0.25


class TooMuchText(Exception):
    """More came than may; the message tells what to do instead."""


def read_piped(descriptor: int, *, first_within: float | None = None, most_bytes: int = MOST_BYTES) -> str | None:
    """The text up to the end of the input, UTF-8; what is not becomes U+FFFD. Raises TooMuchText.

    None when not even the first byte came within `first_within` seconds: some programs start others with a pipe that
    they neither write to nor close. Where the end was not reached, a thread reads on: leave the descriptor open.
    """
    chunks: queue.Queue[bytes] = queue.Queue(_CHUNKS_AHEAD)
    # A daemon that reads the bare descriptor: it may wait for ever, and must hold nothing that our end waits for.
    threading.Thread(target=_pump, args=(descriptor, chunks), daemon=True, name="piped text").start()
    chunk = _next(chunks, first_within)
    if chunk is None:
        return None
    data = bytearray()
    while chunk:
        data += chunk
        if len(data) > most_bytes:
            raise TooMuchText(
                f"more than {most_bytes >> 20} MiB were piped in; name the file in the text instead, the agent reads it"
            )
        chunk = _next(chunks, None)
    return data.decode("utf-8-sig", "replace").replace("\r\n", "\n")


def _next(chunks: "queue.Queue[bytes]", seconds: float | None) -> bytes | None:
    end = None if seconds is None else time.monotonic() + seconds
    while end is None or time.monotonic() < end:
        try:
            return chunks.get(timeout=_WAIT_SECONDS if seconds is None else min(_WAIT_SECONDS, seconds))
        except queue.Empty:
            pass
    return None


def _pump(descriptor: int, chunks: "queue.Queue[bytes]") -> None:
    """Puts what can be read into the queue, and at the end nothing."""
    chunk = b"x"
    while chunk:
        try:
            chunk = os.read(descriptor, _CHUNK_BYTES)
        except BlockingIOError:
            # Whoever shares the pipe made it non-blocking.
            if sys.platform != "win32":
                select.select([descriptor], [], [])
            continue
        except OSError:
            chunk = b""  # A terminal that is gone: an end like any other.
        chunks.put(chunk)
