"""Where rpc-agent keeps its files on each system. Reads no environment of its own and makes no folder.

All functions raise InvalidValue for a chosen place that cannot be one, and where no home directory is known.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

from rpc_agent.errors import InvalidValue
from rpc_agent.platform.given_paths import absolute_path

_APP = "rpc-agent"


def config_dir(environment: Mapping[str, str], *, home: Path | None = None, platform: str = sys.platform) -> Path:
    """The folder of settings.json, models.json and trust.json; `RPC_AGENT_CONFIG_DIR` wins."""
    if chosen := environment.get("RPC_AGENT_CONFIG_DIR"):
        return _absolute("configDir", chosen, home)
    return (
        _base(environment, home, platform, unix=("XDG_CONFIG_HOME", ".config"), windows=("APPDATA", "Roaming")) / _APP
    )


def data_dir(environment: Mapping[str, str], *, home: Path | None = None, platform: str = sys.platform) -> Path:
    """The folder of what rpc-agent writes by itself."""
    unix = ("XDG_DATA_HOME", ".local/share")
    return _base(environment, home, platform, unix=unix, windows=("LOCALAPPDATA", "Local")) / _APP


def sessions_dir(environment: Mapping[str, str], *, home: Path | None = None, platform: str = sys.platform) -> Path:
    """The folder of the sessions of all working directories; `RPC_AGENT_SESSION_DIR` wins."""
    if chosen := environment.get("RPC_AGENT_SESSION_DIR"):
        return _absolute("sessionDir", chosen, home)
    return data_dir(environment, home=home, platform=platform) / "sessions"


def _base(
    environment: Mapping[str, str], home: Path | None, platform: str, *, unix: tuple[str, str], windows: tuple[str, str]
) -> Path:
    user = _home(home)
    if platform == "darwin":
        return user / "Library" / "Application Support"
    if platform == "win32":
        variable, folder = windows
        return Path(environment.get(variable) or user / "AppData" / folder)
    variable, folder = unix
    given = environment.get(variable, "")
    # The XDG rules say that a relative path in these variables is to be ignored.
    return Path(given) if given.startswith("/") else user / folder


def _absolute(field: str, chosen: str, home: Path | None) -> Path:
    if chosen == "~" or chosen.startswith(("~/", "~\\")):
        return _home(home) / chosen[2:]
    return absolute_path(field, chosen)


def _home(home: Path | None) -> Path:
    try:
        return home if home is not None else Path.home()
    except RuntimeError as error:
        raise InvalidValue(
            "HOME",
            "is not set, and the system names no home directory; set it, or both RPC_AGENT_CONFIG_DIR and "
            "RPC_AGENT_SESSION_DIR",
        ) from error
