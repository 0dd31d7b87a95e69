"""How servers that claim to speak the responses API differ, as data. Pure."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class Compat(Struct, frozen=True, kw_only=True):
    """Names are those of models.json's `compat` in snake case."""

    supports_developer_role: bool = False
    supports_prompt_cache_key: bool = False
    supports_encrypted_reasoning: bool = True
    """Answers carry their reasoning encrypted when asked, so that a service that stores nothing can read it again."""
    supports_reasoning_summary: bool = True


def read_compat(raw: Mapping[str, Any]) -> Compat:
    """Unknown names and values of a wrong type are ignored: files of other programs hold more than we know."""

    def flag(name: str, default: bool) -> bool:
        value = raw.get(name)
        return value if isinstance(value, bool) else default

    return Compat(
        supports_developer_role=flag("supportsDeveloperRole", False),
        supports_prompt_cache_key=flag("supportsPromptCacheKey", False),
        supports_encrypted_reasoning=flag("supportsEncryptedReasoning", True),
        supports_reasoning_summary=flag("supportsReasoningSummary", True),
    )
