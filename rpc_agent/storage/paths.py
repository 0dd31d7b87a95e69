"""Names and folders of session files. Makes and reads none of them."""

import hashlib
import sys
from collections.abc import Mapping
from pathlib import Path

from rpc_agent.platform import paths as platform_paths

SUFFIX = ".jsonl"
_NOT_IN_FOLDERS = str.maketrans({"/": "-", "\\": "-", ":": "-"})
_NOT_IN_TIMES = str.maketrans({":": "-", ".": "-"})
_LONGEST_NAME = 255
"""Of a folder: bytes on Linux and most systems, UTF-16 units on macOS and Windows."""
_END_KEPT = 50
"""Characters; four bytes each still leave room for the digest."""


def sessions_dir(
    environment: Mapping[str, str],
    *,
    setting: str | None = None,
    option: str | None = None,
    home: Path | None = None,
    platform: str = sys.platform,
) -> Path:
    """The folder of all sessions: `--session-dir`, `RPC_AGENT_SESSION_DIR`, the setting, the platform's place."""
    chosen = option or (setting if not environment.get("RPC_AGENT_SESSION_DIR") else None)
    if not chosen:
        return platform_paths.sessions_dir(environment, home=home, platform=platform)
    return platform_paths.sessions_dir({"RPC_AGENT_SESSION_DIR": chosen}, home=home, platform=platform)


def folder_name(cwd: str, *, platform: str = sys.platform) -> str:
    """The folder, inside the sessions dir, of the sessions of one working directory. The name of one that is too deep
    for a name is a digest and the end of it."""
    inner = (cwd[1:] if cwd.startswith(("/", "\\")) else cwd).translate(_NOT_IN_FOLDERS)
    name = f"--{inner}--"
    counts_units = platform in ("win32", "darwin")
    encoded = name.encode("utf-16-le" if counts_units else "utf-8", "surrogatepass")
    if len(encoded) // (2 if counts_units else 1) <= _LONGEST_NAME:
        return name
    digest = hashlib.sha256(cwd.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"--{digest}-{inner[-_END_KEPT:]}--"


def session_file_path(directory: Path, *, cwd: str, session_id: str, timestamp: str) -> Path:
    """Where a new session of `cwd` is kept; `timestamp` is the header's."""
    return directory / folder_name(cwd) / f"{timestamp.translate(_NOT_IN_TIMES)}_{session_id}{SUFFIX}"


def id_in_name(path: Path) -> str:
    """The session id in a file's name, "" when it is not named as ours are."""
    return path.stem.partition("_")[2] if path.suffix == SUFFIX else ""
