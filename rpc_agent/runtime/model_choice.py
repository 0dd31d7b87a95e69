"""Which model answers in this session, and how hard it thinks. Remembers the choice; the catalog knows the models."""

from collections.abc import AsyncGenerator, Sequence
from typing import TypeVar

from rpc_agent.conversation.models import THINKING_LEVELS, Model
from rpc_agent.errors import AuthMissing, InvalidValue, NoModel
from rpc_agent.providers.base import ChatModel, ModelCallFailed, ModelRequest, StreamEvent
from rpc_agent.providers.catalog import Catalog, Choice
from rpc_agent.providers.local_servers import find_local_servers
from rpc_agent.providers.thinking import available_thinking_levels, clamp_thinking_level

T = TypeVar("T")


class _Unreachable:
    """Stands for a model without a key: every call fails and says what is missing."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[StreamEvent], None]:
        raise ModelCallFailed(self._reason, kind="auth")
        yield []


class ModelChoice:
    """`thinking_level` is one of THINKING_LEVELS; there may be no model to choose."""

    def __init__(self, catalog: Catalog, choice: Choice | None, *, thinking_level: str = "off") -> None:
        self._catalog = catalog
        self._choice = choice
        self.thinking_level = thinking_level if thinking_level in THINKING_LEVELS else "off"

    @property
    def model(self) -> Model | None:
        return self._choice.model if self._choice else None

    def require(self) -> tuple[Model, ChatModel]:
        """The model and the way to it. Raises NoModel, or AuthMissing naming the variable to set."""
        if self._choice is None:
            variables = self._catalog.key_variables()
            raise NoModel(
                f"No model is configured: set one of {', '.join(variables)}, or add a provider to models.json.",
                variables=variables,
            )
        chosen = self._choice
        return chosen.model, self._catalog.chat_model(chosen.model, implicit_offline=chosen.implicit_offline)

    def for_a_run(self) -> tuple[Model, ChatModel]:
        """As `require`, for a run at work: a model chosen meanwhile that cannot be reached is one that fails."""
        try:
            return self.require()
        except AuthMissing as error:
            if self._choice is None:
                raise
            return self._choice.model, _Unreachable(error.message)

    async def aclose(self) -> None:
        """End the connections to services that this session's models were reached by."""
        await self._catalog.aclose()

    def available(self) -> list[Model]:
        """The models that could answer now."""
        return self._catalog.available_models()

    async def look_for_local_servers(self) -> None:
        """Offer the models of the servers that run on this machine now."""
        self._catalog.add_local(await find_local_servers())

    def find(self, provider: str, model_id: str) -> Model:
        """Raises ModelNotFound."""
        return self._catalog.find(provider, model_id)

    def chat_model(self, model: Model) -> ChatModel:
        return self._catalog.chat_model(model)

    def select(self, model: Model) -> None:
        self._choice = Choice(model)

    def next_model(self) -> Model | None:
        """The one after the current in the order of `available`, round and round; None when there is no other."""
        return _after(self.available(), self.model)

    def thinking_levels(self) -> Sequence[str]:
        """What the current model can do, from little to much."""
        return THINKING_LEVELS[:1] if self.model is None else available_thinking_levels(self.model)

    def nearest_level(self, level: str) -> str:
        """`level`, or the nearest below it that the model can do. Raises InvalidValue for a level nobody knows."""
        if level not in THINKING_LEVELS:
            raise InvalidValue("level", f"must be one of {', '.join(THINKING_LEVELS)}, not {level!r}")
        return THINKING_LEVELS[0] if self.model is None else clamp_thinking_level(self.model, level)

    def next_level(self) -> str | None:
        return _after(self.thinking_levels(), self.thinking_level)

    def select_thinking(self, level: str) -> None:
        self.thinking_level = level


def _after(choices: Sequence[T], current: T | None) -> T | None:
    """The choice after `current`, the first after the last; None when that is the same or there is none."""
    if not choices or list(choices) == [current]:
        return None
    place = choices.index(current) if current in choices else -1
    return choices[(place + 1) % len(choices)]
