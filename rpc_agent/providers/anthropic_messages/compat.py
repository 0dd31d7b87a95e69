"""How models of the messages API differ, as data. Pure."""

from collections.abc import Mapping

from msgspec import Struct

from rpc_agent.conversation.json_values import as_count, as_object
from rpc_agent.conversation.models import THINKING_LEVELS, Model
from rpc_agent.providers.thinking import clamp_thinking_level, reasoning_effort

MIN_BUDGET = 1024
"""The least thinking budget that the API accepts."""

_BUDGETS = {"minimal": 1024, "low": 4096, "medium": 10_240, "high": 20_480, "xhigh": 32_000}
"""Tokens; beyond 32,000 the service advises against one streamed answer."""
_EFFORTS = {"minimal": "low"}
"""Words for an effort that this API does not have, and the nearest that it has."""

_WITH_BUDGETS = (
    "claude-3",
    "claude-opus-4-0",
    "claude-opus-4-1",
    "claude-opus-4-2",
    "claude-opus-4-5",
    "claude-sonnet-4-0",
    "claude-sonnet-4-2",
    "claude-sonnet-4-5",
    "claude-haiku-4-5",
)
"""The Claude models that think by budget (-2 begins a date); newer ones refuse budgets, and no more will be added."""


class Compat(Struct, frozen=True, kw_only=True):
    """Read from a model's `compat`: `supportsAdaptiveThinking`, `reasoningEffortMap`, `thinkingBudgets` (tokens by
    level), `supportsThinkingDisabled`, `supportsPromptCache`."""

    thinking: Mapping[str, int | str]
    """By level: a budget in tokens, or an effort for a model that finds its budget itself. None for "off"."""
    disables_thinking: bool = False
    """The model thinks unless it is told not to."""
    supports_prompt_cache: bool = True


def read_compat(model: Model) -> Compat:
    """Unknown names and values of a wrong type are ignored: files of other programs hold more than we know."""
    raw = model.compat
    adaptive = raw.get("supportsAdaptiveThinking")
    adaptive = adaptive if isinstance(adaptive, bool) else _is_adaptive(model.id)
    steered = model.reasoning and raw.get("supportsReasoningEffort") is not False
    return Compat(
        thinking=_efforts(model) if adaptive else _budgets(model) if model.reasoning else {},
        # The newer models think by themselves; those that cannot be told not to have no level "off".
        disables_thinking=steered and (adaptive or raw.get("supportsThinkingDisabled") is True),
        supports_prompt_cache=raw.get("supportsPromptCache") is not False,
    )


def _efforts(model: Model) -> Mapping[str, str]:
    words = {level: reasoning_effort(model, level) for level in THINKING_LEVELS}
    return {level: _EFFORTS.get(word, word) for level, word in words.items() if word}


def _budgets(model: Model) -> Mapping[str, int]:
    budgets = {**_BUDGETS, **as_object(model.compat.get("thinkingBudgets"))}
    tokens = {level: as_count(budgets.get(clamp_thinking_level(model, level))) for level in THINKING_LEVELS}
    return {level: budget for level, budget in tokens.items() if budget}


def _is_adaptive(model_id: str) -> bool:
    """For a model whose data is silent: other vendors' models know budgets only."""
    name = model_id.rpartition("/")[2]
    return name.startswith("claude-") and not name.startswith(_WITH_BUDGETS)
