"""A refusal -> the error of the port, with the service's own words. Pure."""

from rpc_agent.providers.base import ModelCallFailed
from rpc_agent.providers.classify import classify
from rpc_agent.providers.retry_after import retry_after as wait_asked_for

CUT = "the stream ended before the answer was complete"
"""Said of an answer whose end the service did not say."""
_MAX_SHOWN = 2000
"""Characters of a service's words: some quote the whole request back."""

_FILTERS = frozenset(
    {"content_filter", "refusal", "safety", "recitation", "blocklist", "prohibited_content", "spii", "image_safety"}
    | {"sensitive", "moderation", "content_filtered", "guardrail_intervened"}
)
"""Finish reasons that speak of what the answer says, in the words of each API."""
_BROKEN = frozenset({"error", "abort", "aborted", "cancelled", "canceled", "interrupted", "timeout"})
"""Finish reasons that speak of what became of the service."""


def failed(
    provider: str,
    status: int | None,
    body: str,
    *,
    window: int = 0,
    estimate: int = 0,
    retry_after: float | None = None,
) -> ModelCallFailed:
    """`body` is an HTTP body or an error event's JSON; `status` is 200 for an error inside a stream.

    Without a header that says the wait the words may.
    """
    failure = classify(provider=provider, status=status, body=body, window=window, estimate=estimate)
    prefix = f"{provider}: " if status in (None, 200) else f"{provider} answered {status}: "
    message = prefix + (failure.message[:_MAX_SHOWN] or "no explanation")
    if failure.kind == "overflow" and classify(body=message).kind != "overflow":
        # A code or a service's silence told it. The text alone is what a session's file keeps.
        message += " (the prompt is too long)"
    wait = wait_asked_for({}, body) if retry_after is None else retry_after
    return ModelCallFailed(message, kind=failure.kind, status=status, retry_after=wait, limit=failure.limit)


def cut_short() -> ModelCallFailed:
    return ModelCallFailed(CUT, kind="transport")


def bad_finish(provider: str, reason: str, explanation: str = "") -> ModelCallFailed:
    """An answer that the service ended for a reason that is no success; the reason's own name is in the message."""
    # Only the name is judged: an explanation may quote anything.
    kind = classify(provider=provider, body=f"finish_reason: {reason}", finish_reason=reason).kind
    if kind == "overflow":
        return ModelCallFailed(f"the context window was exceeded, which ended the answer ({reason})", kind="overflow")
    said = f": {explanation[:_MAX_SHOWN]}" if explanation else ""
    if reason.lower() in _FILTERS:
        return ModelCallFailed(f"the service's content filter stopped the answer ({reason}){said}", kind="other")
    kind = "transport" if reason.lower() in _BROKEN else kind
    return ModelCallFailed(f"the answer ended with the finish reason {reason!r}{said}", kind=kind)
