"""Reads of a whole session that leave the event loop free: the index first, then a few entries at a time."""

from collections.abc import AsyncIterator, Sequence

from anyio.lowlevel import checkpoint

from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.session.entries import Entry
from rpc_agent.storage.session_store import SessionStore
from rpc_agent.storage.tree_links import Place
from rpc_agent.storage.tree_pages import ObjectPage, TreeNode, TreePage

_AT_ONCE = 64
"""Entries read in one go: about a millisecond when they come from the disk."""
MOST_ENTRIES = 20_000
"""On one page: some 20 MB at a kilobyte each. Who asks for more gets a cursor."""


async def entry_pages(store: SessionStore) -> AsyncIterator[Sequence[Entry]]:
    """All entries in file order."""
    await store.complete_index()
    since: str | None = None
    while True:
        page = store.entries(since, _AT_ONCE)
        yield page.entries
        if page.next_cursor is None:
            return
        since = page.next_cursor
        await checkpoint()


async def object_page(store: SessionStore, since: str | None, limit: int | None) -> ObjectPage:
    """Entries as they stand in the file, those strictly after `since`; at most MOST_ENTRIES. Raises EntryNotFound."""
    await store.complete_index()
    most = min(limit or MOST_ENTRIES, MOST_ENTRIES)
    found: list[JsonObject] = []
    while True:
        page = store.pages.objects(since, min(_AT_ONCE, most - len(found)))
        found += page.objects
        since = page.next_cursor
        if since is None or len(found) >= most:
            return ObjectPage(found, page.leaf_id, since)
        await checkpoint()


async def tree_page(
    store: SessionStore, *, root_id: str | None, depth: int | None, cursor: str | None, limit: int | None
) -> TreePage:
    """Like `SessionStore.tree_nodes`, of at most MOST_ENTRIES. Raises EntryNotFound."""
    await store.complete_index()
    inside = None if root_id is None and depth is None else await _below(store, root_id, depth)
    most = min(limit or MOST_ENTRIES, MOST_ENTRIES)
    found: list[TreeNode] = []
    while True:
        page = store.pages.nodes_inside(inside, cursor, min(_AT_ONCE, most - len(found)))
        found += page.nodes
        cursor = page.next_cursor
        if cursor is None or len(found) >= most:
            return TreePage(found, page.leaf_id, cursor)
        await checkpoint()


async def _below(store: SessionStore, root_id: str | None, depth: int | None) -> set[Place]:
    inside: set[Place] = set()
    for place in store.pages.below(root_id, depth):
        inside.add(place)
        if len(inside) % _AT_ONCE == 0:
            await checkpoint()
    return inside
