"""A threshold that cannot be met: one warning, rest until the context grew, and a new chance for another threshold."""

from rpc_agent.runtime.events import ContextWarning, SessionEvent
from rpc_agent.runtime.unreachable_threshold import UnreachableThreshold


def test_it_is_said_once_and_rests_until_the_context_grew_by_a_twentieth() -> None:
    said: list[SessionEvent] = []
    watch = UnreachableThreshold(said.append)
    assert watch.rests_until(24_000) == 0
    watch.give_up(tokens=29_000, fixed_tokens=28_000, threshold=24_000, window=32_000)
    watch.give_up(tokens=31_000, fixed_tokens=28_000, threshold=24_000, window=32_000)
    (warning,) = said
    assert isinstance(warning, ContextWarning)
    figures = {name: value for name, value in warning.fields.items() if name != "message"}
    assert figures == {"tokens": 29_000, "fixedTokens": 28_000, "threshold": 24_000, "contextWindow": 32_000}
    assert watch.rests_until(24_000) == 31_000 + 1_600


def test_another_threshold_is_tried_at_once_and_said_anew() -> None:
    said: list[SessionEvent] = []
    watch = UnreachableThreshold(said.append)
    watch.give_up(tokens=29_000, fixed_tokens=28_000, threshold=24_000, window=32_000)
    assert watch.rests_until(90_000) == 0
    watch.give_up(tokens=95_000, fixed_tokens=93_000, threshold=90_000, window=100_000)
    assert len(said) == 2
