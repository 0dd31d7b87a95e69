"""Carries messages over two file descriptors.

Refuses to know what the bytes mean beyond their framing. Pipes, sockets, files, terminals and /dev/null all serve.
"""

from collections.abc import Callable, Sequence

from rpc_agent.rpc.byte_input import ByteInput
from rpc_agent.rpc.byte_output import ByteOutput
from rpc_agent.rpc.framing import DEFAULT_MAX_MESSAGE_BYTES, AutoDecoder, Frame, Framing, encode_frames
from rpc_agent.rpc.opening import Opening


class StdioTransport:
    """A Transport over `input_fd` and `output_fd`. Answers go out in the framing the first line came in."""

    def __init__(
        self,
        input_fd: int,
        output_fd: int,
        *,
        framing: Framing | None = None,
        max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES,
        opening: Opening | None = None,
    ) -> None:
        """`opening`: what was read before; it then knows framing and limit."""
        opening = opening or Opening(AutoDecoder(max_bytes=max_message_bytes, framing=framing))
        self._decoder = opening.decoder
        self._received = opening.received
        self._input = ByteInput(input_fd, self._offer)
        self._take: Callable[[bytes], bool] | None = None
        self._output = ByteOutput(output_fd)

    async def receive(self) -> Sequence[Frame]:
        if self._received:
            received, self._received = self._received, ()
            return received
        while chunk := await self._input.read():
            if frames := self._decoder.feed(chunk):
                return frames
        return self._decoder.finish()

    def offer_to(self, take: Callable[[bytes], bool]) -> None:
        self._take = take

    def _offer(self, chunk: bytes) -> bool:
        message = self._decoder.only(chunk) if self._take is not None else None
        return message is not None and self._take is not None and self._take(message)

    async def send(self, messages: Sequence[bytes]) -> None:
        framing = self._decoder.framing or "lines"
        await self._output.write(encode_frames(messages, framing))

    def send_now(self, message: bytes) -> bool:
        return self._output.write_now(encode_frames((message,), self._decoder.framing or "lines"))

    async def hung_up(self) -> None:
        await self._output.hung_up()
