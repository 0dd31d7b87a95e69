"""What is known of a model: its name, its limits, its price. Says nothing about how to reach it."""

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from rpc_agent.conversation.json_values import JsonObject

THINKING_LEVELS = ("off", "minimal", "low", "medium", "high", "xhigh")


class PriceTier(Struct, frozen=True):
    """Other prices for a whole call that reads more than `above` tokens; those it leaves out stay as they are."""

    above: int
    prices: Mapping[str, float]


class Model(Struct, frozen=True, kw_only=True):
    """One model of one provider. `context_window` and `max_tokens` are tokens, 0 where nobody knows."""

    id: str
    provider: str
    api: str
    name: str = ""
    base_url: str = ""
    reasoning: bool = False
    input: tuple[str, ...] = ("text",)
    """Kinds of content the model reads: "text", "image"."""
    context_window: int = 0
    max_tokens: int = 0
    cost: Mapping[str, float] = field(default_factory=dict)
    """US dollars per million tokens, by `input`, `output`, `cacheRead`, `cacheWrite`."""
    price_tiers: tuple[PriceTier, ...] = ()
    compat: Mapping[str, Any] = field(default_factory=dict)
    """Quirks of a server that claims to speak `api`; data, so that adapters need no branches per vendor."""

    @property
    def ref(self) -> str:
        """ "provider/modelId", as settings, commands and overrides name it."""
        return f"{self.provider}/{self.id}"

    def to_json(self, window: int = 0) -> JsonObject:
        """The wire's Model; never holds a key. `window` is the one in force where it is known to be smaller."""
        prices = {"input": 0.0, "output": 0.0, "cacheRead": 0.0, "cacheWrite": 0.0, **self.cost}
        return {
            "id": self.id,
            "name": self.name or self.id,
            "provider": self.provider,
            "api": self.api,
            "baseUrl": _public(self.base_url),
            "reasoning": self.reasoning,
            "input": list(self.input),
            "contextWindow": self.context_window,
            "maxTokens": self.max_tokens,
            "cost": prices,
            **({"effectiveContextWindow": window} if 0 < window < self.context_window else {}),
        }


def _public(url: str) -> str:
    """An address without its user and query, where some keep a password or a key."""
    return re.sub(r"//[^/?#]*@", "//", url).partition("?")[0]


def split_ref(ref: str) -> tuple[str, str]:
    """("provider", "modelId") of a reference, split at the first slash: model ids contain slashes, providers do not."""
    provider, _, model_id = ref.partition("/")
    return provider, model_id
