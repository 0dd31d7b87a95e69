"""Carries messages over two file descriptors, and takes stdin and stdout away from everybody else.

Refuses to know what the bytes mean beyond their framing. Pipes, sockets, files, terminals and /dev/null all serve.
"""

import os
import sys
from collections.abc import Sequence

from rpc_agent.rpc.byte_input import ByteInput
from rpc_agent.rpc.byte_output import ByteOutput
from rpc_agent.rpc.framing import DEFAULT_MAX_MESSAGE_BYTES, AutoDecoder, Frame, Framing, encode_frames


def claim_stdio() -> tuple[int, int]:
    """Take the real stdin and stdout: (input descriptor, output descriptor), which no child inherits.

    From now on prints and child processes write to stderr, and children read an empty stdin. To be called before
    anything is opened (an event loop too): a descriptor that was closed from the start becomes the null device, but
    only if nothing else has taken its number.
    """
    for fd in (0, 1, 2):
        _open_if_closed(fd)
    input_fd, output_fd = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415 - exists on Windows only

        msvcrt.setmode(input_fd, os.O_BINARY)
        msvcrt.setmode(output_fd, os.O_BINARY)
    return input_fd, output_fd


class StdioTransport:
    """A Transport over `input_fd` and `output_fd`. Answers go out in the framing the first line came in."""

    def __init__(
        self,
        input_fd: int,
        output_fd: int,
        *,
        framing: Framing | None = None,
        max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES,
    ) -> None:
        self._decoder = AutoDecoder(max_bytes=max_message_bytes, framing=framing)
        self._input = ByteInput(input_fd)
        self._output = ByteOutput(output_fd)

    async def receive(self) -> Sequence[Frame]:
        while chunk := await self._input.read():
            if frames := self._decoder.feed(chunk):
                return frames
        return self._decoder.finish()

    async def send(self, messages: Sequence[bytes]) -> None:
        framing = self._decoder.framing or "lines"
        await self._output.write(encode_frames(messages, framing))

    async def hung_up(self) -> None:
        await self._output.hung_up()


def _open_if_closed(fd: int) -> None:
    try:
        os.fstat(fd)
    except OSError:
        # The lowest free number is given, and those below are taken.
        os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
