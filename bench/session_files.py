"""Session files of any size for measurements: lines of about 1 KB, written as they are made."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TIME = "2026-01-01T00:00:00.000Z"
_WORDS = "reading the parser and the tests beside it "
_LINE_BYTES = 1000


def write_chain(path: Path, entries: int, *, compacted: bool = False) -> Path:
    """`entries` messages, one below the other. `compacted`: a compaction 20 entries before the end keeps 10 of them."""
    with path.open("wb") as file:
        header = {"type": "session", "version": 3, "id": f"bench-{entries}", "timestamp": TIME, "cwd": str(path.parent)}
        file.write(json.dumps(header).encode() + b"\n")
        for raw in _chain(entries, entries - 20 if compacted else -1):
            file.write(json.dumps(raw).encode() + b"\n")
    return path


def _chain(entries: int, compaction_at: int) -> Iterator[dict[str, Any]]:
    for n in range(entries):
        base = {"id": f"{n:08x}", "parentId": f"{n - 1:08x}" if n else None, "timestamp": TIME}
        if n == compaction_at:
            kept = {"summary": "What was done.", "firstKeptEntryId": f"{n - 10:08x}", "tokensBefore": 9}
            yield {"type": "compaction", **base, **kept}
        else:
            yield {"type": "message", **base, "message": _message(n)}


def _message(n: int) -> dict[str, Any]:
    # What the fields around the text take of a line, for users and for assistants.
    room = _LINE_BYTES - (450 if n % 2 else 200)
    text = (f"{n} " + _WORDS * (room // len(_WORDS) + 1))[:room]
    content = [{"type": "text", "text": text}]
    if n % 2 == 0:
        return {"role": "user", "content": content, "timestamp": n}
    cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
    usage = {"input": 100, "output": 10, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 110, "cost": cost}
    own = {"api": "openai-completions", "provider": "loopback", "model": "m"}
    return {"role": "assistant", "content": content, **own, "usage": usage, "stopReason": "stop", "timestamp": n}
