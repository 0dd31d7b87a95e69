"""Fuzz target: a byte stream cut into messages is the same messages, however it is cut."""

from rpc_agent.rpc.framing import AutoDecoder, Frame, Framing, encode_frame
from tests.conftest import ROOT

_LIMIT = 100
"""Small, so that short inputs reach what happens above it."""
_FRAMINGS: tuple[Framing | None, ...] = (None, "lines", "headers")

TOKENS = (
    b"Content-Length: 2\r\n\r\n{}", b"Content-Length:", b"\r\n\r\n", b"\r\n", b"\n", b"\xef\xbb\xbf", b"{}", b"A: b\r\n",
    b"content-length: 101", b"x" * 100,
)  # fmt: skip
MAX_BYTES = 700
_MOST_PIECES = 60
"""Long streams are not cut at every byte: that would take most of the time."""


def seeds() -> list[bytes]:
    files = sorted((ROOT / "tests" / "golden" / "rpc").glob("*.bin"))
    bodies = [file.read_bytes() for file in files]
    framed = b"".join(encode_frame(b'{"id":%d,"method":"ping"}' % n, "headers") for n in range(3))
    return [bytes([choice]) + body for choice in range(3) for body in (*bodies, framed, framed.replace(b"2", b"9"))]


def check(data: bytes) -> None:
    """The first byte chooses how the framing is known, and where the stream is cut."""
    choice, stream = (data[0], data[1:]) if data else (0, b"")
    framing = _FRAMINGS[choice % 3]
    whole, used = _decode(stream, len(stream) or 1, framing)
    size = max(1 + choice // 3, len(stream) // _MOST_PIECES)
    assert _decode(stream, size, framing) == (whole, used)
    for frame in whole:
        if isinstance(frame, bytes):
            assert frame and len(frame) <= _LIMIT
            assert not frame.isspace()
    _goes_out_and_comes_back([frame for frame in whole if isinstance(frame, bytes)])


def _decode(stream: bytes, size: int, framing: Framing | None) -> tuple[list[Frame], Framing | None]:
    decoder = AutoDecoder(max_bytes=_LIMIT, framing=framing)
    frames = [frame for at in range(0, len(stream), size) for frame in decoder.feed(stream[at : at + size])]
    frames += decoder.finish()
    assert decoder.finish() == []
    return frames, decoder.framing


def _goes_out_and_comes_back(messages: list[bytes]) -> None:
    data = b"".join(encode_frame(message, "headers") for message in messages)
    assert _decode(data, len(data) or 1, "headers")[0] == messages
