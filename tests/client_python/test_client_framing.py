"""The client's framing: the same messages whatever the chunks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rpc_agent_client import ProtocolViolation
from rpc_agent_client.framing import FramingName, encode, make_decoder

bodies = st.lists(st.binary(min_size=1).map(lambda b: b'{"x":"' + b.hex().encode() + b'"}'), max_size=6)


@given(bodies, st.sampled_from(["lines", "headers"]), st.integers(1, 40))
def test_messages_survive_any_cutting_of_the_stream(messages: list[bytes], framing: FramingName, size: int) -> None:
    stream = b"".join(encode(body, framing) for body in messages)
    decoder = make_decoder(framing)
    chunks = [stream[i : i + size] for i in range(0, len(stream), size)]
    assert [message for chunk in chunks for message in decoder.feed(chunk)] == messages


def test_carriage_returns_and_blank_lines_are_no_part_of_a_message() -> None:
    assert make_decoder("lines").feed(b'{"a":1}\r\n\r\n\n{"b":2}\n{"c"') == [b'{"a":1}', b'{"b":2}']


@pytest.mark.parametrize("bad", [b"Content-Type: json\r\n\r\n", b"x" * 9000])
def test_a_stream_without_usable_headers_is_refused(bad: bytes) -> None:
    with pytest.raises(ProtocolViolation):
        make_decoder("headers").feed(bad)
