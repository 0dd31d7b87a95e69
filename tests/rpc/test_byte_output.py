"""What is written at once, whole or not at all, to a pipe whose reader the test is."""

import os
import select
import sys

import pytest

from rpc_agent.rpc.byte_output import ByteOutput

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a pipe of Windows cannot be asked for room")

SMALL = b"x" * 100


def test_a_pipe_takes_small_messages_at_once_until_it_may_be_full() -> None:
    reader, writer = os.pipe()
    output = ByteOutput(writer)
    assert not output.write_now(b"x" * (select.PIPE_BUF + 1))
    count = 0
    while output.write_now(SMALL):
        count += 1
    assert count > 100
    os.close(writer)
    with open(reader, "rb") as rest:
        assert rest.read() == SMALL * count


def test_a_pipe_nobody_reads_takes_nothing() -> None:
    reader, writer = os.pipe()
    output = ByteOutput(writer)
    os.close(reader)
    assert not output.write_now(SMALL)
    os.close(writer)
