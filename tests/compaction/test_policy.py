"""When an automatic compaction is due: one table a gate."""

import pytest
from msgspec.structs import replace

from rpc_agent.compaction.policy import (
    Compact,
    CompactionBudget,
    CompactionState,
    Fuse,
    FuseSpent,
    LeaveAlone,
    Limits,
    NeverFits,
    decide_compaction,
    effective_window,
    last_answer,
    limits,
    quiet_until,
    should_compact,
)
from rpc_agent.context.projection import project
from rpc_agent.conversation.usage import make_usage
from tests.support.conversations import answer, call, compaction, edit, entries, result, said

OVERFLOW = [said("q"), answer("", call("1"), stop="error", error="too long"), result("1", "x")]
SMALL = CompactionBudget(reserve_tokens=100, keep_recent_tokens=50)


def state_of(*raws, **fields):
    path = entries(*raws)
    base = dict(
        check_point="afterRun",
        budget=SMALL,
        window=1000,
        provider="p",
        model_id="m",
        max_tokens=400,
        path=path,
        projection=project(path),
        tokens=10,
    )
    return CompactionState(**{**base, **fields})


def decided(*raws, **fields):
    state = state_of(*raws, **fields)
    return decide_compaction(state, last_answer(state.path))


@pytest.mark.parametrize(
    ("budget", "window", "wanted"),
    [
        (CompactionBudget(), 200_000, Limits(200_000, 183_616, 16_384, 20_000)),
        (CompactionBudget(), 0, Limits(0, None, 16_384, 20_000)),
        (CompactionBudget(), 8_000, Limits(8_000, 6_000, 2_000, 3_000)),
        (CompactionBudget(), 32_768, Limits(32_768, 24_576, 8_192, 12_288)),
        (CompactionBudget(threshold_percent=80), 100_000, Limits(100_000, 80_000, 16_384, 20_000)),
        (CompactionBudget(threshold_percent=90), 20_000, Limits(20_000, 18_000, 2_000, 9_000)),
    ],
)
def test_amounts_are_made_to_fit_the_window(budget, window, wanted):
    assert limits(budget, window) == wanted


@pytest.mark.parametrize(
    ("tokens", "enabled", "window", "due"),
    [(900, True, 1000, False), (901, True, 1000, True), (901, False, 1000, False), (10**9, True, 0, False)],
)
def test_the_threshold_is_strict(tokens, enabled, window, due):
    assert should_compact(tokens, replace(SMALL, enabled=enabled), window) is due


@pytest.mark.parametrize(
    ("declared", "learned", "window"),
    [(1000, 0, 1000), (1000, 500, 500), (1600, 10, 100), (1000, 5000, 1000), (0, 700, 700), (0, 0, 0)],
)
def test_the_smaller_known_window_counts(declared, learned, window):
    assert effective_window(declared, learned=learned) == window


FULL = make_usage(input=1001, output=1)
DECISIONS = [
    ("off", OVERFLOW, dict(budget=replace(SMALL, enabled=False), overflow_reported=True, tokens=5000), LeaveAlone),
    ("aborted after the run", [said("q"), answer("a", stop="aborted")], dict(tokens=950), LeaveAlone),
    (
        "aborted before a prompt",
        [said("q"), answer("a", stop="aborted")],
        dict(tokens=950, check_point="beforePrompt"),
        Compact("threshold"),
    ),
    ("below the threshold", [said("q"), answer("a")], {}, LeaveAlone),
    ("above it", [said("q"), answer("a")], dict(tokens=901), Compact("threshold")),
    ("above it with another model", [said("q"), answer("a", model="x/y")], dict(tokens=901), Compact("threshold")),
    ("above it in an unknown window", [said("q"), answer("a")], dict(tokens=901, window=0), LeaveAlone),
    (
        "resting after a compaction",
        [said("q"), answer("a")],
        dict(tokens=901, quiet_until=quiet_until(900, 1000)),
        LeaveAlone,
    ),
    (
        "grown since",
        [said("q"), answer("a")],
        dict(tokens=950, quiet_until=quiet_until(900, 1000)),
        Compact("threshold"),
    ),
    (
        "between turns there is only the threshold",
        OVERFLOW,
        dict(check_point="betweenTurns", overflow_reported=True),
        LeaveAlone,
    ),
    ("between turns above it", OVERFLOW, dict(check_point="betweenTurns", tokens=901), Compact("threshold")),
    ("overflow", OVERFLOW, dict(overflow_reported=True), Compact("overflow", True, ("e1", "e2"))),
    (
        "overflow in an unknown window",
        OVERFLOW,
        dict(overflow_reported=True, window=0),
        Compact("overflow", True, ("e1", "e2")),
    ),
    ("an error that is no overflow", OVERFLOW, {}, LeaveAlone),
    ("overflow of another model", OVERFLOW, dict(overflow_reported=True, model_id="big"), LeaveAlone),
    ("overflow of another provider", OVERFLOW, dict(overflow_reported=True, provider="big"), LeaveAlone),
    ("overflow that was left out", [*OVERFLOW, edit(1)], dict(overflow_reported=True), LeaveAlone),
    ("overflow that was rewritten", [*OVERFLOW, edit(1, {"content": "x"})], dict(overflow_reported=True), LeaveAlone),
    ("a spent fuse", OVERFLOW, dict(overflow_reported=True, fuse=Fuse(spent=True)), FuseSpent(True)),
    (
        "a spent fuse said before",
        OVERFLOW,
        dict(overflow_reported=True, fuse=Fuse(spent=True, announced=True)),
        FuseSpent(False),
    ),
    ("too many recoveries", OVERFLOW, dict(overflow_reported=True, fuse=Fuse(recoveries=3)), FuseSpent(True)),
    ("silent overflow", [said("q"), answer("a", usage=FULL)], {}, Compact("overflow")),
    ("silent overflow of a full window", [said("q"), answer("a", usage=make_usage(input=1000))], {}, LeaveAlone),
    (
        "an input cut to the window",
        [said("q"), answer("", stop="length", usage=make_usage(input=900, cache_read=90))],
        dict(max_tokens=0),
        Compact("overflow", True, ("e1",)),
    ),
    (
        "an answer cut early",
        [said("q"), answer("a", stop="length", usage=make_usage(output=399))],
        {},
        Compact("overflow", True, ("e1",)),
    ),
    (
        "an answer cut at its own limit",
        [said("q"), answer("a", stop="length", usage=make_usage(output=400))],
        {},
        LeaveAlone,
    ),
    ("a cut answer with calls", [said("q"), answer("a", call("1"), stop="length")], {}, LeaveAlone),
    ("older than a compaction", [said("q"), answer("a"), compaction("s", keep=1)], dict(tokens=950), LeaveAlone),
    (
        "older by time in a file of another program",
        [said("q"), compaction("s", keep=1), answer("a")],
        dict(tokens=950),
        LeaveAlone,
    ),
    (
        "newer on the path of our own file",
        [said("q"), compaction("s", keep=1, thinkingLevel="off"), answer("a")],
        dict(tokens=950),
        Compact("threshold"),
    ),
    (
        "a new message above the threshold",
        [said("q"), answer("a")],
        dict(check_point="beforePrompt", tokens=600, incoming_tokens=301),
        Compact("threshold"),
    ),
    (
        "a new message right after a compaction",
        [said("q"), answer("a"), compaction("s", keep=1)],
        dict(check_point="beforePrompt", tokens=600, incoming_tokens=301),
        Compact("threshold"),
    ),
    (
        "a new message that never fits",
        [said("q"), answer("a")],
        dict(check_point="beforePrompt", incoming_tokens=1300, fixed_tokens=100),
        NeverFits(1400, 1000),
    ),
    ("a first message", [], dict(check_point="beforePrompt", incoming_tokens=100), LeaveAlone),
]


@pytest.mark.parametrize(
    ("raws", "fields", "wanted"), [row[1:] for row in DECISIONS], ids=[row[0] for row in DECISIONS]
)
def test_a_decision_is_the_first_gate_that_applies(raws, fields, wanted):
    decision = decided(*raws, **fields)
    assert isinstance(decision, wanted) if isinstance(wanted, type) else decision == wanted


def test_a_good_answer_renews_the_fuse_and_keeps_the_count():
    good, cut = (entries(answer("a", stop=stop))[0].message for stop in ("toolUse", "length"))
    spent = Fuse().used().told()
    assert (spent.after_answer(good), spent.after_answer(cut)) == (Fuse(recoveries=1), spent)
