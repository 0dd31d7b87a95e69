"""Token estimates against true counts, and the arithmetic of usage, calibration and thresholds."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpc_agent.context.js_json import compact_json
from rpc_agent.context.projection import project
from rpc_agent.context.token_classes import CLASSES, token_rule, weigh
from rpc_agent.context.tokens import (
    SIMPLE,
    ContextEstimate,
    MessageEstimates,
    calibrated,
    context_usage_tokens,
    estimate_message,
    estimate_projected,
    learned_ratio,
    utf16_units,
)
from rpc_agent.conversation.messages import user_message
from rpc_agent.conversation.usage import make_usage
from tests.support.context_cases import GOLDEN
from tests.support.conversations import answer, compaction, entries, said

COUNTS = json.loads((GOLDEN / "token_counts.json").read_text(encoding="utf-8"))
MORE_COUNTS = json.loads((GOLDEN / "more_token_counts.json").read_text(encoding="utf-8"))
"""Scripts that share a block with others, and kinds of text of a coding agent's day, counted with the o200k tokenizer."""


@pytest.mark.parametrize("case", COUNTS + MORE_COUNTS, ids=[case["kind"] for case in COUNTS + MORE_COUNTS])
def test_each_kind_of_text_is_estimated_near_its_true_count(case):
    assert 0.85 <= weigh(case["text"]) / case["o200k"] <= 1.35


def test_a_ruler_costs_a_few_tokens_only():
    assert weigh("=" * 400) < 60


def test_an_empty_text_costs_nothing():
    assert (weigh(""), estimate_message(user_message("", timestamp=0), CLASSES)) == (0, 0)


@given(st.text(), st.text())
def test_a_longer_text_never_counts_less(left, right):
    assert weigh(left + right) >= weigh(left)


def test_the_estimate_reads_megabytes_in_a_moment():
    # The aim is 20 MB/s; a fifth of it fails here, so that a busy machine does not.
    text = COUNTS[0]["text"] * 300
    fastest = min(_seconds(text) for _ in range(3))
    assert len(text) / fastest > 4_000_000


def _seconds(text):
    start = time.perf_counter()
    weigh(text)
    return time.perf_counter() - start


def test_the_setting_names_the_rule():
    assert [token_rule(name).name for name in ("simple", "classes")] == ["simple", "classes"]


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (1.0, "1"),
        (1e21, "1e+21"),
        (1.5e-7, "1.5e-7"),
        (0.000001, "0.000001"),
        (1e16, "10000000000000000"),
        (1.25e17, "125000000000000000"),
        (-0.5, "-0.5"),
        (-0.0, "0"),
        (2**70, "1.1805916207174113e+21"),
        (float("nan"), "null"),
        ({"a": [True, None, "é\n"]}, '{"a":[true,null,"é\\n"]}'),
        ("\ud800x", '"\\ud800x"'),
    ],
)
def test_json_is_counted_as_javascript_prints_it(value, printed):
    assert compact_json(value) == printed


def test_json_deeper_than_python_calls_is_counted():
    value: object = 1
    for _ in range(5000):
        value = {"a": [value]}
    assert compact_json(value) == '{"a":[' * 5000 + "1" + "]}" * 5000


@given(st.text())
def test_units_are_those_of_utf16(text):
    assert utf16_units(text) == sum(2 if ord(char) > 0xFFFF else 1 for char in text)


def test_an_image_counts_as_twelve_hundred_tokens():
    image = {"type": "image", "data": "QQ==" * 1000, "mimeType": "image/png"}
    assert estimate_message(user_message([image], timestamp=0), SIMPLE) == 1200


def test_a_message_is_weighed_once():
    weighed = []
    estimates = MessageEstimates(type(SIMPLE)("counting", lambda text: weighed.append(text) or 1.0))
    message = user_message("hello", timestamp=0)

    assert [estimates(message), estimates(message)] == [1, 1]
    assert weighed == ["hello"]
    estimates.keep_only([])
    assert (estimates(message), weighed) == (1, ["hello", "hello"])


def test_texts_that_are_weighed_as_summaries_are_not_held():
    estimates = MessageEstimates(SIMPLE)
    said = user_message("hello", timestamp=0)
    told = {"role": "compactionSummary", "summary": "x" * 40, "tokensBefore": 0, "timestamp": 0}
    assert [estimates(said), estimates(told), estimates(told)] == [2, 10, 10]
    assert len(estimates) == 1


@pytest.mark.parametrize(
    ("samples", "ratio"),
    [
        ([], 1.0),
        ([(200, 100)], 2.0),
        ([(900, 100)], 3.0),
        ([(1, 100)], 0.5),
        ([(300, 100)] * 5 + [(110, 100)] * 8, 1.1),
        ([(0, 100), (150, 0), (120, 100)], 1.2),
    ],
)
def test_the_ratio_is_the_bounded_median_of_the_last_eight(samples, ratio):
    assert learned_ratio(samples) == ratio


def test_calibration_leaves_reported_tokens_alone():
    assert calibrated(ContextEstimate(1100, 1000, 100, 3), 1.5) == 1150


def test_usage_is_unknown_from_a_compaction_until_the_next_answer():
    estimate = MessageEstimates(SIMPLE)
    before = entries(said("one"), answer("two", usage=make_usage(input=500, output=5)), compaction("sum", keep=1))
    after = entries(*_raws(before), said("three"), answer("four", usage=make_usage(input=40, output=5)))

    assert context_usage_tokens(before, project(before), estimate) is None
    assert context_usage_tokens(after, project(after), estimate) == 45


def test_a_failed_answer_is_no_anchor():
    path = entries(said("12345678"), answer("", stop="error", usage=make_usage(input=900)))
    assert estimate_projected(path, project(path), MessageEstimates(SIMPLE)) == ContextEstimate(2, 0, 2, None)


def _raws(path):
    return [{name: value for name, value in entry.raw.items() if name not in ("id", "parentId")} for entry in path]


@given(st.text() | st.text(alphabet="\n.aA0 \u2800\U0001f600\u1300\u0e80ђ", max_size=60))
def test_no_text_counts_more_than_four_tokens_a_character(text: str) -> None:
    """What spares a compaction the counting of a short text."""
    assert token_rule("classes").weigh(text) <= 4 * len(text)
