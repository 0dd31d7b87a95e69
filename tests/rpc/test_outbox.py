"""The queue in front of the writer: order, bounds, merging."""

import asyncio

import anyio
import pytest

from rpc_agent.rpc.json_text import NotSerialisable
from rpc_agent.rpc.outbox import Outbox

pytestmark = pytest.mark.anyio


class Growing:
    """An item that more can be merged into."""

    def __init__(self, text: bytes) -> None:
        self.text = text

    @property
    def size(self) -> int:
        return len(self.text)

    def encode(self) -> bytes:
        return self.text


class Impossible:
    size = 1

    def encode(self) -> bytes:
        raise NotSerialisable("no JSON form")


async def test_items_leave_in_the_order_they_were_posted_and_objects_are_encoded_late() -> None:
    outbox = Outbox()
    growing = Growing(b"b")
    outbox.post(b"a")
    outbox.post(growing)
    assert outbox.last_unsent is growing
    growing.text += b"b"
    outbox.grew(1)
    outbox.post(b"c", is_answer=True)
    assert await outbox.take() == [b"a", b"bb", b"c"]
    assert outbox.last_unsent is None


async def test_above_the_mark_producers_wait_until_half_of_it_is_gone() -> None:
    outbox = Outbox(high_water_bytes=1 << 20)
    for _ in range(4):
        outbox.post(b"x" * (256 << 10))
    waiting = asyncio.ensure_future(outbox.drained())
    await outbox.take()
    await asyncio.sleep(0)
    assert not waiting.done()
    await outbox.take()
    with anyio.fail_after(5):
        await waiting


async def test_an_item_that_grows_counts_with_its_new_size() -> None:
    outbox = Outbox(high_water_bytes=100)
    outbox.post(Growing(b"x"))
    outbox.grew(200)
    waiting = asyncio.ensure_future(outbox.drained())
    await asyncio.sleep(0)
    assert not waiting.done()
    await outbox.take()
    with anyio.fail_after(5):
        await waiting


async def test_notifications_do_not_count_as_answers() -> None:
    outbox = Outbox(high_water_bytes=10)
    outbox.post(b"x" * 20)
    with anyio.fail_after(5):
        await outbox.answers_drained()
    outbox.post(b"x" * 20, is_answer=True)
    waiting = asyncio.ensure_future(outbox.answers_drained())
    await asyncio.sleep(0)
    assert not waiting.done()
    await outbox.take()
    with anyio.fail_after(5):
        await waiting


async def test_written_means_that_the_writer_came_back_for_more() -> None:
    outbox = Outbox()
    outbox.post(b"a")
    waiting = asyncio.ensure_future(outbox.written())
    await outbox.take()
    await asyncio.sleep(0)
    assert not waiting.done()
    writer = asyncio.ensure_future(outbox.take())
    with anyio.fail_after(5):
        await waiting
    writer.cancel()


async def test_one_take_is_bounded_so_that_the_rest_can_still_be_merged() -> None:
    outbox = Outbox()
    for _ in range(5):
        outbox.post(b"x" * (100 << 10))
    assert len(await outbox.take()) == 3
    assert len(await outbox.take()) == 2


async def test_a_message_that_cannot_be_encoded_is_dropped_alone(caplog: pytest.LogCaptureFixture) -> None:
    outbox = Outbox()
    outbox.post(Impossible())
    outbox.post(b"b")
    assert await outbox.take() == [b"b"]
    assert "could not be encoded" in caplog.text


async def test_after_the_reader_is_gone_nothing_is_kept_and_nobody_waits() -> None:
    outbox = Outbox(high_water_bytes=1)
    outbox.post(b"abc", is_answer=True)
    outbox.close()
    outbox.post(b"abc", is_answer=True)
    with anyio.fail_after(5):
        await outbox.drained()
        await outbox.answers_drained()
        await outbox.written()
    assert outbox.last_unsent is None
