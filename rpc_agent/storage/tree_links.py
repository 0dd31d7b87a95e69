"""Which entries hang from which, across the front of a large file and the tail in memory. Reads ids, no contents.

Most files are chains with branches, and each part answers for itself. In others an id of the front comes again in the
tail, or a child stands before its parent: those links lead from one part to the other, and are kept here.
"""

import itertools
from collections.abc import Iterator, Sequence

from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.errors import EntryNotFound
from rpc_agent.session.entries import Entry
from rpc_agent.session.tree import SessionTree
from rpc_agent.session.warnings import MOST_OF_A_KIND, SessionWarning, WarningList
from rpc_agent.storage.entry_index import BEHIND, DEAD
from rpc_agent.storage.file_head import FileHead

Place = int | str
"""An entry: its position in the front, or its id in the tail. Going from place to place reads nothing."""


class TreeLinks:
    """Made once for a session; every question finishes the index of the front first."""

    def __init__(self, tree: SessionTree, head: FileHead | None) -> None:
        self._tree = tree
        self._head = head
        self._placed: dict[str, list[int]] = {}
        """Positions in the front that hang from an entry of the tail, by its id; in file order."""
        self._crossing: tuple[int, dict[int, list[str]]] = (0, {})
        """Ids of the tail that hang from an entry of the front, by its position; and how much was added by then."""
        self._seen = 0
        self._warnings: list[SessionWarning] = []

    def settle(self) -> None:
        """Take in what the tail says about the front: once, and again when the tail has grown."""
        head = self._head
        if head is None:
            return
        head.complete()
        if self._seen == self._tree.additions:
            return
        new_ids = [entry.id for entry in self._tree.newest(self._tree.additions - self._seen)]
        is_first = self._seen == 0
        self._seen = self._tree.additions
        is_changed = self._take_over(head, new_ids) | self._place_strays(head, new_ids)
        # Where the front hangs from the tail, whatever hangs there now may close a circle.
        is_changed = is_changed or bool(head.behind)
        if is_changed:
            self._cut_cycles(head)
        if is_changed or is_first:
            self._tree.note_broken_links()
            self._warnings = _broken_links(head)

    @property
    def warnings(self) -> list[SessionWarning]:
        """Missing parents and cycles of the front. Empty until it is indexed."""
        if self._head is None or not self._head.is_complete:
            return []
        self.settle()
        return self._warnings

    def place_of(self, entry_id: str) -> Place:
        """Raises EntryNotFound."""
        if self._tree.has(entry_id):
            return entry_id
        position = self._head.position_of(entry_id) if self._head else None
        if position is None:
            raise EntryNotFound(entry_id)
        return position

    def entry_at(self, place: Place) -> Entry:
        """Reads it, where it is in the front."""
        return self._front.entry_at(place) if isinstance(place, int) else self._tree.get(place)

    def objects_at(self, places: Sequence[Place]) -> list[JsonObject]:
        """Entries as they stand in the file. `places` in the order of the file."""
        positions = [place for place in places if isinstance(place, int)]
        in_front = self._front.objects_at(positions) if positions else []
        return [*in_front, *(self._tree.get(place).raw for place in places if isinstance(place, str))]

    def id_at(self, place: Place) -> str:
        """Reads it, where it is in the front."""
        return self._front.id_at(place) if isinstance(place, int) else place

    def behind(self, place: Place | None) -> Iterator[Place]:
        """What stands behind one in the file, in order; everything for None."""
        self.settle()
        if isinstance(place, str):
            return iter(self._tree.ids_behind(place))
        start = 0 if place is None else place + 1
        parents = self._front.index.parents if self._head else ()
        in_front = (at for at in range(start, len(parents)) if parents[at] != DEAD)
        return itertools.chain(in_front, self._tree.ids_behind(None))

    def roots(self) -> list[Place]:
        self.settle()
        in_front = self._front.index.roots() if self._head else []
        return [*in_front, *self._tree.roots]

    def children_of(self, places: Sequence[Place]) -> dict[Place, list[Place]]:
        """What hangs from each, in file order; those without children are left out."""
        self.settle()
        below = self._tree.children()
        positions = [place for place in places if isinstance(place, int)]
        in_front = self._front.index.children_of(positions) if positions else {}
        found: dict[Place, list[Place]] = {}
        for place in places:
            if isinstance(place, int):
                children: list[Place] = [*in_front.get(place, ()), *self._hanging_over().get(place, ())]
            else:
                children = [*self._placed_below(place), *below.get(place, ())]
            if children:
                found[place] = children
        return found

    def child_count(self, place: Place) -> int:
        self.settle()
        if isinstance(place, int):
            return self._front.index.child_counts()[place] + len(self._hanging_over().get(place, ()))
        return len(self._placed_below(place)) + len(self._tree.children().get(place, ()))

    @property
    def _front(self) -> FileHead:
        assert self._head is not None, "positions are those of a front"
        return self._head

    def _placed_below(self, entry_id: str) -> list[int]:
        placed = self._placed.get(entry_id, ())
        if not placed:
            return []
        index, behind = self._front.index, self._front.behind
        # What was placed may have moved on with the tail: it came again there, or its parent did.
        here = (at for at in placed if index.parents[at] == BEHIND and behind[at] == entry_id)
        return [at for at in here if at not in index.cuts]

    def _hanging_over(self) -> dict[int, list[str]]:
        """Looked for when somebody asks, for as long as nothing is added."""
        if self._crossing[0] != self._tree.additions:
            below = self._tree.children()
            parents = [each for each in below if each is not None and not self._tree.has(each)]
            found = {self._front.position_of(parent_id): below[parent_id] for parent_id in parents}
            crossing = {position: children for position, children in found.items() if position is not None}
            self._crossing = (self._tree.additions, crossing)
        return self._crossing[1]

    def _take_over(self, head: FileHead, new_ids: list[str]) -> bool:
        """An id of the front that comes again in the tail counts there."""
        # What the tail repeated once has given all it had.
        found = {head.index.find(entry_id): entry_id for entry_id in new_ids}
        parents = head.index.parents
        repeated = {at: entry_id for at, entry_id in found.items() if at is not None and parents[at] != DEAD}
        if not repeated:
            return False
        for entry_id in repeated.values():
            head.note_duplicate(entry_id)
        for at, orphans in head.index.give_away(repeated.keys()).items():
            self._place(head, repeated[at], orphans)
        return True

    def _place_strays(self, head: FileHead, new_ids: list[str]) -> bool:
        """The parent of a stray may stand in the tail; then it hangs there, whatever the front made of it."""
        placed = {entry_id: head.strays.pop(entry_id) for entry_id in new_ids if entry_id in head.strays}
        for entry_id, strays in placed.items():
            alive = [at for at in strays if head.index.parents[at] != DEAD]
            for at in alive:
                head.index.hang(at, BEHIND)
            self._place(head, entry_id, alive)
        return bool(placed)

    def _place(self, head: FileHead, entry_id: str, positions: list[int]) -> None:
        self._placed[entry_id] = sorted({*self._placed.get(entry_id, ()), *positions})
        head.behind.update(dict.fromkeys(positions, entry_id))

    def _cut_cycles(self, head: FileHead) -> None:
        """Cycles through both parts are cut as all are: at the first of each in the file."""
        head.index.settle()
        walks: dict[Place, int] = {}
        for walk, start in enumerate(head.behind):
            at: Place | None = start
            while at is not None and at not in walks:
                walks[at] = walk
                at = self._above(head, at)
            if at is None or walks[at] != walk:
                continue
            ring = [at]
            while (following := self._above(head, ring[-1])) is not None and following != at:
                ring.append(following)
            # A ring of the tail alone is cut there.
            if in_front := [each for each in ring if isinstance(each, int)]:
                head.index.cut(min(in_front))

    def _above(self, head: FileHead, at: Place) -> Place | None:
        if isinstance(at, int):
            parent = head.index.parents[at]
            if parent >= 0:
                return None if at in head.index.cuts else parent
            return head.behind.get(at) if parent == BEHIND else None
        parent_id = self._tree.parent_of(self._tree.get(at))
        return parent_id if parent_id is None or self._tree.has(parent_id) else head.position_of(parent_id)


def _broken_links(head: FileHead) -> list[SessionWarning]:
    found = WarningList()
    parents = head.index.parents
    strays = [(at, parent) for parent, each in head.strays.items() for at in each if parents[at] != DEAD]
    for at, parent_id in strays[:MOST_OF_A_KIND]:
        before = parents[at]
        instead = head.id_at(before) if before >= 0 else head.behind.get(at)
        found.add_missing_parent(head.id_at(at), parent_id, instead)
    if len(strays) > MOST_OF_A_KIND:
        found.add_uncounted("missingParent", len(strays) - MOST_OF_A_KIND)
    for at in sorted(head.index.cuts)[:MOST_OF_A_KIND]:
        found.add_cycle(head.id_at(at))
    return found.all()
