"""A session's tree, drawn."""

from typing import Any

from rpc_agent.cli.chat_tree import TreeLine, draw


def node(entry_id: str, parent_id: str | None, role: str = "user", **more: Any) -> Any:
    return {"entryId": entry_id, "parentId": parent_id, "type": "message", "role": role, "preview": entry_id, **more}


def test_a_straight_session_is_a_straight_list() -> None:
    nodes = [node("a", None), node("b", "a", "assistant"), node("c", "b")]
    assert draw(nodes, "c") == [
        TreeLine("a", "  user: a", False),
        TreeLine("b", "  assistant: b", False),
        TreeLine("c", "> user: c", True),
    ]


def test_a_fork_moves_its_branches_in_and_keeps_each_together() -> None:
    nodes = [node("a", None), node("b", "a"), node("c", "b"), node("d", "a", label="second try")]
    assert [line.text for line in draw(nodes, "d")] == [
        "  user: a",
        "    user: b",
        "    user: c",
        ">   user: d [second try]",
    ]


def test_markers_and_settings_are_not_drawn_and_their_children_hang_where_they_hung() -> None:
    nodes = [
        node("m", None, type="model_change", role=None),
        node("s", "m", "system"),
        node("a", "s"),
        node("b", "a"),
        node("leaf", "a", type="custom", role=None),
        node("c", "leaf"),
        node("back", "b", type="custom", role=None),
    ]
    assert [(line.entry_id, line.is_leaf) for line in draw(nodes, "back")] == [("a", False), ("b", True), ("c", False)]


def test_a_session_far_deeper_than_pythons_stack_is_drawn() -> None:
    nodes = [node(str(n), str(n - 1) if n else None) for n in range(20_000)]
    assert len(draw(nodes, "19999")) == 20_000


def test_an_empty_session_has_no_lines() -> None:
    assert draw([], None) == []
