"""A session's tree, drawn and walked."""

from typing import Any

import pytest

from rpc_agent.cli.chat_tree import UNICODE_RAILS, TreeLine, draw
from rpc_agent.cli.tree_walk import Walk, begin


def node(entry_id: str, parent_id: str | None, role: str | None = "user", **more: Any) -> Any:
    return {"entryId": entry_id, "parentId": parent_id, "type": "message", "role": role, "preview": entry_id, **more}


def line(entry_id: str, text: str = "", *, is_leaf: bool = False, is_user: bool = False) -> TreeLine:
    return TreeLine(entry_id, text, is_leaf, is_user)


def test_a_straight_session_is_a_straight_list() -> None:
    nodes = [node("a", None), node("b", "a", "assistant"), node("c", "b")]
    assert draw(nodes, "c") == [
        line("a", "* user: a", is_user=True),
        line("b", "* assistant: b"),
        line("c", "> user: c", is_leaf=True, is_user=True),
    ]


def test_what_was_said_stands_there_to_its_last_character_and_what_was_not_does_not() -> None:
    nodes = [node("a", None, preview="Look at this:"), node("b", "a", "assistant", preview="")]
    assert [each.text for each in draw(nodes, "b")] == ["* user: Look at this:", "> assistant"]


def test_a_fork_draws_rails_and_keeps_each_branch_together_and_marks_the_active_one() -> None:
    nodes = [
        node("a", None),
        node("b", "a"),
        node("c", "b"),
        node("c2", "b"),
        node("d", "a", label="second try"),
        node("e", "d"),
    ]
    assert [each.text for each in draw(nodes, "e")] == [
        "* user: a",
        "  |- user: b",
        "  |  |- user: c",
        "  |  `- user: c2",
        "* `- user [second try]: d",
        ">    user: e",
    ]
    assert draw(nodes, "e", UNICODE_RAILS)[2].text == "  │  ├─ user: c"


def test_rails_leave_room_for_the_text_however_often_a_session_forked() -> None:
    nodes = [node("0", None)]
    for n in range(60):
        nodes += [node(f"{n}x", str(n)), node(str(n + 1), str(n))]
    assert max(len(each.text) for each in draw(nodes, "60")) < 60


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
    assert [(each.entry_id, each.is_leaf) for each in draw(nodes, "back")] == [("a", False), ("b", True), ("c", False)]


def test_a_session_far_deeper_than_pythons_stack_is_drawn() -> None:
    nodes = [node(str(n), str(n - 1) if n else None) for n in range(20_000)]
    assert len(draw(nodes, "19999")) == 20_000


def test_an_empty_session_has_no_lines() -> None:
    assert draw([], None) == []


TEN = [line(str(n), is_leaf=n == 7, is_user=n % 3 == 0) for n in range(10)]


@pytest.mark.parametrize(
    ("keys", "at", "top"),
    [
        ([], 7, 4),
        (["up"], 6, 4),
        (["down", "down", "down", "down"], 9, 6),
        (["home"], 0, 0),
        (["page-up"], 3, 3),
        (["page-up", "page-down"], 7, 4),
        (["end"], 9, 6),
        (["left"], 6, 4),
        (["left", "left"], 3, 3),
        (["right"], 9, 6),
        (["home", "left"], 0, 0),
        (["k", "j", "x", ""], 7, 4),
        (["2"], 1, 1),
        (["1", "0"], 9, 6),
        (["1", "5"], 4, 1),
        (["0"], 7, 4),
    ],
)
def test_a_key_moves_the_cursor_and_the_lines_in_sight_with_it(keys: list[str], at: int, top: int) -> None:
    walk = begin(TEN, rows=4)
    for key in keys:
        walk = walk.press(key)
    assert (walk.at, walk.top, walk.choice) == (at, top, None)
    assert [number for number, _ in walk.in_sight()] == list(range(top + 1, top + 5))


@pytest.mark.parametrize(
    ("key", "choice"),
    [("enter", "go"), ("s", "summarize"), ("l", "label"), ("f", "fork"), ("q", "leave"), ("escape", "leave")],
)
def test_a_key_ends_the_walk_with_a_choice(key: str, choice: str) -> None:
    assert begin(TEN, rows=4).press("up").press(key) == Walk(TEN, rows=4, at=6, top=4, choice=choice)  # type: ignore[arg-type]
