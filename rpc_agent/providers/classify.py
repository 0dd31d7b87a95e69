"""What a failed answer means, and so what to do about it. Pure: rules about meaning, one reason each, none a quote.

The order is the judgement: who says "slow down" is never taken for "too long", and a size of the answer is not a size
of the input.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rpc_agent.conversation.usage import input_tokens
from rpc_agent.providers.base import FailureKind
from rpc_agent.providers.failure_text import FailureText, read_failure
from rpc_agent.providers.input_limit import input_limit, sizes_tell_overflow


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """`limit` is the input limit in tokens that an overflow's text states."""

    kind: FailureKind
    message: str = ""
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Evidence:
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
    if _WINDOW_FINISH.fullmatch((finish_reason or "").lower()) or "model_context_window_exceeded" in body.lower():
        return Failure(kind="overflow", message=text.message, limit=None)
    if usage is not None and window and input_tokens(usage) > window:
        # The service answered, but it read more than the window holds: it cut the input without a word.
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


def _in_characters(message: str) -> bool:
    """A limit in characters is no limit in tokens."""
    return "characters" in message.lower() and "token" not in message.lower()


def is_retryable(kind: FailureKind) -> bool:
    """Whether the same request may succeed after a wait."""
    return kind in ("rate", "overloaded", "transport")


_WINDOW_FINISH = re.compile(
    r"(?:model_)?(?:max_)?context_?(?:window|length|limit|size)(?:_?(?:exceeded|reached|overflow|limit))?"
)
"""Finish reasons that mean the window ended the answer."""

_OUTPUT = re.compile(
    r"max[_ -]?(completion[_ -]|output[_ -]|new[_ -])tokens?|max_tokens|maxoutputtokens|(output|completion) tokens?"
    r"|maximum tokens (you requested|value)|输出"
)
_INPUT = re.compile(
    r"\b(inputs?(?! should be)|prompts?|messages?|context|conversation|history)\b|tokens? (in|of) (the |your )?request"
    r"|request(ed)? tokens?|requested \d+|input_tokens|prompt_tokens|输入|上下文|提示"
)
_CAPACITY = re.compile(
    r"context[ _-]?(length|window|size|limit)|(token|length|size|input) limit|limit of"
    r"|max(imum)? (prompt|input|number of)?"
    r" ?tokens?|max(imum)? (context|length|input|prompt)|configured limit|n_ctx|最大长度|长度限制|限制"
)
_TOKENS = re.compile(
    r"\btokens?\b|\blength\b|\bsize\b|too long|tokens_|_tokens|\bwindow\b|n_ctx"
    r"|(input|prompt|context) characters?|长度|超长|过长|太长"
)
_EXCESS = re.compile(
    r"exceed|too (long|large|big|many tokens)|over the|beyond|(longer|greater|larger|more|higher|bigger) than|>"
    r"|cannot (exceed|be)|must (be <=?|be (less|at most|no more)|have (less|at most|fewer))"
    r"|should (be (\[|within|less|at most)|not)"
    r"|(only )?supports? (only )?up to"
    r"|reduce (the |your )?(length|size|input|prompt|number)|shorten|shorter|not fit|does ?n.t fit"
    r"|超过|超出|超长|过长|太长"
)
_OVERFLOW_CODES = re.compile(
    r"\b(context_?length_?exceeded|context_window_exceeded|exceed_context_size\w*|context_?overflow\w*"
    r"|model_max_(prompt|input)_tokens\w*|(prompt|input|context)_?(is_)?too_?(long|large)|input_?tokens?_?exceed\w*"
    r"|string_above_context\w*|max_context_length\w*|contextwindowexceeded\w*)\b"
)
_MEDIA = re.compile(r"\b(image|video|audio|pdf|media|attachment|file)s?\b")
_RATE = re.compile(
    r"rate[ _-]?limit|too[ _]many[ _]requests|per[ -]?(min(ute)?|second|hour|day)\b|\b[tr]p[md]\b|throttl|slow down"
    r"|\bqps\b|速率限制|请求频率|并发|please wait|try again in \d|concurren|resource[ _]?exhausted|retry delay"
)
_QUOTA = re.compile(
    r"(?<![a-z])quota|billing|insufficient[ _](funds|balance|credit)|credits?\b|allowance|usage ?limit|session limit"
    r"|spending|payment|extra usage|(monthly|weekly|daily) (usage |request )?limit|\bplan\b|subscription|arrear"
    r"|exhausted your|free tier|budget[_ ](has been |is )?exceed|余额|欠费|充值|额度|配额|使用上限"
)
_QUOTA_CODES = frozenset({"1308", "1113", "insufficient_quota", "quota_exceeded", "exceeded_current_quota_error"})
"""1308 and 1113 are Z.ai's numbers for a used-up package and an empty account."""
_SOON = re.compile(
    r"per[ -]?(min(ute)?|second)\b|perminute|\b[tr]pm\b|\bqps\b"
    r"|(retry|try again) (in|after) (about )?\d+(\.\d+)? ?(ms|s|m\b|sec|min)"
)
"""Budgets that fill again while one waits: of a minute, or with the wait said. Google and Azure call these a quota."""
_AUTH = re.compile(
    r"unauthori[sz]ed|authenticat|(invalid|incorrect|missing|expired|no|bad) (x-)?api[ _-]?key|invalid_api_key"
    r"|(api[ _-]?key|(access|security|auth|bearer|session)[ _]token|credential)s?\b"
    r"[^.]{0,40}(not valid|invalid|expired|revoked)"
    r"|api_key_invalid|login fail|身份验证|鉴权|permission[ _]?(denied|error)|access denied|forbidden"
)
_POLICY = re.compile(r"content[_ ]?(filter|policy|management)|moderation|safety|guardrail|high risk|data policy")
_BYTES = re.compile(
    r"(request|payload|body|entity)( entity)?[ _](is[ _])?too[ _]large|maximum size|\bbytes?\b|\b[km]i?b\b"
    r"|request[ _]size|body (size|limit)"
)
_OVERLOADED = re.compile(
    r"overload|temporarily|unavailable|server[ _]?error|internal[ _]?error|bad gateway|gateway time-?out"
    r"|(at|over|no) capacity|try again later|retry your request|returned error|provider_unavailable"
    r"|service_?busy|engine_busy|system_?resource"
)
_TRANSPORT = re.compile(
    r"network error|connection (error|reset|refused|closed|aborted)|fetch failed|getaddrinfo|socket hang up|timed? ?out"
    r"|\btimeout\b|\bterminated\b|\beconn(reset|refused|aborted)\b|\betimedout\b|\benotfound\b|\bepipe\b"
    r"|websocket closed|(stream|connection) (ended|disconnected|closed|was cut)|before completion"
    r"|premature|network_error"
)
_BODYLESS = re.compile(r"(\d{3} )?(status code )?\(?no body\)?")


def _is_overloaded_429(e: _Evidence) -> bool:
    # Some say "overloaded" with 429: then it is the engine that is full, not this user who is fast.
    return e.status == 429 and "overload" in e.said


def _is_output_cap(e: _Evidence) -> bool:
    # Speaks of the answer's size and of nothing on the input's side.
    return bool(_OUTPUT.search(e.said)) and not _INPUT.search(e.text.message.lower()) and not _is_slow_down(e)


def _is_slow_down(e: _Evidence) -> bool:
    # What does not exist (404) is not busy, whatever wait is proposed.
    return e.status == 429 or e.outer_status == 429 or (e.status != 404 and bool(_RATE.search(e.said)))


def _is_quota(e: _Evidence) -> bool:
    # Waiting seconds does not help: an allowance is used up, or this one request is larger than a minute's budget.
    if e.status == 402 or _QUOTA_CODES & set(e.text.codes) or re.search(r"\"code\": ?\"(1308|1113)\"", e.said):
        return True
    if _is_slow_down(e):
        if _asks_more_than_a_minute_gives(e.said) or re.search(r"per_?day", e.said):
            return True
        return bool(_QUOTA.search(e.said)) and not _SOON.search(e.said)
    # A refused key or a filter may speak of subscriptions and credits too.
    about_else = _POLICY.search(e.said) or (e.status == 401 and _AUTH.search(e.said))
    return bool(_QUOTA.search(e.said)) and not about_else and not _speaks_of_too_much_input(e)


def _asks_more_than_a_minute_gives(said: str) -> bool:
    limit, asked = re.search(r"limit:? (\d+)", said), re.search(r"requested:? (\d+)", said)
    return bool(limit and asked and int(asked[1]) > int(limit[1]))


def _is_policy_or_media(e: _Evidence) -> bool:
    # Too many or too large pictures are no matter of tokens; leaving them out is another cure than compaction.
    media = _MEDIA.search(e.said) and _EXCESS.search(e.said) and not re.search(r"\btokens?\b", e.said)
    return bool(media or _POLICY.search(e.said) or re.search(r"(string|array) (is )?too long|_above_max", e.said))


def _is_bodyless_cerebras(e: _Evidence) -> bool:
    # Cerebras alone refuses a prompt that is too long without a word.
    bare = not e.text.message or bool(_BODYLESS.fullmatch(e.text.message.lower()))
    return e.provider == "cerebras" and e.status in (400, 413) and bare


def _is_payload(e: _Evidence) -> bool:
    # A limit in bytes belongs to a proxy or a gateway, and no count of tokens can be learned from it.
    in_tokens = re.search(r"\btokens?\b|context", e.said)
    return not in_tokens and (e.status == 413 or bool(_BYTES.search(e.said) and _EXCESS.search(e.said)))


def _is_overflow(e: _Evidence) -> bool:
    if _OVERFLOW_CODES.search(e.said):
        return True
    if _speaks_of_too_much_input(e):
        return True
    # A wording nobody listed: two sizes, the larger near what we sent, the smaller near a known window.
    return sizes_tell_overflow(e.text.message, estimate=e.estimate, window=e.window)


def _speaks_of_too_much_input(e: _Evidence) -> bool:
    """A size of the input, set against a limit. Who is too long, too long for what, and that it is too long."""
    said = e.text.message.lower()
    sized = bool(_TOKENS.search(said))
    subject, capacity = bool(_INPUT.search(said)), bool(_CAPACITY.search(said))
    if _EXCESS.search(said):
        return sized and (subject or capacity)
    return sized and subject and capacity and input_limit(said) is not None


def _is_auth(e: _Evidence) -> bool:
    return e.status in (401, 403) or bool(_AUTH.search(e.said))


def _is_transport(e: _Evidence) -> bool:
    return e.status in (408, 409) or bool(_TRANSPORT.search(e.said))


def _is_overloaded(e: _Evidence) -> bool:
    statuses = (e.status, e.outer_status, e.text.status)
    return any(status is not None and status >= 500 for status in statuses) or bool(_OVERLOADED.search(e.said))


_RULES: tuple[tuple[FailureKind, Callable[[_Evidence], bool]], ...] = (
    ("overflow", _is_bodyless_cerebras),
    ("overloaded", _is_overloaded_429),
    ("quota", _is_quota),
    ("rate", _is_slow_down),
    ("outputCap", _is_output_cap),
    ("other", _is_policy_or_media),
    ("payloadBytes", _is_payload),
    ("overflow", _is_overflow),
    ("auth", _is_auth),
    ("transport", _is_transport),
    ("overloaded", _is_overloaded),
)
