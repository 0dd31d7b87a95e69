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
from rpc_agent.storage.tree_pages import TreeNode

_MAX_DEPTH = 100
"""JSON readers recurse, and some give up at a few hundred levels."""
_AT_ONCE = 64
"""Entries read in one go: about a millisecond when they come from the disk."""
_PREVIEW_CHARS = 120
"""One line in a tree view."""


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
    roots = [root_id] if root_id is not None else store.children(None)
    return {"tree": await _branches(store, roots, levels), "leafId": store.leaf_id}


async def _branches(store: SessionStore, root_ids: Sequence[str], levels: int) -> list[dict[str, Any]]:
    """Built level by level: a session is as deep as it is long, and Python's stack is not."""
    roots = await _nested_nodes(store, root_ids)
    level = roots
    for _ in range(levels):
        below: list[dict[str, Any]] = []
        for at, node in enumerate(level):
            if at % _AT_ONCE == 0:
                await checkpoint()
            children = store.children(node["entry"]["id"])
            if children:
                node["children"] = await _nested_nodes(store, children)
                below += node["children"]
        level = below
    for at, node in enumerate(level):
        if at % _AT_ONCE == 0:
            await checkpoint()
        if store.children(node["entry"]["id"]):
            node["more"] = True
    return roots


async def _nested_nodes(store: SessionStore, entry_ids: Sequence[str]) -> list[dict[str, Any]]:
    nodes = []
    for at, entry_id in enumerate(entry_ids, 1):
        nodes.append(_nested_node(store, entry_id))
        if at % _AT_ONCE == 0:
            await checkpoint()
    return nodes


def _nested_node(store: SessionStore, entry_id: str) -> dict[str, Any]:
    label, label_timestamp = store.label_with_time(entry_id)
    return {"entry": store.get(entry_id).raw, "children": [], **_label(label, label_timestamp)}


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
    return " ".join(_text(entry).split())[:_PREVIEW_CHARS]


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
