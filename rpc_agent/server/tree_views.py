"""A session's tree as get_tree shows it: flat pages of any size, or nested as deep as JSON readers can follow."""

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
    tree = [await _branch(store, entry_id, levels) for entry_id in roots]
    return {"tree": tree, "leafId": store.leaf_id}


async def _branch(store: SessionStore, root_id: str, levels: int) -> dict[str, Any]:
    """Built level by level: a session is as deep as it is long, and Python's stack is not."""
    root = _nested_node(store, root_id)
    level = [root]
    for _ in range(levels):
        below = []
        for node in level:
            node["children"] = [_nested_node(store, child) for child in store.children(node["entry"]["id"])]
            below += node["children"]
            await checkpoint()
        level = below
    for node in level:
        if store.children(node["entry"]["id"]):
            node["more"] = True
    return root


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
