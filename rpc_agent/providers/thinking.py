"""How hard each model can think, and the service's word for it. Pure: read from the model's own data (`compat`).

`reasoningEffortMap` maps thinking levels to the service's words; null says that the model has no such level. Levels it
leaves out are usual: "off" asks for nothing, "minimal" to "high" are called that, "xhigh" is not there.
`supportsReasoningEffort: false` says that a call cannot steer the thinking: there is nothing to choose then.
"""

from collections.abc import Mapping

from rpc_agent.conversation.json_values import as_object
from rpc_agent.conversation.models import THINKING_LEVELS, Model

_USUAL: Mapping[str, str | None] = {"minimal": "minimal", "low": "low", "medium": "medium", "high": "high"}


def available_thinking_levels(model: Model) -> tuple[str, ...]:
    """The levels a model has, from little to much; ("off",) for one that does not think or cannot be steered."""
    if not model.reasoning or model.compat.get("supportsReasoningEffort") is False:
        return ("off",)
    known = _map(model)
    levels = tuple(
        level for level in THINKING_LEVELS if known.get(level) is not None or (level == "off" and level not in known)
    )
    return levels or ("off",)


def clamp_thinking_level(model: Model, level: str) -> str:
    """The level in force when `level` is asked for: the nearest one at or below it, else the lowest there is."""
    levels = available_thinking_levels(model)
    wanted = THINKING_LEVELS.index(level) if level in THINKING_LEVELS else 0
    below = [known for known in levels if THINKING_LEVELS.index(known) <= wanted]
    return below[-1] if below else levels[0]


def reasoning_effort(model: Model, level: str) -> str | None:
    """The service's word for a level, clamped to what the model has; None where nothing is to be asked."""
    if not model.reasoning or model.compat.get("supportsReasoningEffort") is False:
        return None
    return _map(model).get(clamp_thinking_level(model, level))


def _map(model: Model) -> dict[str, str | None]:
    own = {
        level: word
        for level, word in as_object(model.compat.get("reasoningEffortMap")).items()
        if level in THINKING_LEVELS and (word is None or isinstance(word, str))
    }
    return {**_USUAL, **own}
