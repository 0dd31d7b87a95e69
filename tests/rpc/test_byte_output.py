"""What is written at once, whole or not at all, to a pipe whose reader the test is."""

import os
import select
import sys
import threading

import anyio
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


@pytest.mark.anyio
@pytest.mark.parametrize("room", range(0, 17 << 10, 3000))
async def test_what_a_pipe_has_room_for_is_written_at_once_and_the_rest_by_a_thread(room: int) -> None:
    (reader, writer), message = os.pipe(), bytes(range(256)) * 48
    output, before = ByteOutput(writer), b""
    while output.write_now(SMALL):
        before += SMALL
    with open(reader, "rb", buffering=0) as answers, anyio.fail_after(20):  # noqa: ASYNC230 - a pipe
        got = answers.read(room) if room else b""
        async with anyio.create_task_group() as group:
            group.start_soon(output.write, message)
            while len(got) < len(before + message):
                await anyio.lowlevel.checkpoint()
                got += await anyio.to_thread.run_sync(answers.read, 1 << 20)
        assert got == before + message
    os.close(writer)


@pytest.mark.anyio
async def test_a_few_small_pieces_need_no_thread() -> None:
    reader, writer = os.pipe()
    output, threads = ByteOutput(writer), threading.active_count()
    for _ in range(2):
        await output.write(SMALL * 100)
    assert threading.active_count() == threads
    os.close(writer)
    with open(reader, "rb") as rest:  # noqa: ASYNC230 - all of it is there
        assert rest.read() == SMALL * 200
