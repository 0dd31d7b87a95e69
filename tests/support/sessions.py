"""Small real parts for tests of sessions: an identity that counts, messages, and files made of lines."""

import json
from pathlib import Path
from typing import Any

HEADER = {
    "type": "session",
    "version": 3,
    "id": "0198aa00-0000-7000-8000-000000000001",
    "timestamp": "2026-01-01T00:00:00.000Z",
    "cwd": "/w",
}


class CountingIdentity:
    """Ids and times that count up, so that a test can say what comes."""

    def __init__(self, *, milliseconds: int = 1_767_225_600_000, first_id: int = 1) -> None:
        self._milliseconds = milliseconds
        self._next = first_id

    def now_ms(self) -> int:
        self._milliseconds += 1000
        return self._milliseconds

    def now_iso(self) -> str:
        seconds = (self.now_ms() - 1_767_225_600_000) // 1000
        return f"2026-01-01T{seconds // 3600 % 24:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.000Z"

    def draw_id(self, hex_digits: int = 8) -> str:
        self._next += 1
        return f"{self._next - 1:0{hex_digits}x}"

    def full_id(self) -> str:
        return f"00000000-0000-4000-8000-{self.draw_id(12)}"

    def session_id(self) -> str:
        return f"019b7700-0000-7000-8000-{self.draw_id(12)}"


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text, "timestamp": 0}


def assistant(text: str) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": [{"type": "text", "text": text}],
        "api": "scripted",
        "provider": "p",
        "model": "m",
        "usage": {},
        "stopReason": "stop",
        "timestamp": 0,
    }


def raw_entry(entry_id: str, parent_id: str | None, text: str = "x", **fields: Any) -> dict[str, Any]:
    """A user message entry, or another kind with `type` and its fields given."""
    base = {"type": "message", "id": entry_id, "parentId": parent_id, "timestamp": "2026-01-01T00:00:01.000Z"}
    return {**base, **(fields or {"message": user(text)})}


def line(raw: object) -> bytes:
    return json.dumps(raw, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def session_bytes(*raws: object, header: object = HEADER) -> bytes:
    return line(header) + b"".join(map(line, raws))


def write_session(path: Path, *raws: object, header: object = HEADER) -> Path:
    path.write_bytes(session_bytes(*raws, header=header))
    return path
