"""Corners of the projection that the cases leave out, and what following a branch costs."""

import time

from hypothesis import given
from hypothesis import strategies as st

from rpc_agent.context.growing import Growing
from rpc_agent.context.projection import Projector, project
from rpc_agent.conversation.messages import message_text
from tests.support.conversations import answer, compaction, edit, entries, label, note, said, system

TAIL = [{"role": "system", "content": "old"}, {"role": "user", "content": "kept", "timestamp": 1}]


def shown(path):
    return [(item.entry.id, message_text(item.message)) for item in project(path).messages]


def test_a_retained_tail_stands_in_for_entries_the_path_lacks():
    path = entries(compaction("sum", keep="elsewhere", retainedTail=TAIL), said("next"))
    assert shown(path) == [("e0", "sum"), ("e0", "kept"), ("e1", "next")]


def test_entries_are_preferred_to_the_retained_tail():
    path = entries(said("old"), said("kept as it is"), compaction("sum", keep=1, retainedTail=TAIL))
    assert shown(path) == [("e2", "sum"), ("e1", "kept as it is")]


def test_a_compaction_that_names_itself_keeps_its_tail_only():
    path = entries(said("old"), compaction("sum", keep=1, retainedTail=TAIL))
    assert shown(path) == [("e1", "sum"), ("e1", "kept")]


def test_an_edit_of_a_forgotten_entry_changes_nothing():
    path = entries(said("old"), said("kept"), edit(0, {"content": "new"}), compaction("sum", keep=1))
    assert shown(path) == [("e3", "sum"), ("e1", "kept")]


def test_the_kept_range_has_no_system_messages():
    path = entries(said("a"), system("S"), said("b"), compaction("sum", keep=0), system("S2"))
    assert shown(path) == [("e3", "sum"), ("e0", "a"), ("e2", "b"), ("e4", "S2")]


def test_bookkeeping_is_on_the_path_and_out_of_sight():
    path = entries(said("a"), note(), label(0), answer("b"))
    assert shown(path) == [("e0", "a"), ("e3", "b")]


def test_moving_to_another_branch_shows_that_branch():
    path, other = entries(said("a"), answer("b")), entries(said("x"))
    projector = Projector(path)
    projector.move_to(other)
    assert projector.projection == project(other)


def test_a_projection_in_hand_never_changes():
    path = entries(said("a"), answer("b"), edit(0))
    projector = Projector(path[:1])
    first = projector.projection
    for entry in path[1:]:
        projector.append(entry)
    assert first == project(path[:1])


def test_appending_to_a_long_branch_costs_what_it_costs_on_a_short_one():
    raws = [said("q"), answer("a")] * 5000
    path = entries(*raws, said("last"))
    short, long = Projector(path[:10]), Projector(path[:-1])

    def seconds(projector):
        start = time.perf_counter()
        for _ in range(200):
            projector.append(path[-1])
            assert projector.projection.messages[-1].entry is path[-1]
        return time.perf_counter() - start

    # A copy of 10,000 items at each step would be a hundred times slower, not a few times.
    assert min(seconds(long) for _ in range(3)) < 10 * min(seconds(short) for _ in range(3))


@given(st.lists(st.integers()), st.lists(st.integers()), st.slices(12))
def test_a_view_is_the_list_as_it_was(first, second, part):
    growing = Growing(first)
    view = growing.view()
    growing.extend(second)

    assert (list(view), len(view), view == first, view[part]) == (first, len(first), True, tuple(first[part]))
    assert growing.view() == first + second
    assert growing.view().continues(view)
