"""The targets by name. Each is a module with `check(data)`, `seeds()` and `TOKENS`."""

import base64
import importlib
import json
import time
import traceback
from typing import Protocol, cast

from tests.conftest import ROOT

NAMES = ("framing", "envelopes", "replay", "opening", "sse", "edit_match")

HANG_SECONDS = 2.0
"""No input is longer than a few kilobytes; the slowest takes milliseconds."""

_GOLDEN = ROOT / "tests" / "golden" / "fuzz"


class Target(Protocol):
    TOKENS: tuple[bytes, ...]
    """What the language of the target is made of: few random bytes come upon these by themselves."""

    MAX_BYTES: int
    """Of the longest input that is made: long enough for all that can happen, and quick."""

    def check(self, data: bytes) -> None:
        """Raises when something does not hold for `data`."""
        ...

    def seeds(self) -> list[bytes]:
        """Inputs that people thought of."""
        ...


def target(name: str) -> Target:
    return cast(Target, importlib.import_module(f"tests.fuzz.{name}"))


def failure(tested: Target, data: bytes) -> str:
    """What goes wrong with an input, "" for nothing."""
    started = time.perf_counter()
    try:
        tested.check(data)
    except Exception:  # noqa: BLE001 - whatever comes out is what we are looking for
        return traceback.format_exc()
    taken = time.perf_counter() - started
    return f"it took {taken:.1f} s" if taken > HANG_SECONDS else ""


def kind_of(why: str) -> str:
    """What two failures have in common that are one: where the error was raised. Its words may quote the input."""
    lines = [line.strip() for line in why.splitlines() if line.startswith("  File ")]
    return lines[-1] if lines else why[:8]


def findings(name: str) -> list[tuple[str, bytes]]:
    """Each input that once broke something, the smallest there is, and what it broke."""
    file = _GOLDEN / f"{name}.found.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    rows = map(json.loads, lines)
    return [(row["broke"], base64.b64decode(row["data"])) for row in rows]


def corpus(name: str) -> list[bytes]:
    """Inputs that the coverage-guided fuzzer kept, because each of them goes somewhere new."""
    file = _GOLDEN / f"{name}.corpus"
    return [base64.b64decode(line) for line in file.read_bytes().splitlines()] if file.exists() else []


def write_corpus(name: str, inputs: list[bytes]) -> None:
    _GOLDEN.mkdir(exist_ok=True)
    (_GOLDEN / f"{name}.corpus").write_bytes(b"".join(base64.b64encode(data) + b"\n" for data in sorted(inputs)))
