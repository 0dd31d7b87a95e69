"""Whether and when a failed model call is tried again. Pure: the waiting is the runtime's."""

from msgspec import Struct

from rpc_agent.providers.base import ModelCallFailed
from rpc_agent.providers.classify import is_retryable


class RetryPolicy(Struct, frozen=True, kw_only=True):
    """Milliseconds; `max_retries` are tries after the first."""

    enabled: bool = True
    max_retries: int = 3
    base_delay_ms: int = 2_000
    max_delay_ms: int = 60_000


class RetryAfter(Struct, frozen=True):
    delay_ms: int


class GiveUp(Struct, frozen=True):
    """`reason` says why another try would not help, "" where it is plain from the failure."""

    reason: str = ""


def decide_retry(policy: RetryPolicy, failure: ModelCallFailed, *, attempt: int) -> RetryAfter | GiveUp:
    """What to do after `attempt` tries failed (1 = the first one).

    A wait that the service asks for and that is longer than the cap is not shortened: coming back early would only
    be refused again, so the failure is reported at once.
    """
    if not policy.enabled or not is_retryable(failure.kind) or attempt > policy.max_retries:
        return GiveUp()
    delay_ms = min(policy.base_delay_ms * 2 ** (attempt - 1), policy.max_delay_ms)
    if failure.retry_after is None:
        return RetryAfter(delay_ms)
    asked_ms = int(failure.retry_after * 1000)
    if asked_ms > policy.max_delay_ms:
        allowed = policy.max_delay_ms // 1000
        return GiveUp(f"the service asks to wait {asked_ms // 1000} s, more than the {allowed} s allowed")
    return RetryAfter(max(delay_ms, asked_ms))
