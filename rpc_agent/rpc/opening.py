"""Answers what the other side had written by the time we start, before there is an event loop. Never waits.

On the path to the first answer: asyncio alone takes longer to import than all that stands here. Where it is not known
without waiting that something can be read and written (a file, a terminal, Windows), it does nothing, and the loop
will do it all.
"""

import os
import select
import stat
import sys
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from rpc_agent.rpc import envelopes
from rpc_agent.rpc.envelopes import Early, Request
from rpc_agent.rpc.errors import RpcError
from rpc_agent.rpc.framing import AutoDecoder, Frame, encode_frame

_READ_BYTES = 64 << 10
"""What a pipe holds; the rest comes when the loop reads."""


class Opening(NamedTuple):
    """`received` is still to be handled, in order, before anything else that `decoder` will give."""

    decoder: AutoDecoder
    received: Sequence[Frame] = ()
    has_answered: bool = False


def answer_early(input_fd: int, output_fd: int, decoder: AutoDecoder, early: Mapping[str, Early]) -> Opening:
    """Read once what is there, and answer the requests of `early` methods at its beginning."""
    if not _is_ready(input_fd, "POLLIN"):
        return Opening(decoder)
    try:
        frames = decoder.feed(os.read(input_fd, _READ_BYTES))
    except OSError:
        return Opening(decoder)
    answered = 0
    while answered < len(frames) and _answered(frames[answered], output_fd, decoder, early):
        answered += 1
    return Opening(decoder, frames[answered:], answered > 0)


def _answered(frame: Frame, output_fd: int, decoder: AutoDecoder, early: Mapping[str, Early]) -> bool:
    """Whether it was a request that could be answered at once; anything else is left to the loop, faults too."""
    item = envelopes.parse(frame) if isinstance(frame, bytes) else None
    if not isinstance(item, Request) or item.method not in early:
        return False
    answer = encode_frame(_answer(item, early[item.method]), decoder.framing or "lines")
    try:
        return _wrote(output_fd, answer)
    except OSError:
        return False


def _answer(request: Request, method: Early) -> bytes:
    try:
        return envelopes.encode_result(request.id, method(request.params))
    except RpcError as error:
        return envelopes.encode_error(request.id, error)


def _wrote(fd: int, data: bytes) -> bool:
    """Whether there was room. What has room takes so few bytes whole: a pipe by POSIX, a socket as it asks for more."""
    if sys.platform == "win32" or len(data) > select.PIPE_BUF or not _is_ready(fd, "POLLOUT"):
        return False
    os.write(fd, data)
    return True


def _is_ready(fd: int, event: Literal["POLLIN", "POLLOUT"]) -> bool:
    if sys.platform == "win32":
        return False
    mode = os.fstat(fd).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return False
    poll = select.poll()
    poll.register(fd, getattr(select, event))
    return bool(poll.poll(0))
