"""What a model's answers teach about it: how its counts differ from ours, and where its window really ends. Pure.

Nothing here is stored: a wrong lesson ends with the session.
"""

from msgspec import Struct
from msgspec.structs import replace

from rpc_agent.context.tokens import RATIO_SAMPLES, learned_ratio

_TRUNCATED_SHARE, _TRUNCATED_TOKENS = 0.6, 2_000
"""A service that counted this much less than we sent, and by this many tokens, cut the input without a word."""
SMALLEST_LEARNED_SHARE = 16
"""A limit below a sixteenth of the declared window was misread, not learned."""


class Lessons(Struct, frozen=True):
    """Of one model. `limit` is tokens, 0 where nothing was taught; `samples` are (reported, estimated) inputs."""

    samples: tuple[tuple[int, int], ...] = ()
    limit: int = 0
    warned: bool = False

    @property
    def ratio(self) -> float:
        """Reported over estimated tokens; 1.0 until something was reported."""
        return learned_ratio(self.samples)


class Truncation(Struct, frozen=True):
    """`sent` is the calibrated estimate, `counted` what the service says it read."""

    sent: int
    counted: int


def after_answer(lessons: Lessons, *, counted: int, estimated: int) -> tuple[Lessons, Truncation | None]:
    """What a good answer teaches: its input was counted as `counted` and estimated as `estimated` tokens.

    The truncation is told once; such a sample is never learned, or the next one would look right.
    """
    if counted <= 0 or estimated <= 0:
        return lessons, None
    sent = round(estimated * lessons.ratio)
    if counted < sent * _TRUNCATED_SHARE and sent - counted > _TRUNCATED_TOKENS:
        told = None if lessons.warned else Truncation(sent, counted)
        return replace(lessons, warned=True), told
    samples = (*lessons.samples, (counted, estimated))[-RATIO_SAMPLES:]
    # What went through was no limit, whatever a refusal said before.
    limit = max(lessons.limit, counted) if lessons.limit else 0
    return replace(lessons, samples=samples, limit=limit), None


def after_refusal(lessons: Lessons, *, stated: int | None, declared: int) -> Lessons:
    """What an overflow teaches: the limit that its text states, if it can be one."""
    if not stated or (declared and not declared // SMALLEST_LEARNED_SHARE <= stated < declared):
        return lessons
    return replace(lessons, limit=stated)
