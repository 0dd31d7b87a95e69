"""What a call costs. Pure; knows no price list."""

from collections.abc import Mapping

from rpc_agent.conversation.usage import Usage

_PER = 1_000_000
"""Prices are dollars per million tokens."""


def with_cost(usage: Usage, prices: Mapping[str, float]) -> Usage:
    """A copy of `usage` with its cost by `prices`: `input`, `output`, `cacheRead`, `cacheWrite`; missing ones are 0."""
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
