"""Any chunking of a byte stream gives the same frames, in both framings."""

import itertools
import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpc_agent.rpc.framing import AutoDecoder, Damaged, Frame, Framing, TooLong, detect, encode_frame, encode_frames

LIMIT = 50
NO_LENGTH = Damaged("a header block without a usable Content-Length")
LOST = Damaged("bytes where a header block was expected")
CUT = Damaged("the input ended inside a message")


def decode(data: bytes, cuts: list[int] | None = None, framing: Framing | None = None) -> list[Frame]:
    decoder = AutoDecoder(max_bytes=LIMIT, framing=framing)
    edges = [0, *sorted({min(cut, len(data)) for cut in cuts or []}), len(data)]
    frames: list[Frame] = []
    for begin, end in itertools.pairwise(edges):
        frames += decoder.feed(data[begin:end])
    return frames + decoder.finish()


def header(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


STREAMS = [
    # name, bytes, frames
    ("two lines", b'{"a":1}\n{"b":2}\n', [b'{"a":1}', b'{"b":2}']),
    ("CRLF and blank lines", b"\r\n{}\r\n\r\n  \r\n[]\r\n", [b"{}", b"[]"]),
    ("a last line without LF", b"{}\n[1]", [b"{}", b"[1]"]),
    ("a BOM before lines", b"\xef\xbb\xbf{}\n", [b"{}"]),
    ("a line separator that is data", '"\u2028\u0085"\n'.encode(), ['"\u2028\u0085"'.encode()]),
    ("a line at the limit, with CR", b"x" * LIMIT + b"\r\n1\n", [b"x" * LIMIT, b"1"]),
    ("a line above the limit", b"x" * (LIMIT + 1) + b"\n1\n", [TooLong(LIMIT), b"1"]),
    ("a line far above the limit, cut by the end", b"{}\n" + b"x" * 999, [b"{}", TooLong(LIMIT)]),
    ("a letter is no header", b"null\n", [b"null"]),
    ("a colon without a name is no header", b":x\n", [b":x"]),
    ("endless letters are no header", b"x" * 300 + b":\n", [TooLong(LIMIT)]),
    ("two messages with headers", header(b"{}") + header(b"[\n]"), [b"{}", b"[\n]"]),
    ("a BOM before headers", b"\xef\xbb\xbf" + header(b"{}"), [b"{}"]),
    ("bare LF after headers", b"content-length:2\n\n{}", [b"{}"]),
    ("more headers", b"Content-Type: x; charset=utf-8\r\n" + header(b"{}"), [b"{}"]),
    ("blank lines between messages", header(b"{}") + b"\r\n\r\n" + header(b"[]"), [b"{}", b"[]"]),
    ("an empty body is nothing", header(b"") + header(b"\r\n") + header(b"[]"), [b"[]"]),
    ("a body above the limit", header(b"x" * (LIMIT + 1)) + header(b"{}"), [TooLong(LIMIT), b"{}"]),
    ("no Content-Length", b"A: b\r\n\r\n{}" + header(b"[]"), [NO_LENGTH, b"[]"]),
    ("a word for a length", b"Content-Length: ten\r\n\r\n{}" + header(b"[]"), [NO_LENGTH, b"[]"]),
    ("a negative length, twice", b"Content-Length: -1\r\n\r\n" * 2 + header(b"[]"), [NO_LENGTH, NO_LENGTH, b"[]"]),
    ("a length that is too short", b'Content-Length: 2\r\n\r\n"a"' + header(b"[]"), [b'"a', LOST, b"[]"]),
    ("lines in between are reported once", header(b"{}") + b"{}\n{}\n" + header(b"[]"), [b"{}", LOST, b"[]"]),
    ("the end inside a body", header(b"{}") + b"Content-Length: 9\r\n\r\n{", [b"{}", CUT]),
    ("the end inside a header", header(b"{}") + b"Content-Len", [b"{}", CUT]),
    ("the end inside a body too large", b"Content-Length: 999\r\n\r\n{", [TooLong(LIMIT)]),
    ("a lost body longer than a header line", b"A: b\r\n\r\n" + b"x" * 40_000 + header(b"[]"), [NO_LENGTH, b"[]"]),
    ("the words inside a lost body", b'A: b\r\n\r\n"Content-Length: 1"' + header(b"[]"), [NO_LENGTH, b"[]"]),
    ("nothing", b"", []),
    ("only a BOM", b"\xef\xbb\xbf", []),
    ("only line breaks", b"\r\n\n", []),
]


@pytest.mark.parametrize(("data", "frames"), [row[1:] for row in STREAMS], ids=[row[0] for row in STREAMS])
def test_a_stream_gives_its_frames_whole_and_byte_by_byte(data: bytes, frames: list[Frame]) -> None:
    assert decode(data) == frames
    assert decode(data, list(range(len(data)))) == frames


BODIES = st.lists(st.binary(min_size=1, max_size=60).filter(lambda body: b"\n" not in body and not body.isspace()))


@given(BODIES, st.lists(st.integers(0, 2000)))
def test_any_chunking_of_messages_with_headers_gives_the_same_messages(bodies: list[bytes], cuts: list[int]) -> None:
    expected = [body if len(body) <= LIMIT else TooLong(LIMIT) for body in bodies]
    assert decode(b"".join(map(header, bodies)), cuts) == expected


@given(BODIES, st.lists(st.integers(0, 2000)))
def test_any_chunking_of_lines_gives_the_same_messages(bodies: list[bytes], cuts: list[int]) -> None:
    data = b"".join(encode_frame(body, "lines") for body in bodies)
    assert decode(data, cuts, "lines") == decode(data, [], "lines")


@given(st.binary(max_size=300), st.lists(st.integers(0, 300)), st.sampled_from([None, "lines", "headers"]))
def test_any_bytes_in_any_chunks_give_the_same_frames(data: bytes, cuts: list[int], framing: Framing | None) -> None:
    assert decode(data, cuts, framing) == decode(data, [], framing)


@given(st.lists(st.sampled_from([b"Content-Length: 2", b"Content-Length: x", b"\r\n", b"\n", b"{}", b"A: b"])))
def test_any_mixture_of_header_pieces_is_decoded_alike_in_any_chunks(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    assert decode(data, list(range(len(data))), "headers") == decode(data, [], "headers")


@given(
    st.lists(st.sampled_from([b"{}", b"[1]", b"x" * LIMIT, b" ", b"\r", b"\n", b"{}\n", b"{}\r\n", b"\xef\xbb\xbf"]))
)
def test_a_chunk_that_is_called_the_only_message_gives_that_message_when_it_is_fed(chunks: list[bytes]) -> None:
    decoder = AutoDecoder(max_bytes=LIMIT, framing="lines")
    for chunk in chunks:
        only = decoder.only(chunk)
        frames = decoder.feed(chunk)
        assert only is None or frames == [only]


def test_a_line_that_comes_alone_is_seen_and_one_with_company_is_not() -> None:
    decoder = AutoDecoder(max_bytes=LIMIT)
    assert decoder.only(b"{}\n") is None, "the framing is not known yet"
    decoder.feed(b"{}\n")
    for chunk, only in ((b"[1]\n", b"[1]"), (b"[1]\r\n", b"[1]"), (b"[1]\n[2]\n", None), (b"[1", None), (b"\n", None)):
        assert decoder.only(chunk) == only
    decoder.feed(b"[1")
    assert decoder.only(b"]\n") is None


def test_the_framing_can_be_given_instead_of_detected() -> None:
    assert decode(b"Content-Length: 2\n", framing="lines") == [b"Content-Length: 2"]
    assert decode(b"{}\n" + header(b"[]"), framing="headers") == [LOST, b"[]"]


def test_the_framing_is_known_as_soon_as_the_first_bytes_tell() -> None:
    assert [detect(b"Content"), detect(b"C:"), detect(b"{"), detect(b" C:"), detect(b"42\n")] == [
        None,
        "headers",
        "lines",
        "lines",
        "lines",
    ]


def test_a_line_break_inside_a_message_never_reaches_the_line_framing() -> None:
    assert encode_frame(b'{"a":\r\n1}', "lines") == b'{"a":1}\n'
    assert encode_frame(b"[\n]", "headers") == b"Content-Length: 3\r\n\r\n[\n]"


@pytest.mark.parametrize("framing", ["lines", "headers"])
def test_the_time_for_a_message_in_small_chunks_grows_with_its_size_only(framing: Framing) -> None:
    def seconds(size: int) -> float:
        data = encode_frame(b"x" * size, framing)
        decoder = AutoDecoder(framing=framing)
        begun = time.perf_counter()
        frames = [frame for at in range(0, len(data), 4096) for frame in decoder.feed(data[at : at + 4096])]
        assert [len(frame) for frame in frames] == [size]
        return time.perf_counter() - begun

    # Quadratic work would take 256 times as long for 16 times the bytes.
    assert seconds(32 << 20) < 100 * max(seconds(2 << 20), 0.005)


@pytest.mark.parametrize("framing", ["lines", "headers"])
def test_what_is_skipped_is_not_kept(framing: Framing) -> None:
    decoder = AutoDecoder(max_bytes=1000, framing=framing)
    frames = decoder.feed(b"Content-Length: 99999999999\r\n\r\n" if framing == "headers" else b"[")
    tracemalloc.start()
    try:
        for _ in range(100):
            frames += decoder.feed(b"x" * 65536)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert frames == [TooLong(1000)]
    assert kept < 65536, "of the six megabytes nothing stays"


@pytest.mark.parametrize("framing", ["lines", "headers"])
@pytest.mark.parametrize("messages", [[], [b"{}"], [b'{"a":1}', b"[]"], [b"[\n]", b"{}"], [b"{\r}", b"{}"], [b"1\r\n"]])
def test_many_messages_go_out_as_each_alone(messages: list[bytes], framing: Framing) -> None:
    assert encode_frames(messages, framing) == b"".join(encode_frame(message, framing) for message in messages)
