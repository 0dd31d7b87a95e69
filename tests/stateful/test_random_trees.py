"""Random trees, walked at random: the context is always that of the file, and nothing is ever out of reach."""

import asyncio
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpc_agent.context.projection import project
from rpc_agent.conversation.usage import make_usage
from rpc_agent.session.replay import read_session
from tests.support.agent_server import CheckingClient, Home, serving
from tests.support.pages import all_pages
from tests.support.sessions import CountingIdentity, assistant, raw_entry, user, write_session

NOTES = {"text": "## Goal\nWhat was tried there."}
KINDS = (
    "user", "user", "assistant", "assistant", "tool", "custom", "note", "name", "compaction", "branch", "edit", "label",
)  # fmt: skip
PLACES = st.integers(0, 40)
NODES = st.lists(st.tuples(st.sampled_from(KINDS), PLACES, st.booleans()), min_size=1, max_size=14)
"""Kind, which of the entries before it is meant where a choice is to be made, whether it forks off."""
MOVES = st.lists(st.tuples(PLACES, st.sampled_from(["move", "move", "summarize", "label", "say"])), max_size=7)


def tree_of(nodes: Sequence[tuple[str, int, bool]]) -> list[dict[str, Any]]:
    raws: list[dict[str, Any]] = []
    for at, (kind, pick, forks) in enumerate(nodes):
        parent = None
        if raws:
            parent = ([None, *(raw["id"] for raw in raws)])[pick % (at + 1)] if forks else raws[-1]["id"]
        path = _path(raws, parent)
        raws.append(raw_entry(f"e{at}", parent, **_fields(kind, at, path, pick)))
    return raws


def _path(raws: Sequence[dict[str, Any]], leaf: str | None) -> list[str]:
    """Ids from the root to the leaf: an own walk, to hold the server's against."""
    parents = {raw["id"]: raw["parentId"] for raw in raws}
    path = []
    while leaf is not None:
        path.append(leaf)
        leaf = parents[leaf]
    return path[::-1]


def _fields(kind: str, at: int, path: Sequence[str], pick: int) -> dict[str, Any]:
    target = path[pick % len(path)] if path else None
    answer = {**assistant(f"answer {at}"), "usage": make_usage()}
    match kind:
        case "user":
            return {"type": "message", "message": user(f"words {at}")}
        case "tool":
            call = {"type": "toolCall", "id": f"c{at}", "name": "ls", "arguments": {}}
            return {"type": "message", "message": {**answer, "content": [call], "stopReason": "toolUse"}}
        case "custom":
            return {"type": "custom_message", "customType": "x", "content": f"told {at}", "display": True}
        case "note":
            return {"type": "custom", "customType": "somebody's"}
        case "name":
            return {"type": "session_info", "name": f"name {at}"}
        case "branch":
            return {"type": "branch_summary", "fromId": "root", "summary": f"tried {at}"}
        case "compaction" if target is not None:
            return {"type": "compaction", "summary": f"so far {at}", "firstKeptEntryId": target, "tokensBefore": 9}
        case "edit" if target is not None:
            return {"type": "context_edit", "targetId": target, "replacement": None}
        case "label" if target is not None:
            return {"type": "label", "targetId": target, "label": f"label {at}"}
        case _:
            return {"type": "message", "message": answer}


async def context(client: CheckingClient) -> list[Any]:
    messages: list[Any] = (await client.request("get_messages"))["messages"]
    return messages


def replayed(file: Path) -> list[Any]:
    """The context as the file alone tells it."""
    tree = read_session(file.read_bytes(), draw_id=CountingIdentity().draw_id).tree
    return [item.message for item in project(tree.path(tree.leaf_id)).messages]


async def reachable(client: CheckingClient) -> set[str]:
    """What a client finds that follows every page of the flat tree, its links checked on the way."""
    nodes = await all_pages(client, "get_tree", "nodes", limit=3)
    ids = {node["entryId"] for node in nodes}
    assert all(node["parentId"] is None or node["parentId"] in ids for node in nodes)
    children = [node["parentId"] for node in nodes]
    assert all(node["childCount"] == children.count(node["entryId"]) for node in nodes)
    return ids


async def nested(client: CheckingClient, depth: int) -> set[str]:
    """What a client finds that asks again below every `more`."""
    found: set[str] = set()
    waiting = list((await client.request("get_tree", {"form": "nested", "depth": depth}))["tree"])
    while waiting:
        node = waiting.pop()
        if node.get("more"):
            assert node["children"] == []
            params = {"form": "nested", "depth": depth, "rootId": node["entry"]["id"]}
            (node,) = (await client.request("get_tree", params))["tree"]
        found.add(node["entry"]["id"])
        waiting += node["children"]
    return found


async def walk(
    client: CheckingClient, file: Path, places: Sequence[str | None], moves: Sequence[tuple[int, str]]
) -> None:
    for pick, what in moves:
        target = places[pick % len(places)]
        before, leaf = await context(client), (await client.request("get_state"))["leafId"]
        match what:
            case "say":
                await client.request("prompt", {"message": f"on {pick}", "wait": True})
                assert await context(client) == replayed(file)
                continue
            case "label":
                moved = await client.request("navigate_tree", {"targetId": target, "label": "here"})
            case "summarize":
                moved = await client.request("navigate_tree", {"targetId": target, "summarize": True})
            case _:
                moved = await client.request("navigate_tree", {"targetId": target})
        assert moved["leafId"] == (await client.request("get_state"))["leafId"]
        assert await context(client) == replayed(file)
        there = await context(client)
        # Back to the very leaf: to an entry that gives its text back one gets by its child alone.
        entry = None if leaf is None else (await client.request("get_entry", {"entryId": leaf}))["entry"]
        if moved["leafId"] != leaf and _is_stood_on(entry):
            await client.request("navigate_tree", {"targetId": leaf})
            assert await context(client) == before
            await client.request("navigate_tree", {"targetId": moved["leafId"]})
            assert await context(client) == there


def _is_stood_on(entry: dict[str, Any] | None) -> bool:
    if entry is None:
        return True
    return not (entry["type"] == "custom_message" or entry.get("message", {}).get("role") == "user")


async def check(
    place: Path, nodes: Sequence[tuple[str, int, bool]], moves: Sequence[tuple[int, str]], depth: int
) -> None:
    home = Home(place)
    home.script(*[{"text": f"said {at}"} for at in range(10)], summaries=[NOTES] * 10)
    raws = tree_of(nodes)
    file = write_session(place / "tree.jsonl", *raws)
    async with serving(home) as client:
        await client.request("open_session", {"path": str(file)})
        assert await context(client) == replayed(file)
        await walk(client, file, [None, *(raw["id"] for raw in raws)], moves)
        last = await context(client)
        stored = {json.loads(line)["id"] for line in file.read_bytes().splitlines()[1:]}
        assert await reachable(client) == stored
        assert await nested(client, depth) == stored
    async with serving(home) as client:
        await client.request("open_session", {"path": str(file)})
        assert await context(client) == last, "a restart finds the place"


@settings(max_examples=40, deadline=None)
@given(NODES, MOVES, st.integers(1, 4))
def test_wherever_one_goes_the_context_is_that_of_the_file_and_everything_stays_in_reach(
    tmp_path_factory: pytest.TempPathFactory,
    nodes: list[tuple[str, int, bool]],
    moves: list[tuple[int, str]],
    depth: int,
) -> None:
    place = tmp_path_factory.mktemp("tree")
    asyncio.run(check(place, nodes, moves, depth))
    shutil.rmtree(place)
