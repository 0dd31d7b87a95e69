"""What a model call consumed, in tokens and in dollars, as the session file records it."""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from rpc_agent.conversation.json_values import as_amount, as_count, as_object


class Cost(TypedDict):
    """US dollars."""

    input: float
    output: float
    cacheRead: float
    cacheWrite: float
    total: float


class Usage(TypedDict):
    """Tokens of one model call; `input` excludes what was read from or written to the prompt cache."""

    input: int
    output: int
    cacheRead: int
    cacheWrite: int
    totalTokens: int
    cost: Cost
    reasoning: NotRequired[int]


def no_cost() -> Cost:
    return {"input": 0.0, "output": 0.0, "cacheRead": 0.0, "cacheWrite": 0.0, "total": 0.0}


def make_usage(*, input: int = 0, output: int = 0, cache_read: int = 0, cache_write: int = 0) -> Usage:
    return {
        "input": input,
        "output": output,
        "cacheRead": cache_read,
        "cacheWrite": cache_write,
        "totalTokens": input + output + cache_read + cache_write,
        "cost": no_cost(),
    }


def total_tokens(usage: Mapping[str, Any] | None) -> int:
    """totalTokens, or the sum of its parts where a program left it out or at 0."""
    raw = as_object(usage)
    parts = ("input", "output", "cacheRead", "cacheWrite")
    return as_count(raw.get("totalTokens")) or sum(as_count(raw.get(part)) for part in parts)


def input_tokens(usage: Mapping[str, Any] | None) -> int:
    """Everything the model read: fresh input, cache reads and cache writes."""
    raw = as_object(usage)
    return sum(as_count(raw.get(part)) for part in ("input", "cacheRead", "cacheWrite"))


def total_cost(usage: Mapping[str, Any] | None) -> float:
    """Dollars; 0 for what is no price."""
    return as_amount(as_object(as_object(usage).get("cost")).get("total"))


def add_usage(left: Usage, right: Usage) -> Usage:
    summed = make_usage(
        input=left["input"] + right["input"],
        output=left["output"] + right["output"],
        cache_read=left["cacheRead"] + right["cacheRead"],
        cache_write=left["cacheWrite"] + right["cacheWrite"],
    )
    summed["totalTokens"] = total_tokens(left) + total_tokens(right)
    costs, more = left["cost"], right["cost"]
    summed["cost"] = {
        "input": costs["input"] + more["input"],
        "output": costs["output"] + more["output"],
        "cacheRead": costs["cacheRead"] + more["cacheRead"],
        "cacheWrite": costs["cacheWrite"] + more["cacheWrite"],
        "total": costs["total"] + more["total"],
    }
    return summed
