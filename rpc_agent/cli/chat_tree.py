"""Draws a session's tree as lines. Pure: nodes in, lines out."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from msgspec import Struct
from rpc_agent_client.types import TreeNode

# What a person would want to go back to; settings and markers are left out of the drawing.
_SHOWN = frozenset({"message", "compaction", "branch_summary", "custom_message"})
# Columns of a drawing within a drawing: of 80 there must be some left for the text.
_WIDEST_RAILS = 30


class Rails(Struct, frozen=True):
    """What leads to a branch and to the last one of them, and what stands beside the lines below each."""

    branch: str = "|- "
    last: str = "`- "
    passing: str = "|  "
    below: str = "   "


UNICODE_RAILS = Rails("├─ ", "└─ ", "│  ")


class TreeLine(Struct, frozen=True):
    """`text` begins with `>` where the next message will hang, with `*` on the way from the root to there."""

    entry_id: str
    text: str
    is_leaf: bool
    is_user: bool


def draw(nodes: Sequence[TreeNode], leaf_id: str | None, rails: Rails | None = None) -> list[TreeLine]:
    """One line an entry, in the order of a walk that shows older branches first; only a fork moves the text in."""
    shown = [node for node in nodes if node["type"] in _SHOWN and node.get("role") != "system"]
    nearest = _visible_ancestors(nodes, {node["entryId"] for node in shown})
    parents = {node["entryId"]: nearest.get(node["parentId"]) for node in shown}
    children: defaultdict[str | None, list[TreeNode]] = defaultdict(list)
    for node in shown:
        children[parents[node["entryId"]]].append(node)
    leaf = nearest.get(leaf_id)
    branch = _way_to(leaf, parents)
    return [_line(node, lead, node["entryId"] == leaf, branch) for node, lead in _walk(children, rails or Rails())]


def _visible_ancestors(nodes: Sequence[TreeNode], shown: set[str]) -> dict[str | None, str | None]:
    """For each entry the nearest one that is drawn: itself, or an ancestor."""
    nearest: dict[str | None, str | None] = {None: None}
    for node in nodes:  # A parent stands before its children in the file.
        own = node["entryId"]
        nearest[own] = own if own in shown else nearest.get(node["parentId"])
    return nearest


def _way_to(leaf: str | None, parents: dict[str, str | None]) -> set[str]:
    """The leaf and its ancestors."""
    way: set[str] = set()
    while leaf is not None and leaf not in way:
        way.add(leaf)
        leaf = parents.get(leaf)
    return way


def _walk(children: defaultdict[str | None, list[TreeNode]], rails: Rails) -> Iterator[tuple[TreeNode, str]]:
    """Each node with what leads to it."""
    # A stack, for sessions are deeper than Python's own.
    waiting = _below(children[None], "", rails)
    while waiting:
        node, lead, lead_below = waiting.pop()
        yield node, lead
        waiting += _below(children[node["entryId"]], lead_below, rails)


def _below(nodes: Sequence[TreeNode], lead: str, rails: Rails) -> list[tuple[TreeNode, str, str]]:
    """The children of one node, the last one first; each with what leads to it and to what is below it."""
    if len(nodes) == 1:
        return [(nodes[0], lead, lead)]
    lead, last = lead[-_WIDEST_RAILS:], len(nodes) - 1
    found = [
        (
            node,
            lead + (rails.last if at == last else rails.branch),
            lead + (rails.below if at == last else rails.passing),
        )
        for at, node in enumerate(nodes)
    ]
    return found[::-1]


def _line(node: TreeNode, lead: str, is_leaf: bool, branch: set[str]) -> TreeLine:
    own = node["entryId"]
    marker = ">" if is_leaf else "*" if own in branch else " "
    who = _SPEAKERS.get(node.get("role") or node["type"], node.get("role") or node["type"])
    label = f" [{node['label']}]" if node.get("label") else ""
    preview = " ".join(node["preview"].split())
    said = f": {preview}" if preview else ""
    return TreeLine(own, f"{marker} {lead}{who}{label}{said}", is_leaf, is_user=node.get("role") == "user")


_SPEAKERS = {"toolResult": "tool", "branch_summary": "summary of a branch", "custom_message": "note"}
