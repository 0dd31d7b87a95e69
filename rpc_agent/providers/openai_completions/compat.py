"""How servers that claim to speak chat completions differ, as data. Pure."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text", "thinking")
"""Where servers put thinking: DeepSeek and most, OpenRouter and Groq, GitHub's, a few local ones; the first non-empty
one is taken."""


class Compat(Struct, frozen=True, kw_only=True):
    """Names are those of models.json's `compat` in snake case."""

    supports_developer_role: bool = False
    supports_store: bool = False
    supports_reasoning_effort: bool = True
    supports_usage_in_streaming: bool = True
    supports_prompt_cache_key: bool = False
    max_tokens_field: str = "max_tokens"
    requires_tool_result_name: bool = False
    requires_assistant_after_tool_result: bool = False
    supports_finish_reason: bool = True
    """False: the server gives no reason at the end, so an answer cut by a lost connection looks like a whole one."""
    replays_reasoning: bool = True
    """Send thinking back, in the field it came in: DeepSeek refuses a tool result whose call has lost its thinking."""


def read_compat(raw: Mapping[str, Any]) -> Compat:
    """Unknown names and values of a wrong type are ignored: files of other programs hold more than we know."""

    def flag(name: str, default: bool) -> bool:
        value = raw.get(name)
        return value if isinstance(value, bool) else default

    field = raw.get("maxTokensField")
    return Compat(
        supports_developer_role=flag("supportsDeveloperRole", False),
        supports_store=flag("supportsStore", False),
        supports_reasoning_effort=flag("supportsReasoningEffort", True),
        supports_usage_in_streaming=flag("supportsUsageInStreaming", True),
        supports_prompt_cache_key=flag("supportsPromptCacheKey", False),
        max_tokens_field=field if isinstance(field, str) and field else "max_tokens",
        requires_tool_result_name=flag("requiresToolResultName", False),
        requires_assistant_after_tool_result=flag("requiresAssistantAfterToolResult", False),
        supports_finish_reason=flag("supportsFinishReason", True),
        replays_reasoning=flag("replaysReasoning", True),
    )
