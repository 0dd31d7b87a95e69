"""Pages of a session's entries and of its tree, for sessions of any size. Reads only, and never recurses."""

import itertools
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass

from rpc_agent.errors import EntryNotFound
from rpc_agent.session.entries import Entry, LabelEntry
from rpc_agent.session.tree import SessionTree
from rpc_agent.storage.file_head import FileHead


@dataclass(frozen=True, slots=True)
class EntryPage:
    """`next_cursor` is the id to pass as `since` for the next page, None when there is none."""

    entries: list[Entry]
    leaf_id: str | None
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class TreeNode:
    """An entry and its place. `parent_id` is where it hangs after repairs."""

    entry: Entry
    parent_id: str | None
    child_count: int
    label: str | None
    label_timestamp: str | None


@dataclass(frozen=True, slots=True)
class TreePage:
    """`next_cursor` is the id to pass as `cursor` for the next page, None when there is none."""

    nodes: list[TreeNode]
    leaf_id: str | None
    next_cursor: str | None


class TreePages:
    """Questions about the entries of a head (None if everything is in memory) and of the tree behind it."""

    def __init__(self, tree: SessionTree, head: FileHead | None, leaf_id: str | None) -> None:
        self._tree = tree
        self._head = head
        self._leaf_id = leaf_id

    def entries(self, since: str | None, limit: int | None) -> EntryPage:
        found, cursor = _page(self._after(since), limit)
        return EntryPage(found, self._leaf_id, cursor)

    def nodes(self, *, root_id: str | None, depth: int | None, cursor: str | None, limit: int | None) -> TreePage:
        inside = None if root_id is None and depth is None else set(self.below(root_id, depth))
        return self.nodes_inside(inside, cursor, limit)

    def nodes_inside(self, inside: Container[str] | None, cursor: str | None, limit: int | None) -> TreePage:
        """Those with an id in `inside`; None: all."""
        wanted = self._after(cursor)
        if inside is not None:
            wanted = (entry for entry in wanted if entry.id in inside)
        found, next_cursor = _page(wanted, limit)
        return TreePage([self._node(entry) for entry in found], self._leaf_id, next_cursor)

    def label(self, entry_id: str) -> tuple[str | None, str | None]:
        """Label and its timestamp, both None when there is none."""
        entry = self._label_entry(entry_id)
        return (entry.label, entry.timestamp) if entry is not None and entry.label is not None else (None, None)

    def children(self, entry_id: str | None) -> list[str]:
        if entry_id is not None:
            self._tree.get(entry_id)
        return self._head_children(entry_id) + self._tree.children().get(entry_id, [])

    def _node(self, entry: Entry) -> TreeNode:
        label, label_timestamp = self.label(entry.id)
        count = self._head_child_count(entry.id) + len(self._tree.children().get(entry.id, ()))
        return TreeNode(entry, self._tree.parent_of(entry), count, label, label_timestamp)

    def _label_entry(self, entry_id: str) -> LabelEntry | None:
        return self._tree.label_entry(entry_id) or (self._head.labels.get(entry_id) if self._head else None)

    def _after(self, entry_id: str | None) -> Iterator[Entry]:
        """The entries behind one, in file order; all of them for None."""
        if entry_id is None:
            return itertools.chain(self._head_entries(0), self._tree)
        if self._tree.has(entry_id):
            return _behind(entry_id, iter(self._tree))
        position = self._head.position_of(entry_id) if self._head else None
        if position is None:
            raise EntryNotFound(entry_id)
        return itertools.chain(self._head_entries(position + 1), self._tree)

    def _head_entries(self, start: int) -> Iterator[Entry]:
        if self._head is None:
            return
        self._head.complete()
        for position in range(start, len(self._head.index)):
            entry = self._head.entry_at(position)
            # An id that comes again in the tail counts there.
            if not self._tree.has(entry.id):
                yield entry

    def below(self, root_id: str | None, depth: int | None) -> Iterator[str]:
        """The ids of `root_id` (all roots for None) and of what is at most `depth` levels below it."""
        level = self.children(None) if root_id is None else [self._tree.get(root_id).id]
        seen: set[str] = set(level)
        yield from level
        levels = 0
        while level and (depth is None or levels < depth):
            next_level: list[str] = []
            for entry_id in level:
                new = [child for child in self.children(entry_id) if child not in seen]
                seen.update(new)
                next_level += new
                yield from new
            level, levels = next_level, levels + 1

    def _head_children(self, entry_id: str | None) -> list[str]:
        if self._head is None:
            return []
        self._head.complete()
        index = self._head.index
        if entry_id is None:
            positions = index.roots()
        else:
            position = self._head.position_of(entry_id)
            positions = [] if position is None else index.children(position)
        # The parent of a stray may stand in the tail; then it hangs there, whatever the front made of it.
        placed = {parent: at for parent, at in self._head.strays.items() if self._tree.has(parent)}
        repeated = self._head.superseded(self._tree)
        if placed:
            elsewhere = {at for parent, each in placed.items() if parent != entry_id for at in each}
            here = placed.get(entry_id, []) if entry_id is not None else []
            cuts = self._cuts_across(self._head, placed)
            found = {*positions, *here} - elsewhere
            positions = sorted(found | cuts if entry_id is None else found - cuts)
        return [self._head.id_at(at) for at in positions if at not in repeated]

    def _cuts_across(self, head: FileHead, placed: Mapping[str, list[int]]) -> set[int]:
        """Where cycles through front and tail are cut: at the first of each in the file."""
        cuts: set[int] = set()
        for position in itertools.chain.from_iterable(placed.values()):
            start = head.id_at(position)
            ring: dict[str, None] = {}
            at: str | None = start
            while at is not None and at not in ring:
                ring[at] = None
                at = self._tree.parent_of(self._tree.get(at))
            if at == start:
                cuts.update(sorted(head.index.find(each) or 0 for each in ring if not self._tree.has(each))[:1])
        return cuts

    def _head_child_count(self, entry_id: str) -> int:
        if self._head is None:
            return 0
        self._head.complete()
        if self._head.strays or self._head.superseded(self._tree):
            return len(self._head_children(entry_id))
        position = self._head.position_of(entry_id)
        return 0 if position is None else self._head.index.child_counts()[position]


def _page(entries: Iterator[Entry], limit: int | None) -> tuple[list[Entry], str | None]:
    if limit is None:
        return list(entries), None
    found = list(itertools.islice(entries, limit))
    more = next(entries, None) is not None
    return found, found[-1].id if found and more else None


def _behind(entry_id: str, entries: Iterator[Entry]) -> Iterator[Entry]:
    for entry in entries:
        if entry.id == entry_id:
            break
    return entries
