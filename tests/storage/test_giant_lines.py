"""Holes and lines of hundreds of megabytes, which cost whoever makes them nothing: opened at once, in bounded memory."""

import json
import sys
import tracemalloc
from pathlib import Path

import pytest

from rpc_agent.errors import SessionUnreadable
from rpc_agent.storage.long_lines import LONGEST_LINE
from rpc_agent.storage.session_store import SessionStore
from tests.support.sessions import HEADER, CountingIdentity, line, raw_entry

SIZE = LONGEST_LINE + 50 * 1024 * 1024
BEFORE, AFTER = line(raw_entry("a", None, "before")), line(raw_entry("b", "a", "behind"))
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="files with holes")


def with_giant(path: Path, *, before: bytes, kind: str, after: bytes) -> Path:
    with open(path, "wb") as file:
        file.write(before)
        if kind == "line":
            file.write(b'{"type":"message","id":"x","text":"')
            for _ in range(SIZE >> 20):
                file.write(b"x" * (1 << 20))
        else:
            file.truncate(len(before) + SIZE)
            file.seek(0, 2)
        file.write(b"\n" + after)
    return path


def test_a_giant_line_between_entries_is_passed_over(tmp_path: Path) -> None:
    for kind in ("hole", "line"):
        path = with_giant(tmp_path / f"{kind}.jsonl", before=line(HEADER) + BEFORE, kind=kind, after=AFTER)
        tracemalloc.start()
        store = SessionStore.open(path, identity=CountingIdentity())
        try:
            assert [entry.id for entry in store.branch()] == ["a", "b"]
            assert {warning.kind for warning in store.warnings} >= {"unreadableLine"}
            assert tracemalloc.get_traced_memory()[1] < 3 * LONGEST_LINE
        finally:
            tracemalloc.stop()
            store.close()


@pytest.mark.parametrize("kind", ["hole", "line"])
def test_what_stands_before_a_giant_end_is_the_session(tmp_path: Path, kind: str) -> None:
    path = with_giant(tmp_path / "a.jsonl", before=line(HEADER) + BEFORE, kind=kind, after=b"")
    store = SessionStore.open(path, identity=CountingIdentity(), read_only=True)
    assert [entry.id for entry in store.branch()] == ["a"]
    store.close()


@pytest.mark.parametrize("kind", ["hole", "line"])
def test_a_giant_without_a_header_is_no_session(tmp_path: Path, kind: str) -> None:
    path = with_giant(tmp_path / "a.jsonl", before=b"", kind=kind, after=line(HEADER))
    with pytest.raises(SessionUnreadable):
        SessionStore.open(path, identity=CountingIdentity())


def test_a_giant_of_an_old_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"type": "session", "id": "x", "timestamp": "t", "cwd": "/"}) + "\n")
    with open(path, "r+b") as file:
        file.truncate(600 * 1024 * 1024)
    with pytest.raises(SessionUnreadable, match="too large to be migrated"):
        SessionStore.open(path, identity=CountingIdentity())
    assert path.stat().st_size == 600 * 1024 * 1024
