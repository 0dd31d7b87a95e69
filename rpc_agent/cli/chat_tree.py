"""Draws a session's tree as numbered lines. Pure: nodes in, lines out."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rpc_agent_client.types import TreeNode

# What a person would want to go back to; settings and markers are left out of the drawing.
_SHOWN = frozenset({"message", "compaction", "branch_summary", "custom_message"})


@dataclass(frozen=True, slots=True)
class TreeLine:
    entry_id: str
    text: str
    is_leaf: bool


def draw(nodes: Sequence[TreeNode], leaf_id: str | None) -> list[TreeLine]:
    """One line an entry, in the order of a walk that shows older branches first; only a fork moves the text in.

    The line where the next message will hang is marked with an arrow.
    """
    shown = [node for node in nodes if node["type"] in _SHOWN and node.get("role") != "system"]
    parents = _visible_parents(nodes, {node["entryId"] for node in shown})
    leaf = parents.get(leaf_id, None) if leaf_id is not None else None
    children: defaultdict[str | None, list[TreeNode]] = defaultdict(list)
    for node in shown:
        children[parents.get(node["parentId"])].append(node)
    return [_line(node, depth, node["entryId"] == leaf) for node, depth in _walk(children)]


def _visible_parents(nodes: Sequence[TreeNode], shown: set[str]) -> dict[str | None, str | None]:
    """For each entry the nearest one that is drawn: itself, or an ancestor."""
    nearest: dict[str | None, str | None] = {None: None}
    for node in nodes:  # A parent stands before its children in the file.
        own = node["entryId"]
        nearest[own] = own if own in shown else nearest.get(node["parentId"])
    return nearest


def _walk(children: defaultdict[str | None, list[TreeNode]]) -> Iterator[tuple[TreeNode, int]]:
    # A stack, for sessions are deeper than Python's own.
    waiting = [(node, 0) for node in reversed(children[None])]
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        following = children[node["entryId"]]
        deeper = depth + (len(following) > 1)
        waiting += [(child, deeper) for child in reversed(following)]


def _line(node: TreeNode, depth: int, is_leaf: bool) -> TreeLine:
    marker = "> " if is_leaf else "  "
    label = f" [{node['label']}]" if node.get("label") else ""
    who = node.get("role") or node["type"]
    preview = " ".join(node["preview"].split())
    return TreeLine(node["entryId"], f"{marker}{'  ' * depth}{who}: {preview}{label}", is_leaf)
