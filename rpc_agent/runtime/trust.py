"""Remembers which projects the user trusts. Reading and deciding is `settings.trust`; this writes."""

import json
from pathlib import Path

from rpc_agent.errors import StorageFailed
from rpc_agent.platform.atomic_write import replace_file
from rpc_agent.settings.trust import load_trust, trust_file


def write_trust(config_dir: Path, directory: Path, trusted: bool) -> None:
    """`directory` is absolute and resolved. Raises SettingsError when the file there is broken, StorageFailed."""
    known = {**load_trust(config_dir), str(directory): trusted}
    file = trust_file(config_dir)
    try:
        # Its owner's alone: keys may stand beside it.
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(file, (json.dumps(known, indent=2, ensure_ascii=False) + "\n").encode())
    except OSError as error:
        message = f"{file} could not be written: {error.strerror}. Nothing was changed."
        raise StorageFailed(message, errno=error.errno, path=str(file)) from error
