"""Writes down what crosses a transport, both ways, for whoever looks for a fault. Changes nothing of it."""

import json
import logging
import time
from collections.abc import Callable, Sequence
from typing import BinaryIO, Literal

from rpc_agent.rpc.framing import Frame
from rpc_agent.rpc.transport import Transport

Direction = Literal["in", "out"]

_logger = logging.getLogger(__name__)


class TracingTransport:
    """A Transport around another. Each message is one line of `file`: {"at", "direction", "message" or "text"}.

    `at` is seconds since the epoch. A message that is JSON stands there as it crossed; anything else as a text.
    """

    def __init__(self, inner: Transport, file: BinaryIO) -> None:
        self._inner = inner
        self._file = file
        self._has_failed = False

    async def receive(self) -> Sequence[Frame]:
        frames = await self._inner.receive()
        for frame in frames:
            self._write("in", frame if isinstance(frame, bytes) else repr(frame).encode())
        return frames

    def offer_to(self, take: Callable[[bytes], bool]) -> None:
        """Nothing is offered: a message is to stand in the trace before its answer."""

    async def send(self, messages: Sequence[bytes]) -> None:
        for message in messages:
            self._write("out", message)
        await self._inner.send(messages)

    def send_now(self, message: bytes) -> bool:
        is_sent = self._inner.send_now(message)
        if is_sent:
            self._write("out", message)
        return is_sent

    async def hung_up(self) -> None:
        await self._inner.hung_up()

    def _write(self, direction: Direction, message: bytes) -> None:
        head = f'{{"at":{time.time():.6f},"direction":"{direction}",'
        if self._has_failed:
            return
        try:
            self._file.write(head.encode() + _shown(message) + b"}\n")
            # A trace is read after a crash: what was written must be there.
            self._file.flush()
        except OSError as error:
            # Who looks for a fault must not lose the sessions to a full disk.
            self._has_failed = True
            _logger.warning("the trace ends here, its file could not be written: %s", error)


def _shown(message: bytes) -> bytes:
    try:
        # A line end between two tokens is JSON, and would cut the line of the trace.
        json.loads(message)
        return b'"message":' + message.replace(b"\n", b" ").replace(b"\r", b" ")
    except ValueError:
        return b'"text":' + json.dumps(message.decode("utf-8", "backslashreplace")).encode()
