"""Writes one of our own JSON files (settings.json, trust.json), whole or not at all. What it says is for others."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rpc_agent.errors import StorageFailed
from rpc_agent.platform.atomic_write import replace_file


def write_config(file: Path, values: Mapping[str, Any]) -> None:
    """Raises StorageFailed; then the old file is untouched."""
    try:
        # Its owner's alone: keys may stand beside it.
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(file, (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode())
    except OSError as error:
        message = f"{file} could not be written: {error.strerror}. Nothing was changed."
        raise StorageFailed(message, errno=error.errno, path=str(file)) from error
