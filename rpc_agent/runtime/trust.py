"""Remembers which projects the user trusts. Reading and deciding is `settings.trust`; this writes."""

from pathlib import Path

from rpc_agent.runtime.config_file import write_config
from rpc_agent.settings.trust import load_trust, trust_file


def write_trust(config_dir: Path, directory: Path, trusted: bool) -> None:
    """`directory` is absolute and resolved. Raises SettingsError when the file there is broken, StorageFailed."""
    write_config(trust_file(config_dir), {**load_trust(config_dir), str(directory): trusted})
