"""The providers everybody may have a key for. Data only; their models come from the generated table."""

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from rpc_agent.conversation.models import Model
from rpc_agent.providers.keys import KeySource
from rpc_agent.providers.model_table import table_models
from rpc_agent.providers.timeouts import Timeouts

_ENDPOINT = re.compile(r"(?<=[^/:])/+(?:chat/completions|responses|v1/messages)/*$")


def service_address(url: str) -> str:
    """An address as people give it, often that of the one call which a service's page shows."""
    return _ENDPOINT.sub("", url)


class Provider(Struct, frozen=True, kw_only=True):
    """How to reach a service. `compat` holds for all its models, and is in each of them already."""

    name: str
    api: str
    base_url: str = ""
    base_url_variable: str = ""
    """A variable of the user that replaces `base_url`."""
    api_elsewhere: str = ""
    """The api at an address of the user's, where that is another one: fewer servers speak OpenAI's newer API."""
    key: KeySource = field(default_factory=lambda: KeySource("none"))
    headers: dict[str, str] = field(default_factory=dict)
    compat: Mapping[str, Any] = field(default_factory=dict)
    timeouts: Timeouts = field(default_factory=Timeouts)
    script: str = ""
    """Path of the script of a provider whose api is "scripted"."""
    models: tuple[Model, ...] = ()
    first: tuple[str, ...] = ()
    """Ids of the models that go before the others; the first of all answers when nobody chose."""

    def moved(self, base_url: str) -> "Provider":
        """The same provider at another address, with the api to be expected there."""
        models = tuple(replace(model, base_url=base_url, api=self._api_there(model)) for model in self.models)
        return replace(self, base_url=base_url, api=self.api_elsewhere or self.api, models=models)

    def _api_there(self, model: Model) -> str:
        if model.api != self.api or model.compat.get("responsesOnly"):
            return model.api
        return self.api_elsewhere or self.api


_CHAT = "openai-completions"


def _provider(name: str, url: str, variable: str, *first: str, **more: Any) -> Provider:
    api = more.pop("api", _CHAT)
    compat = more.pop("compat", {})
    models = tuple(table_models(name, api, url, compat, first))
    key = KeySource("variable", variable)
    return Provider(name=name, api=api, base_url=url, key=key, compat=compat, models=models, first=first, **more)


_OPENAI_COMPAT = {
    "supportsDeveloperRole": True,
    "supportsStore": True,
    "supportsPromptCacheKey": True,
    "maxTokensField": "max_completion_tokens",
}

_OPEN_MODELS = {"reasoningEffortMap": {"minimal": None}}
"""Servers of open models know the efforts low, medium and high."""

BUILTIN_PROVIDERS: tuple[Provider, ...] = (
    _provider(
        "anthropic",
        "https://api.anthropic.com",
        "ANTHROPIC_API_KEY",
        "claude-sonnet-5-5",
        "claude-opus-5-5",
        "claude-haiku-5-5",
        api="anthropic-messages",
        base_url_variable="ANTHROPIC_BASE_URL",
    ),
    _provider(
        "openai",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        "gpt-6.1-terra",
        "gpt-6.1-sol",
        "gpt-6-luna",
        api="openai-responses",
        api_elsewhere=_CHAT,
        base_url_variable="OPENAI_BASE_URL",
        compat=_OPENAI_COMPAT,
    ),
    _provider(
        "google",
        "https://generativelanguage.googleapis.com/v1beta",
        "GEMINI_API_KEY",
        "gemini-3.8-flash",
        "gemini-3.1-pro-preview",
        api="google-generative-ai",
    ),
    _provider(
        "openrouter",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        "anthropic/claude-sonnet-5.5",
        "openai/gpt-6.1-terra",
        "google/gemini-3.8-flash",
    ),
    _provider("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", "openai/gpt-oss-120b", compat=_OPEN_MODELS),
    _provider(
        "mistral",
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        "mistral-medium-latest",
        "devstral-latest",
        compat={"supportsUsageInStreaming": False, "supportsReasoningEffort": False, "replaysReasoning": False},
    ),
    _provider(
        "deepseek",
        "https://api.deepseek.com",
        "DEEPSEEK_API_KEY",
        "deepseek-v4-pro",
        "deepseek-v4-flash",
        compat={"supportsReasoningEffort": False},
    ),
    _provider(
        "xai",
        "https://api.x.ai/v1",
        "XAI_API_KEY",
        "grok-4.7",
        "grok-build-latest",
        compat={"supportsReasoningEffort": False},
    ),
    _provider(
        "cerebras",
        "https://api.cerebras.ai/v1",
        "CEREBRAS_API_KEY",
        "gpt-oss-120b",
        compat={**_OPEN_MODELS, "maxTokensField": "max_completion_tokens"},
    ),
    _provider(
        "moonshot",
        "https://api.moonshot.ai/v1",
        "MOONSHOT_API_KEY",
        "kimi-k3",
        "kimi-k2.7-code",
        compat={"supportsReasoningEffort": False},
    ),
    _provider(
        "zai",
        "https://api.z.ai/api/paas/v4",
        "ZAI_API_KEY",
        "glm-5.3",
        compat={"supportsReasoningEffort": False},
    ),
    _provider(
        "dashscope",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        "DASHSCOPE_API_KEY",
        "qwen3-coder-plus",
        "qwen3.7-max",
        compat={"supportsReasoningEffort": False},
    ),
    _provider(
        "together",
        "https://api.together.xyz/v1",
        "TOGETHER_API_KEY",
        "openai/gpt-oss-120b",
        compat=_OPEN_MODELS,
    ),
    _provider(
        "fireworks",
        "https://api.fireworks.ai/inference/v1",
        "FIREWORKS_API_KEY",
        "accounts/fireworks/models/gpt-oss-120b",
        compat=_OPEN_MODELS,
    ),
)
