"""Runs the program that searches and reads its answers line by line, until it has enough or is told to stop."""

import base64
import json
import os
import subprocess
import threading
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Hit:
    """`start` is where in `text` (in bytes of UTF-8) the match begins."""

    path: str
    line: int
    text: str
    start: int


class PatternRefused(Exception):
    """The program does not understand what it was asked; the message is its own."""


class SearchProcess:
    """One search, used in a thread. `stop`, from any thread, ends it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def hits(self, command: Sequence[str], environment: Mapping[str, str]) -> Generator[Hit, None, None]:
        """The hits in the program's order. Raises PatternRefused when it gives an error."""
        with self._lock:
            if self._stopped:
                return
            self._process = process = subprocess.Popen(
                command,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        with process:
            assert process.stdout is not None and process.stderr is not None
            try:
                yield from (hit for line in process.stdout if (hit := _hit(line)))
                message = process.stderr.read().decode("utf-8", "replace").strip()
            except BaseException:
                # Whoever has enough does not read on, and the program would wait for ever to be read.
                process.kill()
                raise
        if process.returncode == 2 and not self._stopped:
            raise PatternRefused(message)

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.kill()


def _hit(line: bytes) -> Hit | None:
    message = json.loads(line)
    if message.get("type") != "match":
        return None
    data = message["data"]
    matches = data.get("submatches") or [{"start": 0}]
    text = _text(data["lines"]).removesuffix("\n").removesuffix("\r")
    return Hit(_path(data["path"]), data["line_number"], text, matches[0]["start"])


def _text(value: Mapping[str, Any]) -> str:
    return _raw(value).decode("utf-8", "replace")


def _path(value: Mapping[str, Any]) -> str:
    return os.fsdecode(_raw(value))


def _raw(value: Mapping[str, Any]) -> bytes:
    return base64.b64decode(value["bytes"]) if "bytes" in value else str(value["text"]).encode()
