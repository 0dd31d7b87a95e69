"""What cannot be compacted is too much already: said once, then left alone until the context grew. Starts nothing."""

from collections.abc import Callable

from rpc_agent.compaction.policy import quiet_until
from rpc_agent.runtime.events import ContextWarning, SessionEvent


class UnreachableThreshold:
    """Unlike the quiet after a compaction this outlasts user messages: they make no system prompt smaller."""

    def __init__(self, emit: Callable[[SessionEvent], None]) -> None:
        self._emit = emit
        self._threshold: int | None = None
        self._until = 0

    def rests_until(self, threshold: int | None) -> int:
        """The context below which trying again would be in vain; 0 for another threshold than the one given up."""
        return self._until if threshold == self._threshold else 0

    def give_up(self, *, tokens: int, fixed_tokens: int, threshold: int, window: int) -> None:
        """Counts are of the context, of the part that never gets smaller, and of the model."""
        is_known = threshold == self._threshold
        self._threshold, self._until = threshold, quiet_until(tokens, window)
        if is_known:
            return
        message = (
            f"The context has about {tokens} tokens and compaction begins above {threshold}, but it cannot make the "
            f"context smaller than that: system prompt and tools alone take about {fixed_tokens}. It rests until the "
            "context has grown. Offer fewer tools, shorten standing instructions, lower compaction.reserveTokens, or "
            "choose a model with a larger window."
        )
        figures = {"tokens": tokens, "fixedTokens": fixed_tokens, "threshold": threshold, "contextWindow": window}
        self._emit(ContextWarning("unreachableThreshold", {"message": message, **figures}))
