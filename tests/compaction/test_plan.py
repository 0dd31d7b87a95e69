"""Cuts and plans: what is summarised, what is kept, and that nothing is lost between."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rpc_agent.compaction.compact import CompactionOutcome, compaction_fields
from rpc_agent.compaction.cut_point import Range, find_cut, summarised_range
from rpc_agent.compaction.planning import plan_compaction
from rpc_agent.compaction.policy import CompactionBudget
from rpc_agent.context.projection import project
from rpc_agent.conversation.messages import message_text
from rpc_agent.errors import AlreadyCompacted, NothingToCompact
from rpc_agent.session.entries import new_entry
from tests.support.context_cases import simple_estimates
from tests.support.conversations import (
    TIMESTAMP,
    answer,
    branch_summary,
    call,
    compaction,
    edit,
    entries,
    label,
    note,
    result,
    said,
    shell,
    system,
)


def planned(path, keep):
    return plan_compaction(path, project(path), CompactionBudget(keep_recent_tokens=keep), simple_estimates())


def texts(messages):
    return [message_text(message) for message in messages]


@pytest.mark.parametrize("after", [[], [note("leaf")], [label(0)], [{"type": "session_info", "name": "x"}]])
def test_a_second_compaction_is_refused_until_something_was_said(after):
    with pytest.raises(AlreadyCompacted):
        planned(entries(said("a"), answer("b"), compaction("s", keep=1), *after), 1)


@pytest.mark.parametrize(
    "raws", [[], [said("short")], [said("a"), answer("b")], [system("S"), said("q")], [result("1", "x")]]
)
def test_nothing_to_summarise_is_said_so(raws):
    with pytest.raises(NothingToCompact, match="before its most recent 1000 tokens"):
        planned(entries(*raws), 1000)


def test_markers_in_front_of_what_is_kept_are_kept_with_it():
    path = entries(said("old"), answer("a"), note("state"), label(0), note("state"), said("n" * 400), answer("b"))
    plan = planned(path, 1)
    assert plan.kept_entry_ids == ("e6",), "the turn is cut"
    plan = planned(path, 50)
    assert (plan.first_kept_entry_id, plan.kept_entry_ids) == ("e2", ("e2", "e3", "e4", "e5", "e6"))


def test_what_has_no_tokens_may_be_all_that_is_kept():
    path = entries(said("x" * 400), answer(""))
    budget = CompactionBudget(keep_recent_tokens=0, reserve_tokens=100)
    plan = plan_compaction(path, project(path), budget, simple_estimates(), window=200, tokens_before=250)
    assert (plan.first_kept_entry_id, plan.is_split_turn, texts(plan.kept_messages)) == ("e1", True, [""])


def test_a_turn_that_is_cut_is_summarised_apart():
    path = entries(
        said("old"),
        answer("done"),
        said("big task"),
        answer("x" * 40, call("1")),
        result("1", "r" * 400),
        answer("end"),
    )
    plan = planned(path, 50)

    assert (plan.is_split_turn, plan.turn_start_entry_id, plan.first_kept_entry_id) == (True, "e2", "e5")
    assert texts(plan.messages_to_summarize) == ["old", "done"]
    assert [message["role"] for message in plan.turn_prefix_messages] == ["user", "assistant", "toolResult"]
    assert (plan.summarized_entry_ids, plan.kept_entry_ids) == (("e0", "e1", "e2", "e3", "e4"), ("e5",))
    assert plan.calls == 2


def test_a_rewritten_input_is_not_abandoned_with_its_attempt():
    raws = [said("q" * 40), answer("a"), said("w" * 400), answer("", stop="error")]
    moved = planned(entries(*raws, edit(3)), 10)
    stayed = planned(entries(*raws, edit(3), edit(2, {"content": "w" * 399})), 10)
    assert (moved.first_kept_entry_id, stayed.first_kept_entry_id) == ("e3", "e2")


def test_a_cut_inside_a_retained_tail_carries_what_it_keeps():
    tail = [{"role": "user", "content": "t1 " * 20}, {"role": "user", "content": "t2 " * 20}]
    path = entries(compaction("s", keep="gone", retainedTail=tail), said("next"), answer("a"))
    plan = planned(path, 10)
    outcome = CompactionOutcome(plan=plan, summary="S", details={}, usage=None, estimated_tokens_after=1)
    fields = compaction_fields(outcome, entry_id="new", timestamp=1, thinking_level="off")

    assert (plan.first_kept_entry_id, texts(plan.messages_to_summarize)) == (None, ["t1 " * 20])
    assert (fields["firstKeptEntryId"], texts(fields["retainedTail"])) == ("new", ["t2 " * 20, "next", "a"])
    after = [*path, new_entry("compaction", fields, entry_id="new", parent_id="e2", timestamp=TIMESTAMP)]
    assert texts(item.message for item in project(after).messages) == ["S", "t2 " * 20, "next", "a"]


def test_file_operations_go_on_from_the_last_compaction_unless_a_hook_wrote_it():
    details = {"readFiles": ["a", "b"], "modifiedFiles": ["c"]}
    tail = [
        said("x" * 80),
        answer("", call("1", "edit", path="a"), call("2", "read", path=5)),
        result("1", "ok"),
        said("end"),
    ]
    ours = planned(entries(said("q"), compaction("s", keep=0, details=details), *tail), 1)
    hook = planned(entries(said("q"), compaction("s", keep=0, details=details, fromHook=True), *tail), 1)

    assert ours.file_operations.details() == {"readFiles": ["b"], "modifiedFiles": ["a", "c"]}
    assert hook.file_operations.details() == {"readFiles": [], "modifiedFiles": ["a"]}


WORDS = st.integers(0, 60).map(lambda n: "w" * n)
STEPS = st.one_of(
    WORDS.map(said),
    st.builds(lambda text, ids: answer(text, *map(call, ids)), WORDS, st.lists(st.sampled_from("12"), max_size=2)),
    st.builds(result, st.sampled_from("12"), WORDS),
    st.builds(shell, WORDS, WORDS),
    WORDS.map(system),
    WORDS.map(branch_summary),
    st.just(note("state")),
    st.integers(0, 20).map(label),
    st.integers(0, 20).map(edit),
    st.builds(lambda text, keep: compaction(text, keep=keep), WORDS, st.integers(0, 20)),
)


@given(st.lists(STEPS, max_size=30), st.integers(0, 60))
def test_a_plan_divides_the_context_and_never_parts_a_call_from_its_result(raws, keep):
    path = entries(*raws)
    projection = project(path)
    try:
        plan = planned(path, keep)
    except (NothingToCompact, AlreadyCompacted):
        return

    assert plan.summarized_entry_ids + plan.kept_entry_ids == tuple(entry.id for entry in projection.entries)
    spoken = [m.message for m in projection.messages if m.message["role"] not in ("system", "compactionSummary")]
    assert [*plan.messages_to_summarize, *plan.turn_prefix_messages, *plan.kept_messages] == spoken
    if plan.kept_messages:
        assert plan.kept_messages[0]["role"] != "toolResult"
    assert plan.is_split_turn == bool(plan.turn_prefix_messages)


@given(st.lists(STEPS, max_size=30), st.integers(0, 60), st.integers(0, 60))
def test_the_newest_part_of_a_range_has_the_cuts_of_the_whole(raws, most, less):
    projection, estimate = project(entries(*raws)), simple_estimates()
    whole, newest = (summarised_range(projection, keep, estimate) for keep in (10**9, most))
    assert not whole.older

    for keep in {most, min(most, less)}:
        assert described_cut(newest, keep, estimate) == described_cut(whole, keep, estimate)


def described_cut(found: Range, keep, estimate):
    """What lies before the cut, what is kept, and the turn it divides."""
    cut = find_cut(found.steps, keep, estimate)
    if cut is None:
        return None
    before = [item.message for item in found.older if item.message["role"] != "system"]
    before += [step.message for step in found.steps[: cut.at] if step.message is not None]
    turn = None if cut.turn_start is None else found.steps[cut.turn_start]
    return before, list(found.steps[cut.boundary :]), turn


@given(st.lists(STEPS, max_size=30), st.integers(0, 60))
def test_what_was_planned_is_what_the_next_projection_shows(raws, keep):
    # An edit is written after what it edits; one before it would fall out of the context and leave it as it was.
    assume(all(raw["type"] != "context_edit" or raw["targetId"] < at for at, raw in enumerate(raws)))
    path = entries(*raws)
    try:
        plan = planned(path, keep)
    except (NothingToCompact, AlreadyCompacted):
        return
    outcome = CompactionOutcome(plan=plan, summary="notes", details={}, usage=None, estimated_tokens_after=0)
    fields = compaction_fields(outcome, entry_id="new", timestamp=1, thinking_level="off")
    after = project(
        [*path, new_entry("compaction", fields, entry_id="new", parent_id=path[-1].id, timestamp=TIMESTAMP)]
    )

    shown = [item.message for item in after.messages if item.message["role"] != "system"]
    assert [message_text(message) for message in shown] == ["notes", *texts(plan.kept_messages)]
