"""The settings of one open session: what the files say, and what this session alone was told. Writes on request."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from rpc_agent.errors import InvalidValue
from rpc_agent.runtime.config_file import write_config
from rpc_agent.runtime.services import Services
from rpc_agent.settings import Settings, problems, project_settings_file, user_settings_file
from rpc_agent.settings.fields import unfold
from rpc_agent.settings.files import read_json_file

Scope = Literal["session", "user", "project"]


class SessionSettings:
    """`current` is replaced as a whole: whoever needs a setting asks for it each time."""

    def __init__(self, services: Services, cwd: Path, current: Settings) -> None:
        self._services = services
        self._cwd = cwd
        self._own: dict[str, Any] = {}
        self.current = current

    def update(self, patch: Mapping[str, Any], scope: Scope) -> None:
        """Merge a patch in the shape of settings.json, dotted names too; null takes a value back.

        Raises InvalidValue naming the field, StorageFailed, SettingsError when a file on the way is broken.
        """
        if scope == "session":
            merged = merge_patch(self._own, unfold(patch))
            _check(merged)
            self.current = self._services.settings(self._cwd, session=merged)
            self._own = merged
            return
        file = user_settings_file(self._services.launch.config_dir)
        if scope == "project":
            file = project_settings_file(self._cwd)
        merged = merge_patch(unfold(read_json_file(file) or {}), unfold(patch))
        _check(merged)
        write_config(file, merged)
        self.current = self._services.settings(self._cwd, session=self._own)


def merge_patch(values: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """`values` with the patch merged in: objects field by field, null removes, everything else replaces."""
    merged = dict(values)
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, Mapping):
            old = merged.get(name)
            merged[name] = merge_patch(old if isinstance(old, Mapping) else {}, value)
        else:
            merged[name] = value
    return merged


def _check(values: Mapping[str, Any]) -> None:
    for field, message in problems(values):
        raise InvalidValue(f"patch.{field}" if field else "patch", message)
