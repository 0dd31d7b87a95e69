"""get_tree of a hundred thousand entries: one long chain, one bush, and a forest of roots."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.agent_server import Home, serving
from tests.support.pages import all_pages
from tests.support.sessions import HEADER, line

pytestmark = pytest.mark.anyio

ENTRIES = 100_000
PATIENCE = 60.0
Shape = Callable[[int], int | None]
CHAIN: Shape = lambda at: at - 1 if at else None  # noqa: E731
BUSH: Shape = lambda at: 0 if at else None  # noqa: E731
FOREST: Shape = lambda at: None  # noqa: E731


def written(place: Path, shape: Shape, entries: int = ENTRIES) -> Path:
    file = place / "large.jsonl"
    with file.open("wb") as lines:
        lines.write(line(HEADER))
        for at in range(entries):
            parent = shape(at)
            link = "null" if parent is None else f'"e{parent}"'
            lines.write(
                f'{{"type":"message","id":"e{at}","parentId":{link},"timestamp":"2026-01-01T00:00:00.000Z",'
                f'"message":{{"role":"user","content":"word {at}","timestamp":1}}}}\n'.encode()
            )
    return file


@pytest.mark.parametrize(("shape", "first_children"), [(CHAIN, 1), (BUSH, ENTRIES - 1)])
async def test_flat_it_is_whole_whatever_its_shape(tmp_path: Path, shape: Shape, first_children: int) -> None:
    home = Home(tmp_path)
    home.script()
    file = written(tmp_path, shape)
    async with serving(home) as client:
        await client.request("open_session", {"path": str(file)}, timeout=PATIENCE)
        nodes = await all_pages(client, "get_tree", "nodes", timeout=PATIENCE)
        client.received.clear()
        parents = [shape(at) for at in range(ENTRIES)]
        assert [node["entryId"] for node in nodes] == [f"e{at}" for at in range(ENTRIES)]
        assert [node["parentId"] for node in nodes] == [None if at is None else f"e{at}" for at in parents]
        assert nodes[0]["childCount"] == first_children


async def test_nested_a_chain_is_followed_piece_by_piece(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script()
    file = written(tmp_path, CHAIN)
    async with serving(home) as client:
        await client.request("open_session", {"path": str(file)}, timeout=PATIENCE)
        for first, last, is_more in ((0, 100, True), (100, 200, True), (ENTRIES - 70, ENTRIES - 1, False)):
            params = {"form": "nested", "rootId": f"e{first}"}
            (node,) = (await client.request("get_tree", params, timeout=PATIENCE))["tree"]
            found = [node["entry"]["id"]]
            while node["children"]:
                (node,) = node["children"]
                found.append(node["entry"]["id"])
            assert (found, node.get("more", False)) == ([f"e{at}" for at in range(first, last + 1)], is_more)


@pytest.mark.parametrize("shape", [BUSH, FOREST], ids=["bush", "forest"])
async def test_nested_a_bush_and_a_forest_are_whole(tmp_path: Path, shape: Shape) -> None:
    home = Home(tmp_path)
    home.script()
    file = written(tmp_path, shape)
    async with serving(home) as client:
        await client.request("open_session", {"path": str(file)}, timeout=PATIENCE)
        tree = (await client.request("get_tree", {"form": "nested"}, timeout=PATIENCE))["tree"]
        client.received.clear()
        side = tree[0]["children"] if shape is BUSH else tree
        assert len(side) == ENTRIES - (shape is BUSH)
        assert all(node["children"] == [] and "more" not in node for node in side)
