"""What a call costs. Pure; knows no price list."""

from collections.abc import Mapping, Sequence

from rpc_agent.conversation.models import PriceTier
from rpc_agent.conversation.usage import Usage, input_tokens

_PER = 1_000_000
"""Prices are dollars per million tokens."""


def with_cost(usage: Usage, prices: Mapping[str, float], tiers: Sequence[PriceTier] = ()) -> Usage:
    """A copy of `usage` with its cost by `prices`: `input`, `output`, `cacheRead`, `cacheWrite`; missing ones are 0.

    `tiers` hold for the whole call when all that the model read is more than their limit; the highest such one counts.
    """
    prices = _in_force(input_tokens(usage), prices, tiers)
    read = usage["input"] * prices.get("input", 0.0) / _PER
    written = usage["output"] * prices.get("output", 0.0) / _PER
    hit = usage["cacheRead"] * prices.get("cacheRead", 0.0) / _PER
    kept = usage["cacheWrite"] * prices.get("cacheWrite", 0.0) / _PER
    priced = usage.copy()
    priced["cost"] = {
        "input": read,
        "output": written,
        "cacheRead": hit,
        "cacheWrite": kept,
        "total": read + written + hit + kept,
    }
    return priced


def _in_force(tokens: int, prices: Mapping[str, float], tiers: Sequence[PriceTier]) -> Mapping[str, float]:
    reached = [tier for tier in tiers if tokens > tier.above]
    return {**prices, **max(reached, key=lambda tier: tier.above).prices} if reached else prices
