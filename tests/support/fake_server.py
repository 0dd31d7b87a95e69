"""Starts the scripted server of fake_rpc_server.py and shows what it was sent."""

import json
import sys
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).with_name("fake_rpc_server.py")


class FakeServer:
    """A script written to `folder`; `command` starts a server that follows it."""

    def __init__(self, folder: Path, script: dict[str, list[dict[str, Any]]]) -> None:
        self._script, self._record = folder / "script.json", folder / "record.jsonl"
        self._script.write_text(json.dumps(script), encoding="utf-8")

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-S", str(PROGRAM), str(self._script), str(self._record)]

    def received(self) -> list[dict[str, Any]]:
        """Every message the server has read, in order."""
        return [json.loads(line) for line in self._record.read_text(encoding="utf-8").splitlines()]
