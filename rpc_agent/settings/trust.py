"""Which projects are trusted: trust.json maps absolute directories to true or false. Trusts nothing by default."""

import os
from collections.abc import Mapping
from pathlib import Path, PurePath

from rpc_agent.errors import SettingsError
from rpc_agent.settings.files import read_json_file
from rpc_agent.settings.shapes import Flag, MapOf

TRUST_SHAPE = MapOf(Flag())
"""The shape of a trust.json."""


def trust_file(config_dir: Path) -> Path:
    return config_dir / "trust.json"


def load_trust(config_dir: Path) -> dict[str, bool]:
    """Directory -> trusted. Raises SettingsError (field and file): a broken file must not trust by accident."""
    file = trust_file(config_dir)
    raw = read_json_file(file)
    if raw is None:
        return {}
    for directory, message in TRUST_SHAPE.problems(raw):
        raise SettingsError(message, field=directory or "trust", file=str(file))
    return {_from_home(directory): trusted for directory, trusted in raw.items()}


def _from_home(directory: str) -> str:
    # Passed over, "~/downloads": false would leave trusted what the line above it trusts.
    if directory != "~" and not directory.startswith("~/"):
        return directory
    return os.path.realpath(os.path.expanduser("~")).rstrip("/") + directory[1:]


def is_trusted(trust: Mapping[str, bool], directory: PurePath) -> bool:
    """The nearest ancestor (or the directory itself) that is named decides; nobody named: not trusted.

    `directory` is absolute and resolved, so that a symlink or ".." cannot borrow another directory's trust.
    """
    named = {PurePath(name): trusted for name, trusted in trust.items()}
    return next((named[place] for place in (directory, *directory.parents) if place in named), False)
