"""Reads a session file from its end, only as far back as the active branch needs."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.session.context_reach import ContextReach
from rpc_agent.session.entries import Entry, read_entry
from rpc_agent.session.line_reader import read_line
from rpc_agent.session.replay import Record, RecordReader, split_lines
from rpc_agent.storage.long_lines import LONGEST_LINE, TOO_LONG

_FIRST_BLOCK = 256 * 1024
_LONGEST_BLOCK = 8 * 1024 * 1024


class Tail(Struct):
    """The records in the bytes [`start`, end of file), and the reader that knows their damage."""

    start: int
    records: list[Record]
    reader: RecordReader


def read_tail(path: Path, size: int, *, limit: int) -> Tail:
    """The end of a file. `start` is the beginning of a line; 0 when the branch goes back to the front.

    Gives up looking for the beginning of the context after `limit` bytes, if they hold any entry.
    """
    search = _Search()
    blocks: list[bytes] = []
    start = size
    for start, block in _blocks_backwards(path, size, min(_FIRST_BLOCK, limit // 16)):
        blocks.append(block)
        if search.feed(block) or (size - start > limit and search.has_leaf):
            break
    reader = RecordReader()
    lines = (line for block in reversed(blocks) for line in split_lines(block))
    records = [record for line, ended in lines for record in reader.read(line, ended=ended)]
    return Tail(start, records, reader)


class _Search:
    """Follows the branch upwards through blocks that come from the end, until the context's beginning."""

    def __init__(self) -> None:
        self._known: dict[str, Entry] = {}
        self._reach = ContextReach()
        self._wanted: str | None = None
        self.has_leaf = False

    def feed(self, block: bytes) -> bool:
        """Take the next earlier block; True when nothing before it is needed."""
        for line, _ in reversed(list(split_lines(block))):
            for raw in reversed(read_line(line.rstrip(b"\r"), exact=False)[0]):
                self._take(raw)
        return self._climb()

    def _take(self, raw: JsonObject) -> None:
        entry = read_entry(raw) if raw["type"] != "session" else None
        if entry is None:
            return
        if not self.has_leaf:
            self.has_leaf, self._wanted = True, entry.id
        self._known.setdefault(entry.id, entry)

    def _climb(self) -> bool:
        while self.has_leaf and self._wanted is not None:
            # Taking the entry out makes a cycle end like a parent that is further up.
            entry = self._known.pop(self._wanted, None)
            if entry is None:
                return False
            if self._reach(entry):
                return True
            self._wanted = entry.parent_id
        return self.has_leaf


def _blocks_backwards(path: Path, size: int, block_size: int) -> Iterator[tuple[int, bytes]]:
    """(offset, bytes) of pieces that begin at a line, from the last to the first, growing as they go."""
    with open(path, "rb") as file:
        end = size
        while end > 0:
            start = _line_start(path, max(0, end - block_size))
            start = start if start < end else _line_start_before(path, end)
            file.seek(start)
            yield start, file.read(end - start) if end - start <= LONGEST_LINE else TOO_LONG
            end, block_size = start, min(block_size * 2, _LONGEST_BLOCK)


def _line_start(path: Path, at: int) -> int:
    """The first beginning of a line at or behind `at`."""
    if at == 0:
        return 0
    with open(path, "rb") as file:
        file.seek(at - 1)
        return at - 1 + len(file.readline())


def _line_start_before(path: Path, end: int) -> int:
    """The beginning of the line that ends at `end`, for lines longer than a block."""
    step = _FIRST_BLOCK
    with open(path, "rb") as file:
        at = end - 1
        while at > 0:
            start = max(0, at - step)
            file.seek(start)
            if (found := file.read(at - start).rfind(b"\n")) >= 0:
                return start + found + 1
            at = start
    return 0
