"""Values of the methods about models and thinking levels."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypeAliasType, TypedDict

from rpc_agent.protocol.wire_model import AnyObject, Documented, SessionParams, SessionResult

ThinkingLevel = TypeAliasType("ThinkingLevel", Literal["off", "minimal", "low", "medium", "high", "xhigh"])
"""How much a model thinks before it answers."""


class ModelCost(TypedDict):
    """US dollars a million tokens; 0 where nobody knows or nothing is asked."""

    input: float
    """Fresh input."""
    output: float
    """The answer, thinking included."""
    cacheRead: float
    """Input read from the provider's cache."""
    cacheWrite: float
    """Input written to the provider's cache."""


class Model(TypedDict):
    """A model and its limits. Holds no key."""

    id: str
    """Its id at the provider; may hold slashes."""
    name: str
    """Its name for people."""
    provider: str
    """Whose it is; holds no slash. "provider/id" names the model in settings and in new_session."""
    api: str
    """openai-completions, openai-responses, anthropic-messages, google-generative-ai, or the built-in offline."""
    baseUrl: str
    """Where it is asked; empty for a built-in model."""
    reasoning: bool
    """True: it can think before it answers."""
    input: list[str]
    """What it reads: "text", "image"."""
    contextWindow: int
    """Tokens of input and output together; 0: nobody knows."""
    maxTokens: int
    """Most tokens of one answer; 0: nobody knows."""
    cost: ModelCost
    """Its prices."""
    effectiveContextWindow: NotRequired[int]
    """Smaller than contextWindow: your own setting, or learned from a refusal. Absent: the same."""


AnyModel = Annotated[AnyObject, Documented(Model)]


class ModelsResult(SessionResult):
    """Models that can be chosen."""

    models: list[AnyModel]
    """Those with a key, those on this machine, and the offline model."""


class SetModelParams(SessionParams):
    """Which model shall answer."""

    provider: Annotated[str, Field(min_length=1)]
    """As in get_available_models."""
    model_id: Annotated[str, Field(min_length=1)]
    """As `id` in get_available_models."""


class ModelResult(SessionResult):
    """The model that answers from here on."""

    model: AnyModel
    """The whole model."""


class CycledModelResult(SessionResult):
    """The next model, or none."""

    model: AnyModel | None
    """Null: there is only this one."""
    thinkingLevel: str
    """The level with that model."""


class SetThinkingLevelParams(SessionParams):
    """How much the model shall think."""

    level: ThinkingLevel
    """A model that cannot think this much takes the nearest level below."""


class ThinkingLevelResult(SessionResult):
    """The thinking level from here on."""

    level: ThinkingLevel
    """The level in force."""


class CycledThinkingLevelResult(SessionResult):
    """The next thinking level, or none."""

    level: ThinkingLevel | None
    """Null: the model has only one."""


class ThinkingLevelsResult(SessionResult):
    """The levels of the current model."""

    levels: list[ThinkingLevel]
    """From little to much."""
