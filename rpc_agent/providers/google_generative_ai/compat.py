"""How models of the generateContent API differ, as data. Pure."""

from collections.abc import Mapping

from msgspec import Struct

from rpc_agent.conversation.json_values import as_count, as_object
from rpc_agent.conversation.models import THINKING_LEVELS, Model
from rpc_agent.providers.thinking import clamp_thinking_level, reasoning_effort

_BUDGETS = {"off": 0, "minimal": 512, "low": 2048, "medium": 8192, "high": 24_576, "xhigh": 24_576}
"""Tokens that all models with budgets accept: the least of one is 512, the most of another 24,576."""
_LEAST_BUDGETS = {"gemini-2.5-pro": 128}
"""Models that cannot be told not to think, and the least that they can be told."""
_WITH_BUDGETS = ("gemini-1", "gemini-2")
"""Models that think by budget; all newer ones do by level, and no more will be added."""


class Compat(Struct, frozen=True, kw_only=True):
    """Read from a model's `compat`: `reasoningEffortMap`, `thinkingBudgets` (tokens by level), `thinksByBudget`,
    `requiresThoughtSignatures`."""

    thinking: Mapping[str, int | str]
    """By level: a budget in tokens, or the service's word. None for a model that does not think."""
    requires_thought_signatures: bool = False
    """A call without its signature is refused, also one that another model made."""


def read_compat(model: Model) -> Compat:
    """Unknown names and values of a wrong type are ignored: files of other programs hold more than we know."""
    by_budget = model.compat.get("thinksByBudget")
    by_budget = by_budget if isinstance(by_budget, bool) else model.id.startswith(_WITH_BUDGETS)
    required = model.compat.get("requiresThoughtSignatures")
    thinking = (_budgets(model) if by_budget else _words(model)) if model.reasoning else {}
    return Compat(
        thinking=thinking,
        requires_thought_signatures=required
        if isinstance(required, bool)
        else model.id.startswith("gemini-") and model.reasoning and not by_budget,
    )


def _words(model: Model) -> Mapping[str, str]:
    """These models always think, so "off" is the least that every one of them knows."""
    if model.compat.get("supportsReasoningEffort") is False:
        return {}
    words = {level: reasoning_effort(model, level) or "low" for level in THINKING_LEVELS}
    if "minimal" not in as_object(model.compat.get("reasoningEffortMap")) and "-pro" in model.id:
        # The larger models begin at "low", whether their data says so or not.
        words["minimal"] = "low"
    return words


def _budgets(model: Model) -> Mapping[str, int]:
    least = next((least for name, least in _LEAST_BUDGETS.items() if model.id.startswith(name)), 0)
    budgets = {**_BUDGETS, **as_object(model.compat.get("thinkingBudgets"))}
    tokens = {level: as_count(budgets.get(clamp_thinking_level(model, level))) for level in THINKING_LEVELS}
    return {level: max(budget, least) for level, budget in tokens.items()}
