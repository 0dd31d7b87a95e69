"""The effective settings as values. Reads nothing and decides nothing."""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct, field

PermissionMode = Literal["read-only", "ask", "workspace", "allow"]
QueueMode = Literal["one-at-a-time", "all"]


class CompactionSettings(Struct, frozen=True, kw_only=True):
    """When a context is compacted and how much of it stays. Counts are tokens."""

    enabled: bool = True
    """False: never by itself, on no path. Asked for by hand it still works."""
    reserve_tokens: int = 16_384
    """Room kept free of the window for the next answer and for the summary."""
    keep_recent_tokens: int = 20_000
    threshold_percent: float | None = None
    """Share of the window that may be used; takes the place of `reserve_tokens` in the threshold."""
    model: str | None = None
    """ "provider/modelId" that writes summaries; None is the session's own."""
    self_contained: bool = False
    """Write the kept messages into the compaction entry too."""


class RetrySettings(Struct, frozen=True, kw_only=True):
    enabled: bool = True
    max_retries: int = 3
    """Tries after the first one."""
    base_delay_ms: int = 2_000
    max_delay_ms: int = 60_000


class PermissionRule(Struct, frozen=True, kw_only=True):
    """`match` is a glob on the resolved path or the whole command; "*" matches all."""

    tool: str
    match: str = "*"
    action: Literal["deny", "ask", "allow"]


class PermissionSettings(Struct, frozen=True, kw_only=True):
    mode: PermissionMode | None = None
    """None: what the client can do decides (see the protocol's permissions)."""
    rules: tuple[PermissionRule, ...] = ()


class ShellSettings(Struct, frozen=True, kw_only=True):
    path: str | None = None
    pass_env: tuple[str, ...] = ()
    """Variables that reach child processes although they hold keys."""


class Settings(Struct, frozen=True, kw_only=True):
    """Every setting with its effective value. `values` and `origins` are by dotted name, as clients are shown them."""

    default_model: str | None = None
    default_thinking_level: str | None = None
    compaction: CompactionSettings = field(default_factory=CompactionSettings)
    compaction_overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    branch_summary_reserve_tokens: int = 16_384
    tokens_estimate: Literal["classes", "simple"] = "classes"
    retry: RetrySettings = field(default_factory=RetrySettings)
    permissions: PermissionSettings = field(default_factory=PermissionSettings)
    steering_mode: QueueMode = "one-at-a-time"
    follow_up_mode: QueueMode = "one-at-a-time"
    tools: tuple[str, ...] | None = None
    """Names of the tools to offer; None offers all."""
    session_dir: str | None = None
    """As written; a relative one is relative to the working directory."""
    shell: ShellSettings = field(default_factory=ShellSettings)
    images_block: bool = False
    """Send no image to any model."""
    offline: bool = True
    """Whether the built-in offline model may answer when no model has a key."""
    values: Mapping[str, Any] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    """ "default", "user", "project", "session" or "commandLine", by the same names as `values`."""
    warnings: tuple[str, ...] = ()
    """Unknown fields and what a project was not allowed to set; for a person, naming field and file."""

    def compaction_settings(self, model_ref: str) -> CompactionSettings:
        """Per field: the override for "provider/modelId", else the ordinary value, else the default."""
        return read_compaction(self.compaction_overrides.get(model_ref, {}), self.compaction)


def read_compaction(raw: Mapping[str, Any], base: CompactionSettings) -> CompactionSettings:
    """`base` with the fields that `raw` (already checked, names as in the file) sets."""
    return CompactionSettings(
        enabled=raw.get("enabled", base.enabled),
        reserve_tokens=raw.get("reserveTokens", base.reserve_tokens),
        keep_recent_tokens=raw.get("keepRecentTokens", base.keep_recent_tokens),
        threshold_percent=raw.get("thresholdPercent", base.threshold_percent),
        model=raw.get("model", base.model),
        self_contained=raw.get("selfContained", base.self_contained),
    )
