"""Lessons: the ratio of counts, the true window, and input that was cut without a word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpc_agent.context.learning import Lessons, Truncation, after_answer, after_refusal


def taught(*samples: tuple[int, int]) -> Lessons:
    lessons = Lessons()
    for counted, estimated in samples:
        lessons, _ = after_answer(lessons, counted=counted, estimated=estimated)
    return lessons


def test_the_ratio_is_the_median_of_the_last_eight_and_bounded() -> None:
    assert Lessons().ratio == 1.0
    assert taught((120, 100), (150, 100), (110, 100)).ratio == 1.2
    assert taught(*[(100, 100)] * 4, *[(200, 100)] * 8).ratio == 2.0
    assert taught((10_000, 100)).ratio == 3.0


def test_input_that_was_cut_is_told_once_and_never_learned() -> None:
    lessons, told = after_answer(Lessons(), counted=4_000, estimated=20_000)
    assert told == Truncation(sent=20_000, counted=4_000)
    lessons, again = after_answer(lessons, counted=4_000, estimated=20_000)
    assert (again, lessons.ratio) == (None, 1.0)


@pytest.mark.parametrize(("counted", "estimated"), [(1_000, 2_900), (12_100, 20_000), (0, 50_000), (50, 0)])
def test_small_differences_and_missing_counts_are_no_truncation(counted: int, estimated: int) -> None:
    assert after_answer(Lessons(), counted=counted, estimated=estimated)[1] is None


@pytest.mark.parametrize(
    ("stated", "declared", "limit"),
    [
        (64_000, 128_000, 64_000),
        (128_000, 128_000, 0),
        (7_000, 128_000, 0),
        (8_000, 128_000, 8_000),
        (None, 1, 0),
        (500, 0, 500),
    ],
)
def test_a_limit_that_can_be_one_is_learned(stated: int | None, declared: int, limit: int) -> None:
    assert after_refusal(Lessons(), stated=stated, declared=declared).limit == limit


def test_a_larger_success_raises_the_limit() -> None:
    lessons = after_refusal(Lessons(), stated=10_000, declared=100_000)
    assert after_answer(lessons, counted=12_000, estimated=12_000)[0].limit == 12_000
    assert after_answer(lessons, counted=9_000, estimated=9_000)[0].limit == 10_000


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), max_size=30))
def test_whatever_is_reported_the_ratio_stays_in_bounds(samples: list[tuple[int, int]]) -> None:
    assert 0.5 <= taught(*samples).ratio <= 3.0
