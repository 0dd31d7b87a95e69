"""What a failed answer means, and so what to do about it. Pure: rules about meaning, one reason each, none a quote.

The order is the judgement: who says "slow down" is never taken for "too long", and a size of the answer is not a size
of the input.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from rpc_agent.conversation.usage import input_tokens
from rpc_agent.providers import failure_words as words
from rpc_agent.providers.base import FailureKind
from rpc_agent.providers.failure_text import FailureText, read_failure
from rpc_agent.providers.input_limit import input_limit, passes_limit, sizes_tell_overflow

_FULL = 0.99
"""Of the window: some servers keep a few tokens for themselves."""
_BLAMES_REQUEST = frozenset({400, 404, 405, 413, 422})
"""Statuses of a request that is refused again each time."""


class Failure(Struct, frozen=True, kw_only=True):
    """`limit` is the input limit in tokens that an overflow's text states."""

    kind: FailureKind
    message: str = ""
    limit: int | None = None


class _Evidence(Struct, frozen=True, kw_only=True):
    provider: str
    status: int | None
    """The inner status where a wrapper answers 200 or a status of its own."""
    outer_status: int | None
    text: FailureText
    said: str
    """Message and codes, lower case: what the rules read."""
    estimate: int
    window: int


def classify(
    *,
    provider: str = "",
    status: int | None = None,
    body: str = "",
    finish_reason: str | None = None,
    usage: Mapping[str, Any] | None = None,
    estimate: int = 0,
    window: int = 0,
) -> Failure:
    """The meaning of a failure.

    `body` is an HTTP body, a stream event's JSON or a bare error text; `estimate` is our own count of the input and
    `window` the model's, both in tokens, 0 where unknown.
    """
    text = read_failure(body)
    if (
        re.fullmatch(words.WINDOW_FINISH, (finish_reason or "").lower())
        or "model_context_window_exceeded" in body.lower()
    ):
        return Failure(kind="overflow", message=text.message, limit=None)
    if usage is not None and window and _fills(usage, window, finish_reason):
        # The service answered, but it cut the input without a word, or had no room for a word of its own.
        return Failure(kind="overflow", message=text.message, limit=None)
    inner = text.status if status is None or status == 200 else status
    evidence = _Evidence(
        provider=provider.lower(),
        status=inner,
        outer_status=status,
        text=text,
        said=" ".join((text.message, *text.codes)).lower(),
        estimate=estimate,
        window=window,
    )
    kind: FailureKind = next((kind for kind, holds in _RULES if holds(evidence)), "other")
    limit = input_limit(text.message) if kind == "overflow" and not _in_characters(text.message) else None
    return Failure(kind=kind, message=text.message, limit=limit)


def _fills(usage: Mapping[str, Any], window: int, finish_reason: str | None) -> bool:
    """Read more than the window holds; or filled it, so that the answer ended by its length before it began."""
    read = input_tokens(usage)
    mute = finish_reason == "length" and not usage.get("output")
    return read > window or (mute and read >= _FULL * window)


def _in_characters(message: str) -> bool:
    """A limit in characters is no limit in tokens."""
    return "characters" in message.lower() and "token" not in message.lower()


def is_retryable(kind: FailureKind) -> bool:
    """Whether the same request may succeed after a wait."""
    return kind in ("rate", "overloaded", "transport")


def _is_full(e: _Evidence) -> bool:
    # Some say "overloaded" with 429: then it is the engine that is full, not this user who is fast. What fills it may
    # be named as a prompt's faults are.
    busy = e.status is not None and (e.status == 429 or e.status >= 500)
    return busy and "overload" in e.said and not re.search(words.OVERFLOW_CODES, e.said)


def _is_output_cap(e: _Evidence) -> bool:
    # Speaks of the answer's size and of nothing on the input's side.
    # What was requested without saying of what is the answer here.
    message = re.sub(r"requested:? \d+", "", e.text.message.lower())
    about_else = (
        re.search(words.INPUT, message)
        or re.search(words.BUDGET, e.said)
        or re.search(words.UNKNOWN_SETTING, e.said)
        or re.search(words.OVERFLOW_CODES, e.said)
    )
    return bool(re.search(words.OUTPUT, e.said)) and not about_else and not _is_slow_down(e)


def _is_slow_down(e: _Evidence) -> bool:
    # What does not exist (404) is not busy, whatever wait is proposed.
    return e.status == 429 or e.outer_status == 429 or (e.status != 404 and bool(re.search(words.RATE, e.said)))


def _is_quota(e: _Evidence) -> bool:
    # Waiting seconds does not help: an allowance is used up, or this one request is larger than a minute's budget.
    if e.status == 402 or words.QUOTA_CODES & set(e.text.codes) or re.search(r"\"code\": ?\"(1308|1113)\"", e.said):
        return True
    if _is_slow_down(e):
        if _asks_more_than_a_minute_gives(e.said) or re.search(r"per_?day", e.said):
            return True
        return bool(re.search(words.QUOTA, e.said)) and not re.search(words.SOON, e.said)
    # A refused key or a filter may speak of subscriptions and credits too.
    about_else = re.search(words.POLICY, e.said) or (e.status == 401 and re.search(words.AUTH, e.said))
    return bool(re.search(words.QUOTA, e.said)) and not about_else and not _speaks_of_too_much_input(e)


def _asks_more_than_a_minute_gives(said: str) -> bool:
    limit, asked = re.search(r"limit:? (\d{1,18})", said), re.search(r"requested:? (\d{1,18})", said)
    return bool(limit and asked and int(asked[1]) > int(limit[1]))


def _is_about_else(e: _Evidence) -> bool:
    # A setting, a filter; and too many or too large pictures are no matter of tokens: leaving them out is another cure.
    media = re.search(words.MEDIA, e.said) and re.search(words.EXCESS, e.said) and not re.search(r"\btokens?\b", e.said)
    return bool(
        media
        or re.search(words.BUDGET, e.said)
        or re.search(words.UNKNOWN_SETTING, e.said)
        or re.search(words.POLICY, e.said)
        or re.search(words.OTHER_SIZES, e.said)
    )


def _is_bodyless_cerebras(e: _Evidence) -> bool:
    # Cerebras alone refuses a prompt that is too long without a word.
    bare = not e.text.message or bool(re.fullmatch(words.BODYLESS, e.text.message.lower()))
    return e.provider == "cerebras" and e.status in (400, 413) and bare


def _is_payload(e: _Evidence) -> bool:
    # A limit in bytes belongs to a proxy or a gateway, and no count of tokens can be learned from it.
    in_tokens = re.search(r"(?<![a-z])tokens?(?![a-z])|context|prompt (is )?too long", e.said)
    return not in_tokens and (
        e.status == 413 or bool(re.search(words.BYTES, e.said) and re.search(words.EXCESS, e.said))
    )


def _is_overflow(e: _Evidence) -> bool:
    if re.search(words.OVERFLOW_CODES, e.said):
        return True
    if _speaks_of_too_much_input(e):
        return True
    # A wording nobody listed: two sizes, the larger near what we sent, the smaller near a known window.
    return sizes_tell_overflow(e.text.message, estimate=e.estimate, window=e.window)


def _speaks_of_too_much_input(e: _Evidence) -> bool:
    """A size of the input, set against a limit. Who is too long, too long for what, and that it is too long."""
    said = e.text.message.lower()
    sized = bool(re.search(words.TOKENS, said))
    subject, capacity = bool(re.search(words.INPUT, said)), bool(re.search(words.CAPACITY, said))
    if re.search(words.TOO_LITTLE, said):
        return False
    if re.search(words.EXCESS, said):
        return sized and (subject or capacity or bool(re.search(words.COUNT, said)))
    # Who may not have a model is told what the model could hold.
    told = e.status not in (401, 403, 404) and capacity and input_limit(said) is not None
    return sized and subject and (passes_limit(said) or told)


def _is_auth(e: _Evidence) -> bool:
    return e.status in (401, 403) or bool(re.search(words.AUTH, e.said))


def _is_transport(e: _Evidence) -> bool:
    # A status above says of whom: then it is the service that has no time.
    above = e.status is not None and e.status >= 500
    return e.status in (408, 409) or bool(re.search(words.TRANSPORT, e.said) and not above)


def _is_overloaded(e: _Evidence) -> bool:
    # A number in a text about the request may be any.
    statuses = (e.status, e.outer_status, None if e.status in _BLAMES_REQUEST else e.text.status)
    if any(status is not None and status >= 500 for status in statuses):
        return True
    broken = e.status not in _BLAMES_REQUEST and re.search(words.BROKEN, e.said)
    return bool(broken or re.search(words.OVERLOADED, e.said))


_RULES: tuple[tuple[FailureKind, Callable[[_Evidence], bool]], ...] = (
    ("overflow", _is_bodyless_cerebras),
    ("overloaded", _is_full),
    ("quota", _is_quota),
    ("rate", _is_slow_down),
    ("outputCap", _is_output_cap),
    ("other", _is_about_else),
    ("payloadBytes", _is_payload),
    ("overflow", _is_overflow),
    ("auth", _is_auth),
    ("transport", _is_transport),
    ("overloaded", _is_overloaded),
)
