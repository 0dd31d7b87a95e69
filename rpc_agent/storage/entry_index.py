"""Where the entries of a large file are: ids, parents and offsets in compact arrays. Reads no file.

At most 32 bytes an entry: offset 8, key 4, parent 4, children 4, and 5 to 11 of the hash table. Ids are kept only as
32-bit keys; whoever knows the file says through `id_at` whether a candidate is the right one.
"""

import zlib
from array import array
from collections.abc import Callable, Iterator

ROOT = -1
UNKNOWN = -2
"""The parent of an entry whose parent was not in the file before it."""

_EMPTY = -1
_FIRST_TABLE = 1 << 10
_SPREAD = 0x9E3779B1


class EntryIndex:
    """Entries by position (0 is the first of the file). An id that comes twice keeps its position, not its offset."""

    def __init__(self, id_at: Callable[[int], str]) -> None:
        self._id_at = id_at
        self.offsets = array("Q")
        self._keys = array("I")
        self.parents = array("i")
        self._table = _empty_table(_FIRST_TABLE)
        self._last_id: str | None = None
        self._counts: array[int] | None = None
        self._forward: set[int] = set()
        self.cuts: set[int] = set()
        """Where cycles are cut, once `cut_cycles` looked for them: the first of each in the file is a root."""

    def __len__(self) -> int:
        return len(self.offsets)

    @property
    def bytes(self) -> int:
        """The memory all arrays take."""
        arrays = (self.offsets, self._keys, self.parents, self._table, self._counts or array("I"))
        return sum(len(each) * each.itemsize for each in arrays)

    def add(self, entry_id: str, parent_id: str | None, offset: int) -> int:
        """Note the next entry; gives its position."""
        parent = self._parent_position(parent_id)
        known = self.find(entry_id)
        self._counts = None
        self._last_id = entry_id
        if known is not None:
            self.offsets[known] = offset
            self.hang(known, parent)
            return known
        position = len(self.offsets)
        self.offsets.append(offset)
        self._keys.append(_key(entry_id))
        self.parents.append(parent)
        if position * 4 >= len(self._table) * 3:
            self._grow()
        else:
            self._put(position)
        return position

    def find(self, entry_id: str) -> int | None:
        """The position of an entry, None when it is not there."""
        return next((at for at in self._candidates(_key(entry_id)) if self._id_at(at) == entry_id), None)

    def hang(self, position: int, parent: int) -> None:
        """Note the parent of an entry once it is known."""
        self.parents[position] = parent
        if parent >= position:
            # Only with such a link can there be a cycle.
            self._forward.add(position)

    def cut_cycles(self) -> None:
        for start in self._forward:
            trail: dict[int, None] = {}
            at = start
            while at >= 0 and at not in trail:
                trail[at] = None
                at = self.parents[at]
            if at == start:
                self.cuts.add(min(trail))

    def child_counts(self) -> "array[int]":
        """How many entries hang from each position."""
        if self._counts is None:
            counts = array("I", bytes(4 * len(self.parents)))
            for parent in self.parents:
                if parent >= 0:
                    counts[parent] += 1
            for position in self.cuts:
                counts[self.parents[position]] -= 1
            self._counts = counts
        return self._counts

    def children(self, position: int) -> list[int]:
        """The positions that hang from one, in file order. Usually the first is the very next."""
        left = self.child_counts()[position]
        found: list[int] = []
        # Where a parent stands behind its child the search has to begin at the front.
        for start, end in ((position + 1, len(self.parents)), (0, position)):
            for at in range(start, end):
                if left == len(found):
                    return sorted(found)
                if self.parents[at] == position and at not in self.cuts:
                    found.append(at)
        return sorted(found)

    def roots(self) -> list[int]:
        return [at for at, parent in enumerate(self.parents) if parent < 0 or at in self.cuts]

    def _parent_position(self, parent_id: str | None) -> int:
        if parent_id is None:
            return ROOT
        if parent_id == self._last_id and self.offsets:
            # A parent is nearly always the entry before; the table is asked only for branches.
            last = len(self.offsets) - 1
            if self._keys[last] == _key(parent_id):
                return last
        found = self.find(parent_id)
        return UNKNOWN if found is None else found

    def _candidates(self, key: int) -> Iterator[int]:
        mask = len(self._table) - 1
        slot = key * _SPREAD & mask
        while (position := self._table[slot]) != _EMPTY:
            if self._keys[position] == key:
                yield position
            slot = slot + 1 & mask

    def _put(self, position: int) -> None:
        mask = len(self._table) - 1
        slot = self._keys[position] * _SPREAD & mask
        while self._table[slot] != _EMPTY:
            slot = slot + 1 & mask
        self._table[slot] = position

    def _grow(self) -> None:
        self._table = _empty_table(2 * len(self._table))
        for position in range(len(self._keys)):
            self._put(position)


def _key(entry_id: str) -> int:
    return zlib.crc32(entry_id.encode("utf-8", "replace"))


def _empty_table(size: int) -> "array[int]":
    return array("i", [_EMPTY]) * size
