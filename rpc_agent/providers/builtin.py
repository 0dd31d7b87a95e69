"""The providers everybody may have a key for, and a few models of each. Data only.

Windows, output limits and prices were entered by hand and not checked against a source; models.json overrides and adds.
"""

from dataclasses import dataclass, field
from typing import Any

from rpc_agent.conversation.models import Model
from rpc_agent.providers.keys import KeySource


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """How to reach a service. `compat` holds for all its models."""

    name: str
    api: str
    base_url: str = ""
    base_url_variable: str = ""
    """A variable of the user that replaces `base_url`."""
    key: KeySource = field(default_factory=lambda: KeySource("none"))
    headers: dict[str, str] = field(default_factory=dict)
    compat: dict[str, Any] = field(default_factory=dict)
    script: str = ""
    """Path of the script of a provider whose api is "scripted"."""
    models: tuple[Model, ...] = ()


_CHAT = "openai-completions"


def _provider(name: str, url: str, variable: str, *rows: dict[str, Any], **more: Any) -> Provider:
    api = more.pop("api", _CHAT)
    models = tuple(Model(provider=name, api=api, base_url=url, **row) for row in rows)
    return Provider(name=name, api=api, base_url=url, key=KeySource("variable", variable), models=models, **more)


def _row(
    model_id: str, window: int, output: int, price: tuple[float, ...] = (), *, thinks: bool = False, sees: bool = False
) -> dict[str, Any]:
    """`price`: dollars per million tokens for input, output, cache reads."""
    return {
        "id": model_id,
        "context_window": window,
        "max_tokens": output,
        "reasoning": thinks,
        "input": ("text", "image") if sees else ("text",),
        "cost": dict(zip(("input", "output", "cacheRead"), price, strict=False)),
    }


_OPENAI_COMPAT = {
    "supportsDeveloperRole": True,
    "supportsStore": True,
    "supportsPromptCacheKey": True,
    "maxTokensField": "max_completion_tokens",
}

BUILTIN_PROVIDERS: tuple[Provider, ...] = (
    _provider(
        "anthropic",
        "https://api.anthropic.com",
        "ANTHROPIC_API_KEY",
        api="anthropic-messages",
        base_url_variable="ANTHROPIC_BASE_URL",
    ),
    _provider(
        "openai",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        _row("gpt-5", 400_000, 128_000, (1.25, 10.0, 0.125), thinks=True, sees=True),
        _row("gpt-5-mini", 400_000, 128_000, (0.25, 2.0, 0.025), thinks=True, sees=True),
        _row("gpt-4.1", 1_047_576, 32_768, (2.0, 8.0, 0.5), sees=True),
        _row("gpt-4.1-mini", 1_047_576, 32_768, (0.4, 1.6, 0.1), sees=True),
        _row("gpt-4o", 128_000, 16_384, (2.5, 10.0, 1.25), sees=True),
        base_url_variable="OPENAI_BASE_URL",
        compat=_OPENAI_COMPAT,
    ),
    _provider(
        "google",
        "https://generativelanguage.googleapis.com/v1beta",
        "GEMINI_API_KEY",
        api="google-generative-ai",
    ),
    _provider(
        "openrouter",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        _row("anthropic/claude-sonnet-4.5", 200_000, 64_000, (3.0, 15.0, 0.3), thinks=True, sees=True),
        _row("openai/gpt-5", 400_000, 128_000, (1.25, 10.0, 0.125), thinks=True, sees=True),
        _row("google/gemini-2.5-pro", 1_048_576, 65_536, (1.25, 10.0, 0.31), thinks=True, sees=True),
    ),
    _provider(
        "groq",
        "https://api.groq.com/openai/v1",
        "GROQ_API_KEY",
        _row("openai/gpt-oss-120b", 131_072, 65_536, (0.15, 0.75), thinks=True),
        _row("llama-3.3-70b-versatile", 131_072, 32_768, (0.59, 0.79)),
    ),
    _provider(
        "mistral",
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        _row("mistral-large-latest", 131_072, 16_384, (2.0, 6.0)),
        _row("devstral-medium-latest", 131_072, 16_384, (0.4, 2.0)),
        compat={"supportsUsageInStreaming": False, "supportsReasoningEffort": False, "replaysReasoning": False},
    ),
    _provider(
        "deepseek",
        "https://api.deepseek.com",
        "DEEPSEEK_API_KEY",
        _row("deepseek-chat", 131_072, 8_192, (0.28, 0.42, 0.028)),
        _row("deepseek-reasoner", 131_072, 65_536, (0.28, 0.42, 0.028), thinks=True),
        compat={"supportsReasoningEffort": False},
    ),
    _provider(
        "xai",
        "https://api.x.ai/v1",
        "XAI_API_KEY",
        _row("grok-4", 256_000, 64_000, (3.0, 15.0, 0.75), thinks=True, sees=True),
        _row("grok-code-fast-1", 256_000, 10_000, (0.2, 1.5, 0.02), thinks=True),
        compat={"supportsReasoningEffort": False},
    ),
    _provider(
        "cerebras",
        "https://api.cerebras.ai/v1",
        "CEREBRAS_API_KEY",
        _row("gpt-oss-120b", 131_072, 32_768, (0.35, 0.75), thinks=True),
        compat={"maxTokensField": "max_completion_tokens"},
    ),
    _provider(
        "moonshot",
        "https://api.moonshot.ai/v1",
        "MOONSHOT_API_KEY",
        _row("kimi-k2-0905-preview", 262_144, 16_384, (0.6, 2.5, 0.15)),
        _row("kimi-k2-thinking", 262_144, 65_536, (0.6, 2.5, 0.15), thinks=True),
        compat={"supportsReasoningEffort": False},
    ),
    _provider(
        "zai",
        "https://api.z.ai/api/paas/v4",
        "ZAI_API_KEY",
        _row("glm-4.6", 204_800, 131_072, (0.6, 2.2, 0.11), thinks=True),
        compat={"supportsReasoningEffort": False},
    ),
    _provider(
        "dashscope",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        "DASHSCOPE_API_KEY",
        _row("qwen3-coder-plus", 1_000_000, 65_536, (1.0, 5.0, 0.1)),
        _row("qwen-plus", 1_000_000, 32_768, (0.4, 1.2)),
    ),
    _provider(
        "together",
        "https://api.together.xyz/v1",
        "TOGETHER_API_KEY",
        _row("openai/gpt-oss-120b", 131_072, 32_768, (0.15, 0.6), thinks=True),
    ),
    _provider(
        "fireworks",
        "https://api.fireworks.ai/inference/v1",
        "FIREWORKS_API_KEY",
        _row("accounts/fireworks/models/gpt-oss-120b", 131_072, 32_768, (0.15, 0.6), thinks=True),
    ),
)
