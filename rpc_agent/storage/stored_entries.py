"""The entries of one session and every question about them, whatever of the file is in memory. Writes nothing.

A large file is known by its tail; its front is indexed when a question needs it, or in the background.
"""

import functools
from collections.abc import Callable

import anyio.to_thread

from rpc_agent.session.context_reach import ContextReach
from rpc_agent.session.entries import Entry
from rpc_agent.session.names import snapshot_name
from rpc_agent.session.tree import SessionTree, is_marker
from rpc_agent.session.warnings import SessionWarning, WarningList
from rpc_agent.storage.file_head import FileHead
from rpc_agent.storage.tree_links import TreeLinks
from rpc_agent.storage.tree_pages import EntryPage, TreePage, TreePages


class StoredEntries:
    """A tree, and the front of a large file where only the tail is in the tree."""

    def __init__(self, tree: SessionTree, head: FileHead | None) -> None:
        self._tree = tree
        self._head = head
        self._links = TreeLinks(tree, head)
        self._leaf_id = tree.leaf_id
        self._warnings = WarningList()
        self._tail_warnings: list[SessionWarning] = []
        """Their lines count from where the tail begins."""

    @property
    def leaf_id(self) -> str | None:
        """Where the next entry will hang; None before the first and after moving above the root."""
        return self._leaf_id

    @property
    def warnings(self) -> list[SessionWarning]:
        """Every damage found so far, once. More may come while the front of a large file is indexed."""
        found = WarningList()
        links = self._links.warnings
        found.extend(self._head.warnings if self._head else [])
        found.extend(links)
        found.extend_from_part(self._tail_warnings, self._lines_before_tail)
        found.extend(self._warnings.all())
        found.extend(self._tree.warnings.all())
        return found.all()

    @property
    def _lines_before_tail(self) -> int | None:
        if self._head is None:
            return 0
        return self._head.lines if self._head.is_complete else None

    @property
    def session_name(self) -> str | None:
        """The name given last. For a large file whose front is not indexed: as far as its tail says."""
        entry = self._tree.name_entry() or (self._head.name_entry if self._head else None)
        if entry is not None:
            return entry.name
        return snapshot_name(self.branch()) if self._head and not self._head.is_complete else None

    @property
    def index_is_complete(self) -> bool:
        """Whether every entry is known; until then names and labels may be missing, and look-ups may take long."""
        return self._head is None or self._head.is_complete

    async def complete_index(self) -> None:
        """Index the front of a large file in a worker thread, letting the event loop go on."""
        if self._head is not None and not self._head.is_complete:
            await anyio.to_thread.run_sync(functools.partial(self._head.complete, politely=True))

    async def index_some(self, seconds: float) -> bool:
        """Index the front of a large file for about this long, in a worker thread; whether there is more to do."""
        if self._head is None or self._head.is_complete:
            return False
        return await anyio.to_thread.run_sync(self._head.work, seconds)

    async def know(self, *entry_ids: str | None) -> None:
        """Before questions about these entries: index the front if one of them is not at hand."""
        if not all(entry_id is None or self._tree.has(entry_id) for entry_id in entry_ids):
            await self.complete_index()

    def get(self, entry_id: str) -> Entry:
        """Raises EntryNotFound."""
        return self._tree.get(entry_id)

    def parent_of(self, entry: Entry) -> str | None:
        """The id of the entry this one hangs from after repairs; None for a root."""
        return self._tree.parent_of(entry)

    def label(self, entry_id: str) -> str | None:
        return self.label_with_time(entry_id)[0]

    def label_with_time(self, entry_id: str) -> tuple[str | None, str | None]:
        """The label of an entry and when it was given, both None when it has none."""
        return self.pages.label(entry_id)

    def labels(self) -> dict[str, str]:
        """All labels by entry id."""
        merged = {**(self._head.labels if self._head else {}), **self._tree.label_entries()}
        return {target: entry.label for target, entry in merged.items() if entry.label is not None}

    def branch(self, leaf_id: str | None = None) -> list[Entry]:
        """The path to `leaf_id` (default: the leaf), oldest first.

        For a large file it begins where the context does: at the kept range of the newest compaction on it.
        `whole_branch` begins at the root. Raises EntryNotFound.
        """
        leaf = self._leaf_id if leaf_id is None else leaf_id
        return self._tree.path(leaf, is_enough=self._reach() if self._head else None)

    def whole_branch(self, leaf_id: str | None = None) -> list[Entry]:
        """The path from the root, however long it takes to read."""
        return self._tree.path(self._leaf_id if leaf_id is None else leaf_id)

    def is_on_branch(self, entry_id: str) -> bool:
        """Whether an entry lies on the path to the leaf, found without reading what the path is made of."""
        return self._on_path_to(self._leaf_id)(entry_id)

    def left_behind(self, place: str | None) -> list[Entry]:
        """What of the path to the leaf is not on the path to `place`, oldest first; only that is read."""
        is_shared = self._on_path_to(place)
        path = self._tree.path(self._leaf_id, is_enough=lambda entry: is_shared(entry.id))
        return path[1:] if path and is_shared(path[0].id) else path

    def _on_path_to(self, leaf_id: str | None) -> Callable[[str], bool]:
        """Whether an id is on that path, answered from memory and the index."""
        near: set[str] = set()
        marks = bytearray()
        head, at = self._head, leaf_id
        while at is not None and at not in near:
            if self._tree.has(at):
                near.add(at)
                at = self._tree.parent_of(self._tree.get(at))
            elif head is not None:
                self._links.settle()
                # The front may lead back into the tail, in files whose children stand before their parents.
                marks = marks or bytearray(head.size())
                top = head.mark_path(at, marks)
                at = None if top is None else self._tree.parent_of(self._tree.get(top))
            else:
                break

        def is_on_path(entry_id: str) -> bool:
            if entry_id in near or not marks or head is None or self._tree.has(entry_id):
                return entry_id in near
            position = head.position_of(entry_id)
            return position is not None and bool(marks[position])

        return is_on_path

    def nearest_substantial(self, leaf_id: str | None = None) -> Entry | None:
        """The leaf, or if it is a marker, a label or a name, its nearest ancestor that is not."""
        return self._tree.climb(self._leaf_id if leaf_id is None else leaf_id, lambda entry: not is_marker(entry))

    def entries(self, since: str | None = None, limit: int | None = None) -> EntryPage:
        """Entries in file order, those strictly after `since`. Raises EntryNotFound."""
        return self.pages.entries(since, limit)

    def tree_nodes(
        self,
        *,
        root_id: str | None = None,
        depth: int | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> TreePage:
        """Entries with their place in the tree, in file order; of `root_id` and down to `depth` levels below."""
        return self.pages.nodes(root_id=root_id, depth=depth, cursor=cursor, limit=limit)

    def children(self, entry_id: str | None) -> list[str]:
        """Ids of the entries below one, in file order; the roots for None. Raises EntryNotFound."""
        return self.pages.children(entry_id)

    def entry_count(self) -> int:
        if self._head is None:
            return len(self._tree)
        self._links.settle()
        return len(self._head.index) - self._head.index.dead_count + len(self._tree)

    def _reach(self) -> Callable[[Entry], bool]:
        """Says where the context of a branch begins, without reading a large file's front for nothing."""
        reach = ContextReach()

        def is_enough(entry: Entry) -> bool:
            if reach(entry):
                return True
            if self._head is None or reach.first_kept_id is None or not self._tree.has(entry.id):
                return False
            if entry.parent_id is None or self._tree.has(entry.parent_id):
                return False
            if reach.has_own_tail:
                return True
            # Where damage took the parent, what stands in for it may be in either part.
            parent_id = self._tree.parent_of(entry)
            if parent_id is None or self._tree.has(parent_id):
                return False
            return not self._on_path_to(parent_id)(reach.first_kept_id)

        return is_enough

    @property
    def pages(self) -> TreePages:
        """Questions about entries and tree, as they are at this moment."""
        return TreePages(self._tree, self._head, self._links, self._leaf_id)
