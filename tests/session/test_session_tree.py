"""The tree: paths, roots and children end for every shape of links."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpc_agent.errors import EntryNotFound
from rpc_agent.session.entries import read_entry
from rpc_agent.session.entry_ids import new_entry_id
from rpc_agent.session.names import clean_name
from rpc_agent.session.tree import SessionTree
from tests.support.sessions import raw_entry


def tree_of(*raws: dict[str, object]) -> SessionTree:
    tree = SessionTree()
    for raw in raws:
        entry = read_entry(raw)
        assert entry is not None
        tree.add(entry)
    return tree


def path_ids(tree: SessionTree, leaf: str | None) -> list[str]:
    return [entry.id for entry in tree.path(leaf)]


def test_a_path_goes_from_the_root_to_the_leaf_and_the_leaf_is_the_last_entry() -> None:
    tree = tree_of(raw_entry("a", None), raw_entry("b", "a"), raw_entry("c", "a"))
    assert (tree.leaf_id, path_ids(tree, "c"), path_ids(tree, None)) == ("c", ["a", "c"], [])


def test_an_unknown_entry_is_an_error() -> None:
    with pytest.raises(EntryNotFound):
        tree_of().get("nope")


def test_an_entry_that_is_its_own_parent_and_a_ring_are_cut_with_a_warning() -> None:
    tree = tree_of(raw_entry("s", "s"), raw_entry("a", "c"), raw_entry("b", "a"), raw_entry("c", "b"))
    assert (path_ids(tree, "s"), path_ids(tree, "c")) == (["s"], ["a", "b", "c"])
    assert tree.children() == {None: ["s", "a"], "a": ["b"], "b": ["c"]}
    assert [warning.kind for warning in tree.warnings.all()] == ["cycle", "cycle"]


def test_a_parent_that_stands_behind_its_child_is_found() -> None:
    tree = tree_of(raw_entry("b", "a"), raw_entry("a", None))
    assert (path_ids(tree, "b"), tree.roots) == (["a", "b"], ["a"])


def test_the_last_label_and_the_last_name_of_the_file_count() -> None:
    tree = tree_of(
        raw_entry("a", None),
        raw_entry("l1", "a", type="label", targetId="a", label="one"),
        raw_entry("n1", "l1", type="session_info", name="first"),
        raw_entry("b", "a"),
        raw_entry("l2", "b", type="label", targetId="b", label="two"),
        raw_entry("l3", "l2", type="label", targetId="a"),
        raw_entry("n2", "a", type="session_info", name="second"),
    )
    assert (tree.labels(), tree.name) == ({"b": "two"}, "second")


@given(st.lists(st.tuples(st.integers(0, 7), st.one_of(st.none(), st.integers(0, 9))), max_size=12))
def test_every_entry_is_below_exactly_one_root_whatever_the_links(links: list[tuple[int, int | None]]) -> None:
    tree = tree_of(*(raw_entry(str(at), None if parent is None else str(parent)) for at, parent in links))
    below = tree.children()
    reached: list[str] = []
    level = below.get(None, [])
    while level:
        reached += level
        level = [child for each in level for child in below.get(each, [])]
    assert sorted(reached) == sorted(entry.id for entry in tree)
    for entry in tree:
        assert path_ids(tree, entry.id)[-1] == entry.id


def test_a_taken_id_is_drawn_again_and_a_broken_source_gets_a_uuid() -> None:
    draws = iter(["a" * 8, "b" * 8])
    assert new_entry_id(lambda: next(draws), lambda: "uuid", {"a" * 8}.__contains__) == "b" * 8
    assert new_entry_id(lambda: "a" * 8, lambda: "uuid", {"a" * 8}.__contains__) == "uuid"
    assert new_entry_id(lambda: "a" * 8, lambda: "uuid", set().__contains__, certain=False) == "a" * 16


def test_a_time_without_a_zone_is_that_of_every_machine() -> None:
    program = "from rpc_agent.session.entries import milliseconds; print(milliseconds('2026-01-01T00:00:00'))"
    for zone in ("UTC", "Asia/Tokyo"):
        command = [sys.executable, "-c", program]
        told = subprocess.run(command, env={**os.environ, "TZ": zone}, capture_output=True, check=True, timeout=30)
        assert int(told.stdout) == 1_767_225_600_000


@pytest.mark.parametrize(("given_name", "stored"), [("  a\nb\r\n c ", "a b c"), ("\n", ""), ("x  y", "x  y")])
def test_a_name_is_stored_on_one_line(given_name: str, stored: str) -> None:
    assert clean_name(given_name) == stored
