"""Where the entries of a large file are: ids, parents and offsets in compact arrays. Reads no file.

At most 32 bytes an entry: offset 8, key 4, parent 4, children 4, and 5 to 11 of the hash table. Ids are kept only as
32-bit keys; whoever knows the file says through `id_at` whether a candidate is the right one.
"""

import itertools
import zlib
from array import array
from collections.abc import Callable, Collection, Iterator

ROOT = -1
UNKNOWN = -2
"""The parent of an entry whose parent was not in the file before it."""
DEAD = -3
"""Stands where the parent would: the entry came again further down, and counts there."""
BEHIND = -4
"""The parent of an entry that hangs from one behind the part of the file that is indexed."""

_EMPTY = -1
_FIRST_TABLE = 1 << 10
_SPREAD = 0x9E3779B1
_FEW = 16
# Children stand close behind their parents as a rule; for more parents than this one pass over all is surely short.


class EntryIndex:
    """Entries by position (0 is the first of the file). An id that comes twice counts where it comes last."""

    def __init__(self, id_at: Callable[[int], str]) -> None:
        self._id_at = id_at
        self.offsets = array("Q")
        self._keys = array("I")
        self.parents = array("i")
        self._table = _empty_table(_FIRST_TABLE)
        self._last_id: str | None = None
        self._counts: array[int] | None = None
        self._forward: set[int] = set()
        self._moved: dict[int, int] = {}
        """From the place of an entry that came again to the one where it counts."""
        self.dead_count = 0
        self.cuts: set[int] = set()
        """Where cycles are cut, once all links are known: the first of each in the file is a root."""

    def __len__(self) -> int:
        return len(self.offsets)

    @property
    def bytes(self) -> int:
        """The memory all arrays take."""
        arrays = (self.offsets, self._keys, self.parents, self._table, self._counts or array("I"))
        return sum(len(each) * each.itemsize for each in arrays)

    def add(self, entry_id: str, parent_id: str | None, offset: int) -> int | None:
        """Note the next entry; gives the position that its id had until now, None when it is new."""
        position, before = len(self.offsets), self.find(entry_id)
        parent = self._parent_position(parent_id)
        self._counts = None
        self._last_id = entry_id
        self.offsets.append(offset)
        self._keys.append(_key(entry_id))
        self.parents.append(parent)
        if before is not None:
            self._replace(before, position)
        elif position * 4 >= len(self._table) * 3:
            self._grow()
        else:
            self._put(position)
        return before

    def find(self, entry_id: str) -> int | None:
        """The position of an entry, None when it is not there."""
        return next((at for at in self._candidates(_key(entry_id)) if self._id_at(at) == entry_id), None)

    def hang(self, position: int, parent: int) -> None:
        """Note the parent of an entry once it is known."""
        self.parents[position] = parent
        self._counts = None
        if parent >= position:
            # Only with such a link can there be a cycle.
            self._forward.add(position)
        else:
            self._forward.discard(position)

    def settle(self) -> None:
        """Once all links are known: what hung from an entry that came again hangs from where it counts."""
        if self._moved:
            for at, parent in enumerate(self.parents):
                if parent in self._moved:
                    self.hang(at, self._last_place(parent))
            self._moved.clear()
        self._cut_cycles()

    def give_away(self, positions: Collection[int]) -> dict[int, list[int]]:
        """The entries at these positions come again behind the part that is indexed, and count there.

        Gives what hung from each: that hangs BEHIND now. Wants `settle` afterwards.
        """
        for at in positions:
            self._die(at)
        orphans = self._hanging_from(positions)
        for at in itertools.chain.from_iterable(orphans.values()):
            self.hang(at, BEHIND)
        return orphans

    def cut(self, position: int) -> None:
        """A cycle that leads out of this part and back is cut here."""
        self.cuts.add(position)
        self._counts = None

    def _hanging_from(self, positions: Collection[int]) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for at, parent in enumerate(self.parents):
            if parent in positions:
                found.setdefault(parent, []).append(at)
        return found

    def _last_place(self, position: int) -> int:
        while position in self._moved:
            position = self._moved[position]
        return position

    def _cut_cycles(self) -> None:
        self._counts = None
        self.cuts.clear()
        is_done = bytearray(len(self.parents)) if self._forward else bytearray()
        for start in self._forward:
            trail: dict[int, None] = {}
            at = start
            while at >= 0 and not is_done[at] and at not in trail:
                trail[at] = None
                at = self.parents[at]
            if at in trail:
                ring = list(trail)
                self.cuts.add(min(ring[ring.index(at) :]))
            for each in trail:
                is_done[each] = 1

    def child_counts(self) -> "array[int]":
        """How many entries hang from each position."""
        if self._counts is None:
            counts = array("I", bytes(4 * len(self.parents)))
            for parent in self.parents:
                if parent >= 0:
                    counts[parent] += 1
            for position in self.cuts:
                if self.parents[position] >= 0:
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

    def children_of(self, positions: Collection[int]) -> dict[int, list[int]]:
        """The positions that hang from each of many, in file order: one pass, however far they are apart."""
        if len(positions) < _FEW:
            return {position: self.children(position) for position in positions}
        found = self._hanging_from(positions if isinstance(positions, frozenset | set) else frozenset(positions))
        return {parent: [at for at in children if at not in self.cuts] for parent, children in found.items()}

    def roots(self) -> list[int]:
        return [at for at, parent in enumerate(self.parents) if parent in (ROOT, UNKNOWN) or at in self.cuts]

    def _replace(self, before: int, position: int) -> None:
        mask = len(self._table) - 1
        slot = self._keys[before] * _SPREAD & mask
        while self._table[slot] != before:
            slot = slot + 1 & mask
        self._table[slot] = position
        self._moved[before] = position
        self._die(before)

    def _die(self, position: int) -> None:
        self.parents[position] = DEAD
        self._forward.discard(position)
        self.dead_count += 1
        self._counts = None

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
        for position, parent in enumerate(self.parents):
            if parent != DEAD:
                self._put(position)


def _key(entry_id: str) -> int:
    return zlib.crc32(entry_id.encode("utf-8", "replace"))


def _empty_table(size: int) -> "array[int]":
    return array("i", [_EMPTY]) * size
