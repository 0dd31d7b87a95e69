"""Reads the configuration files. Says which file and line is wrong; decides nothing about the values."""

import json
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rpc_agent.errors import SettingsError
from rpc_agent.settings.merging import Layer, Origin, combine
from rpc_agent.settings.values import Settings

PROJECT_DIR = ".rpc-agent"


def user_settings_file(config_dir: Path) -> Path:
    return config_dir / "settings.json"


def project_settings_file(project_dir: Path) -> Path:
    return project_dir / PROJECT_DIR / "settings.json"


def load_settings(
    config_dir: Path,
    trusted_project: Path | None = None,
    *,
    session: Mapping[str, Any] | None = None,
    command_line: Mapping[str, Any] | None = None,
) -> Settings:
    """The effective settings. A missing file is an empty one.

    `trusted_project` is the project's directory, None when there is none or it is not trusted: then nothing in it is
    read. `session` and `command_line` have the shape of a settings.json. Raises SettingsError (field and file).
    """
    layers = [_file_layer("user", user_settings_file(config_dir))]
    if trusted_project is not None:
        layers.append(_file_layer("project", project_settings_file(trusted_project)))
    layers.append(Layer("session", "session settings", session or {}))
    layers.append(Layer("commandLine", "command line", command_line or {}))
    return combine(layers)


def _file_layer(origin: Origin, file: Path) -> Layer:
    values = read_json_file(file)
    return Layer(origin, str(file), {} if values is None else values)


def read_json_file(file: Path) -> Any:
    """The JSON in a file, None when there is no such file. Raises SettingsError naming the line."""
    try:
        text = _bytes_of(file).decode("utf-8-sig")
        return json.loads(text) if text.strip() else {}
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise SettingsError("is not UTF-8", field=f"byte {error.start}", file=str(file)) from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise SettingsError(f"is not JSON: {error.msg}", field=where, file=str(file)) from None
    except ValueError:
        raise SettingsError("holds a number with more digits than can be read", field="file", file=str(file)) from None
    except RecursionError:
        raise SettingsError("is nested too deeply", field="file", file=str(file)) from None
    except OSError as error:
        reason = error.strerror or "unreadable"
        raise SettingsError(f"cannot be read: {reason}", field="file", file=str(file)) from None


def _bytes_of(file: Path) -> bytes:
    mode = file.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        # A pipe that nobody writes to would hold the whole server up, and a device need not end.
        raise SettingsError("is a pipe or a device, and no file", field="file", file=str(file))
    return file.read_bytes()
