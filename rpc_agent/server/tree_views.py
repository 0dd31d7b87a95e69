"""A session's tree as get_tree shows it: flat pages of any size, or nested as deep as JSON readers can follow."""

from collections.abc import Sequence
from typing import Any

from anyio.lowlevel import checkpoint

from rpc_agent.conversation.messages import Message, message_text, tool_calls
from rpc_agent.session.entries import (
    BranchSummaryEntry,
    CompactionEntry,
    CustomEntry,
    CustomMessageEntry,
    Entry,
    LabelEntry,
    MessageEntry,
    ModelChangeEntry,
    SessionInfoEntry,
    ThinkingLevelChangeEntry,
)
from rpc_agent.storage.gentle_reading import tree_page
from rpc_agent.storage.session_store import SessionStore
from rpc_agent.storage.tree_links import Place
from rpc_agent.storage.tree_pages import TreeNode, TreePages

_MAX_DEPTH = 100
"""JSON readers recurse, and some give up at a few hundred levels."""
_AT_ONCE = 64
"""Entries read in one go: about a millisecond when they come from the disk."""
_PREVIEW_CHARS = 120
"""One line in a tree view."""
_USUALLY_ENOUGH = 400
"""Characters of a text that make a line; the rest of a megabyte need not be looked at."""


async def flat_tree(
    store: SessionStore, *, root_id: str | None, depth: int | None, cursor: str | None, limit: int | None
) -> dict[str, Any]:
    page = await tree_page(store, root_id=root_id, depth=depth, cursor=cursor, limit=limit)
    more = {} if page.next_cursor is None else {"nextCursor": page.next_cursor}
    return {"nodes": [_node(node) for node in page.nodes], "leafId": page.leaf_id, **more}


async def nested_tree(store: SessionStore, *, root_id: str | None, depth: int | None) -> dict[str, Any]:
    """At most `depth` levels below the roots, and never more than a reader can take; `more` marks where it stops."""
    levels = min(depth if depth is not None else _MAX_DEPTH, _MAX_DEPTH)
    await store.complete_index()
    pages = store.pages
    return {"tree": await _branches(pages, pages.tops(root_id), levels), "leafId": store.leaf_id}


async def _branches(pages: TreePages, tops: Sequence[Place], levels: int) -> list[dict[str, Any]]:
    """Built level by level: a session is as deep as it is long, and Python's stack is not."""
    roots = await _nested_nodes(pages, tops)
    level = dict(zip(tops, roots, strict=True))
    for _ in range(levels):
        below: dict[Place, dict[str, Any]] = {}
        for place, children in pages.children_of(list(level)).items():
            level[place]["children"] = nodes = await _nested_nodes(pages, children)
            below.update(zip(children, nodes, strict=True))
        level = below
    for place in pages.children_of(list(level)):
        level[place]["more"] = True
    return roots


async def _nested_nodes(pages: TreePages, places: Sequence[Place]) -> list[dict[str, Any]]:
    nodes = []
    for at, place in enumerate(places, 1):
        entry = pages.entry_at(place)
        nodes.append({"entry": entry.raw, "children": [], **_label(*pages.label(entry.id))})
        if at % _AT_ONCE == 0:
            await checkpoint()
    return nodes


def _node(node: TreeNode) -> dict[str, Any]:
    entry = node.entry
    role = {"role": entry.message["role"]} if isinstance(entry, MessageEntry) else {}
    return {
        "entryId": entry.id,
        "parentId": node.parent_id,
        "type": entry.raw.get("type", "unknown"),
        **role,
        "timestamp": entry.timestamp,
        "preview": preview(entry),
        **_label(node.label, node.label_timestamp),
        "childCount": node.child_count,
    }


def _label(label: str | None, timestamp: str | None) -> dict[str, Any]:
    return {} if label is None else {"label": label, "labelTimestamp": timestamp}


def preview(entry: Entry) -> str:
    """One line that lets a person recognise the entry."""
    text = _text(entry)
    line = " ".join(text[:_USUALLY_ENOUGH].split())
    if len(line) < _PREVIEW_CHARS:
        line = " ".join(text.split())
    return line[:_PREVIEW_CHARS]


def _text(entry: Entry) -> str:
    match entry:
        case MessageEntry(message=message) | CustomMessageEntry(message=message):
            return _message_text(message)
        case CompactionEntry(summary=summary) | BranchSummaryEntry(summary=summary):
            return summary
        case LabelEntry(label=label):
            return label or ""
        case SessionInfoEntry(name=name):
            return name or ""
        case ModelChangeEntry(provider=provider, model_id=model_id):
            return f"{provider}/{model_id}"
        case ThinkingLevelChangeEntry(thinking_level=level):
            return level
        case CustomEntry(custom_type=custom_type):
            return custom_type
        case _:
            return ""


def _message_text(message: Message) -> str:
    text = message_text(message)
    if not text and message["role"] == "assistant":
        return ", ".join(f"{call['name']}()" for call in tool_calls(message))
    return text
