"""Which model answers in this session, and how hard it thinks. Remembers the choice; the catalog knows the models."""

from rpc_agent.conversation.models import THINKING_LEVELS, Model
from rpc_agent.errors import InvalidValue, NoModel
from rpc_agent.providers.base import ChatModel
from rpc_agent.providers.catalog import Catalog, Choice


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

    def available(self) -> list[Model]:
        """The models that could answer now."""
        return self._catalog.available_models()

    def find(self, provider: str, model_id: str) -> Model:
        """Raises ModelNotFound."""
        return self._catalog.find(provider, model_id)

    def chat_model(self, model: Model) -> ChatModel:
        return self._catalog.chat_model(model)

    def select(self, model: Model) -> None:
        self._choice = Choice(model)

    def select_thinking(self, level: str) -> None:
        if level not in THINKING_LEVELS:
            raise InvalidValue("level", f"one of {', '.join(THINKING_LEVELS)}, not {level!r}")
        self.thinking_level = level
