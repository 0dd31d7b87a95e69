"""Several layers of settings -> the effective ones, with where each came from. Pure; reads no file."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from rpc_agent.errors import SettingsError
from rpc_agent.settings.fields import FIELDS, PERMISSION_MODES, flatten, problems, unknown_fields
from rpc_agent.settings.values import (
    CompactionSettings,
    PermissionRule,
    PermissionSettings,
    RetrySettings,
    Settings,
    ShellSettings,
    read_compaction,
)

Origin = Literal["user", "project", "session", "commandLine"]


class Layer(Struct, frozen=True):
    """One source of settings. `file` is its name for messages; `values` is the JSON object as read."""

    origin: Origin
    file: str
    values: Mapping[str, Any]


def combine(layers: Sequence[Layer]) -> Settings:
    """The effective settings; a later layer wins, but a project can only tighten permissions.

    Raises SettingsError for the first bad value, naming field and file.
    """
    values: dict[str, Any] = {field.name: field.default for field in FIELDS}
    origins = dict.fromkeys(values, "default")
    warnings: list[str] = []
    for layer in layers:
        _check(layer)
        warnings += [f"{layer.file}: {name}: unknown setting, ignored" for name in unknown_fields(layer.values)]
        for name, value in flatten(layer.values).items():
            if name not in values:
                continue
            merged, warning = _merge(name, values[name], value, layer)
            warnings += [warning] if warning else []
            if merged is not values[name]:
                values[name], origins[name] = merged, layer.origin
    return _settings(values, origins, tuple(warnings))


def _check(layer: Layer) -> None:
    for field, message in problems(layer.values):
        raise SettingsError(message, field=field or "settings", file=layer.file)


def _merge(name: str, old: Any, new: Any, layer: Layer) -> tuple[Any, str]:
    """The value to go on with (`old` itself when nothing changes) and a warning, if there is one."""
    match name:
        case "compaction.modelOverrides":
            return {ref: {**old.get(ref, {}), **new.get(ref, {})} for ref in [*old, *(set(new) - set(old))]}, ""
        case "permissions.mode" if layer.origin == "project" and _is_looser(new, than=old):
            return old, f"{layer.file}: {name}: a project can only tighten permissions; {new!r} ignored"
        case "permissions.rules" if layer.origin == "project":
            tightening = [rule for rule in new if rule["action"] != "allow"]
            loose = len(new) - len(tightening)
            warning = f"{layer.file}: {name}: a project can only tighten permissions; {loose} allow rules ignored"
            return ([*old, *tightening] if tightening else old), (warning if loose else "")
        case "permissions.rules":
            return [*old, *new], ""
        case _:
            return new, ""


def _is_looser(mode: str, *, than: str | None) -> bool:
    # With no mode set the client decides between ask and read-only, so a project may only say read-only.
    limit = PERMISSION_MODES.index(than) if than else 0
    return PERMISSION_MODES.index(mode) > limit


def _settings(values: Mapping[str, Any], origins: Mapping[str, str], warnings: tuple[str, ...]) -> Settings:
    compaction = {name.partition(".")[2]: value for name, value in values.items() if name.startswith("compaction.")}
    tools = values["tools"]
    return Settings(
        default_model=values["defaultModel"],
        default_thinking_level=values["defaultThinkingLevel"],
        compaction=read_compaction(compaction, CompactionSettings()),
        compaction_overrides=values["compaction.modelOverrides"],
        branch_summary_reserve_tokens=values["branchSummary.reserveTokens"],
        tokens_estimate=values["tokens.estimate"],
        retry=RetrySettings(
            enabled=values["retry.enabled"],
            max_retries=values["retry.maxRetries"],
            base_delay_ms=values["retry.baseDelayMs"],
            max_delay_ms=values["retry.maxDelayMs"],
        ),
        permissions=PermissionSettings(
            mode=values["permissions.mode"], rules=tuple(_rule(raw) for raw in values["permissions.rules"])
        ),
        steering_mode=values["steeringMode"],
        follow_up_mode=values["followUpMode"],
        tools=None if tools is None else tuple(tools),
        session_dir=values["sessionDir"],
        shell=ShellSettings(path=values["shell.path"], pass_env=tuple(values["shell.passEnv"])),
        images_block=values["images.block"],
        offline=values["offline"],
        values=values,
        origins=origins,
        warnings=warnings,
    )


def _rule(raw: Mapping[str, Any]) -> PermissionRule:
    return PermissionRule(tool=raw["tool"], match=raw.get("match", "*"), action=raw["action"])
