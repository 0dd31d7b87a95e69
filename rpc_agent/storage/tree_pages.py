"""Pages of a session's entries and of its tree, for sessions of any size. Reads only, and never recurses."""

import itertools
from collections.abc import Container, Iterator, Sequence

from msgspec import Struct

from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.session.entries import Entry
from rpc_agent.session.tree import SessionTree
from rpc_agent.storage.file_head import FileHead
from rpc_agent.storage.tree_links import Place, TreeLinks


class EntryPage(Struct, frozen=True):
    """`next_cursor` is the id to pass as `since` for the next page, None when there is none."""

    entries: list[Entry]
    leaf_id: str | None
    next_cursor: str | None


class ObjectPage(Struct, frozen=True):
    """The same with entries as they stand in the file."""

    objects: list[JsonObject]
    leaf_id: str | None
    next_cursor: str | None


class TreeNode(Struct, frozen=True):
    """An entry and its place. `parent_id` is where it hangs after repairs."""

    entry: Entry
    parent_id: str | None
    child_count: int
    label: str | None
    label_timestamp: str | None


class TreePage(Struct, frozen=True):
    """`next_cursor` is the id to pass as `cursor` for the next page, None when there is none."""

    nodes: list[TreeNode]
    leaf_id: str | None
    next_cursor: str | None


class TreePages:
    """Questions about the entries of a head (None if everything is in memory) and of the tree behind it."""

    def __init__(self, tree: SessionTree, head: FileHead | None, links: TreeLinks, leaf_id: str | None) -> None:
        self._tree = tree
        self._head = head
        self._links = links
        self._leaf_id = leaf_id

    def entries(self, since: str | None, limit: int | None) -> EntryPage:
        found, cursor = self._page(self._behind(since), limit)
        return EntryPage([self._links.entry_at(place) for place in found], self._leaf_id, cursor)

    def objects(self, since: str | None, limit: int) -> ObjectPage:
        """Like `entries`, and much faster where they are in the front."""
        found, cursor = self._page(self._behind(since), limit)
        return ObjectPage(self._links.objects_at(found), self._leaf_id, cursor)

    def nodes(self, *, root_id: str | None, depth: int | None, cursor: str | None, limit: int | None) -> TreePage:
        inside = None if root_id is None and depth is None else set(self.below(root_id, depth))
        return self.nodes_inside(inside, cursor, limit)

    def nodes_inside(self, inside: Container[Place] | None, cursor: str | None, limit: int | None) -> TreePage:
        """Those at one of these places; None: all."""
        wanted = self._behind(cursor)
        if inside is not None:
            wanted = (place for place in wanted if place in inside)
        found, next_cursor = self._page(wanted, limit)
        return TreePage([self.node(place) for place in found], self._leaf_id, next_cursor)

    def node(self, place: Place) -> TreeNode:
        entry = self._links.entry_at(place)
        label, label_timestamp = self.label(entry.id)
        return TreeNode(entry, self._tree.parent_of(entry), self._links.child_count(place), label, label_timestamp)

    def label(self, entry_id: str) -> tuple[str | None, str | None]:
        """Label and its timestamp, both None when there is none."""
        entry = self._tree.label_entry(entry_id) or (self._head.labels.get(entry_id) if self._head else None)
        return (entry.label, entry.timestamp) if entry is not None and entry.label is not None else (None, None)

    def entry_at(self, place: Place) -> Entry:
        return self._links.entry_at(place)

    def children(self, entry_id: str | None) -> list[str]:
        """Ids in file order; the roots for None. Raises EntryNotFound."""
        if entry_id is None:
            found = self._links.roots()
        else:
            place = self._links.place_of(entry_id)
            found = self._links.children_of([place]).get(place, [])
        return [self._links.id_at(place) for place in found]

    def tops(self, root_id: str | None) -> list[Place]:
        """Where the tree below `root_id` begins: there, or at all roots for None. Raises EntryNotFound."""
        return self._links.roots() if root_id is None else [self._links.place_of(root_id)]

    def children_of(self, places: Sequence[Place]) -> dict[Place, list[Place]]:
        """What hangs from each, in file order; those without children are left out."""
        return self._links.children_of(places)

    def below(self, root_id: str | None, depth: int | None) -> Iterator[Place]:
        """`root_id` (all roots for None) and what is at most `depth` levels below it."""
        level = self.tops(root_id)
        seen = set(level)
        yield from level
        levels = 0
        while level and (depth is None or levels < depth):
            found = self._links.children_of(level)
            level = [child for place in level for child in found.get(place, ()) if child not in seen]
            seen.update(level)
            yield from level
            levels += 1

    def _behind(self, entry_id: str | None) -> Iterator[Place]:
        """What stands behind an entry, in file order; everything for None. Raises EntryNotFound."""
        return self._links.behind(None if entry_id is None else self._links.place_of(entry_id))

    def _page(self, places: Iterator[Place], limit: int | None) -> tuple[list[Place], str | None]:
        if limit is None:
            return list(places), None
        found = list(itertools.islice(places, limit))
        more = next(places, None) is not None
        return found, self._links.id_at(found[-1]) if found and more else None
