"""Fuzz target: a session opened from the end of its file is sent as the one that was read whole."""

import tempfile
from pathlib import Path

from rpc_agent.errors import SessionUnreadable
from rpc_agent.storage import collector
from rpc_agent.storage.loading import Loaded, load
from tests.fuzz import replay
from tests.support.sessions import HEADER, line

TOKENS, MAX_BYTES = replay.TOKENS, replay.MAX_BYTES
seeds = replay.seeds


def check(data: bytes) -> None:
    # One folder for each input: what a process that is ended has made for all of them would stay.
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        file = Path(folder) / "s.jsonl"
        file.write_bytes(line(HEADER) + data)
        _compare(file, len(data))


def _compare(file: Path, size: int) -> None:
    whole, tail = _opened(file, 1 << 30), _opened(file, 0)
    assert isinstance(whole, Loaded) and isinstance(tail, Loaded)
    try:
        assert tail.tree.leaf_id == whole.tree.leaf_id
        assert replay.can_be_sent(tail) == replay.can_be_sent(whole)
    finally:
        if tail.head is not None:
            tail.head.close()
        collector.session_closed(size)


def _opened(file: Path, whole_limit: int) -> Loaded | SessionUnreadable:
    try:
        return load(file, draw_id=lambda: "0" * 8, may_write=False, whole_limit=whole_limit)
    except SessionUnreadable as error:
        return error
