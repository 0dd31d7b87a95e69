"""Everything that waits to be written to the other side, in order and bounded in bytes. Refuses to write.

Posting never waits: whoever produces much awaits `drained` between two posts. An item that is an object is encoded at
the moment the writer takes it, so until then more can be merged into it.
"""

import asyncio
import logging
from collections import deque
from typing import Protocol

from rpc_agent.rpc.json_text import NotSerialisable

HIGH_WATER_BYTES = 4 << 20
# A reader this far behind is slow; memory has to stay bounded, so producers wait from here on.

_BATCH_BYTES = 256 << 10
# What the writer takes at once: enough to fill any pipe, little enough that the rest can still be merged.

_logger = logging.getLogger(__name__)


class LazyItem(Protocol):
    """A message that is encoded late. `size` estimates its bytes, at the time it is posted."""

    @property
    def size(self) -> int: ...

    def encode(self) -> bytes:
        """One JSON-RPC message. May raise NotSerialisable."""
        ...


Item = bytes | LazyItem


class _Level:
    """A count of bytes that callers can wait on: it is high from its mark up, until it has fallen to half of it."""

    def __init__(self, mark: int) -> None:
        self._mark = mark
        self._bytes = 0
        self._is_low = asyncio.Event()
        self._is_low.set()
        self.is_high = False
        """Kept beside the event, because it is asked for every delta."""

    def add(self, size: int) -> None:
        self._bytes += size
        if self._bytes >= self._mark:
            self.is_high = True
            self._is_low.clear()

    def remove(self, size: int) -> None:
        self._bytes -= size
        if self.is_high and self._bytes <= self._mark // 2:
            self._set_low()

    async def low(self) -> None:
        await self._is_low.wait()

    def open(self) -> None:
        self._mark = 1 << 62
        self._set_low()

    def _set_low(self) -> None:
        self.is_high = False
        self._is_low.set()


class Outbox:
    """The one queue in front of the one writer. Belongs to one event loop."""

    def __init__(self, *, high_water_bytes: int = HIGH_WATER_BYTES) -> None:
        self._items: deque[tuple[Item, int, bool]] = deque()
        self._all = _Level(high_water_bytes)
        self._answers = _Level(high_water_bytes)
        self._has_items = asyncio.Event()
        self._is_written = asyncio.Event()
        self._is_written.set()
        self._is_closed = False
        self._posted = 0

    @property
    def last_unsent(self) -> Item | None:
        """The newest item if the writer has not taken it yet: more may be merged into it, then call `grew`."""
        return self._items[-1][0] if self._items else None

    @property
    def is_idle(self) -> bool:
        """Whether all that was posted is written: what is sent now overtakes nothing."""
        return not self._items and self._is_written.is_set() and not self._is_closed

    @property
    def posted(self) -> int:
        """How many items were ever posted."""
        return self._posted

    @property
    def is_full(self) -> bool:
        """Whether the other side is behind, so that what can be merged should be."""
        return self._all.is_high

    @property
    def has_many_answers(self) -> bool:
        """Whether `answers_drained` would wait."""
        return self._answers.is_high

    def post(self, item: Item, *, is_answer: bool = False) -> None:
        """Queue `item` behind all others. After `close` it is dropped, for nobody reads."""
        if self._is_closed:
            return
        size = len(item) if isinstance(item, bytes) else item.size
        if not self._items:
            self._has_items.set()
            self._is_written.clear()
        self._items.append((item, size, is_answer))
        self._posted += 1
        self._count(size, is_answer)

    def grew(self, extra_bytes: int) -> None:
        """`last_unsent` was merged into and is larger now."""
        item, size, is_answer = self._items[-1]
        self._items[-1] = (item, size + extra_bytes, is_answer)
        self._count(extra_bytes, is_answer)

    async def drained(self) -> None:
        """Wait while more is waiting than the high-water mark allows."""
        await self._all.low()

    async def answers_drained(self) -> None:
        """Wait while the answers alone are above the mark: the other side asks and does not read."""
        await self._answers.low()

    async def written(self) -> None:
        """Wait until everything posted so far has left the process, or can no longer leave it."""
        await self._is_written.wait()

    async def take(self) -> list[bytes]:
        """For the writer: the next messages, encoded; asking again says that the last ones were written."""
        if not self._items:
            self._has_items.clear()
            self._is_written.set()
            await self._has_items.wait()
        messages: list[bytes] = []
        room, taken = _BATCH_BYTES, 0
        while self._items and room > 0:
            item, size, is_answer = self._items.popleft()
            taken += size
            if is_answer:
                self._answers.remove(size)
            message = item if isinstance(item, bytes) else _encoded(item)
            if message:
                messages.append(message)
                room -= len(message)
        self._all.remove(taken)
        return messages

    def close(self) -> None:
        """Nobody reads any more: drop what waits and let everybody who waits go on."""
        self._is_closed = True
        self._items.clear()
        self._all.open()
        self._answers.open()
        self._is_written.set()

    def _count(self, size: int, is_answer: bool) -> None:
        self._all.add(size)
        if is_answer:
            self._answers.add(size)


def _encoded(item: LazyItem) -> bytes:
    """Nothing for what has no JSON form."""
    try:
        return item.encode()
    except NotSerialisable:
        _logger.exception("a message could not be encoded and was dropped")
        return b""
