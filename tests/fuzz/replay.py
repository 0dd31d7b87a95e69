"""Fuzz target: any bytes are a session or said to be none; every complete entry is in it, and it can be walked and sent."""

import itertools
import json
from collections.abc import Iterator
from typing import Any

from rpc_agent.context.model_blocks import Recipient
from rpc_agent.context.model_messages import model_messages
from rpc_agent.context.projection import project
from rpc_agent.conversation.json_values import without_lone_surrogates
from rpc_agent.errors import SessionUnreadable
from rpc_agent.providers.json_bytes import to_json
from rpc_agent.session.entries import read_entry
from rpc_agent.session.replay import LoadedSession, read_session
from rpc_agent.storage.loading import Loaded, session_bytes
from tests.conftest import ROOT
from tests.support.sessions import HEADER, line

_RECIPIENT = Recipient(provider="p", model_id="m", input=("text", "image"))
_DAMAGE = {
    "unreadableLine",
    "tornTail",
    "gluedLine",
    "joinedLine",
    "nulBytes",
    "invalidUtf8",
    "blankLine",
    "duplicateId",
}

TOKENS = (
    b'{"type":"', b'"parentId":', b'"id":"', b"null", b'"timestamp":"2026-01-01T00:00:00.000Z"', b"\n", b"\r\n", b"\0\0\0",
    b'"message":{"role":"', b"toolResult", b"compaction", b"context_edit", b"firstKeptEntryId", b"retainedTail", b"branch_summary",
    b"custom_message", b"label", b"session_info", b"leaf", b'"content":', b'{"type":"toolCall","id":"', b"\xef\xbb\xbf", b"\\ud83d",
    b"[]", b"{}", b'"version":1', b'"version":2', b"123456789012345678901234567890", b"1e999", b"\xff",
)  # fmt: skip
MAX_BYTES = 3000


def seeds() -> list[bytes]:
    files = [*(ROOT / "tests/golden/sessions").glob("*.jsonl"), *(ROOT / "tests/golden/context").glob("*.jsonl")]
    return [data for file in sorted(files) if len(data := file.read_bytes()) < 3000]


def check(data: bytes) -> None:
    try:
        loaded = read(data)
    except SessionUnreadable:
        data = line(HEADER) + data
        loaded = read(data)
    _holds_every_complete_entry(data, loaded)
    _can_be_walked(loaded)
    can_be_sent(loaded)
    _can_be_written_and_read_again(loaded)


def read(data: bytes) -> LoadedSession:
    numbers = itertools.count()
    return read_session(data, draw_id=lambda: f"{next(numbers):08x}")


def can_be_sent(loaded: LoadedSession | Loaded) -> bytes:
    """What a service would be sent, as JSON."""
    projection = project(loaded.tree.path(loaded.tree.leaf_id))
    return to_json(list(model_messages(projection, _RECIPIENT)))


def _holds_every_complete_entry(data: bytes, loaded: LoadedSession) -> None:
    if loaded.migrated:
        return  # It has other ids.
    for raw in _plain_records(data):
        entry = None if raw.get("type") == "session" else read_entry(raw)
        # Half a surrogate pair, which no UTF-8 can hold, is one replacement character wherever it stands.
        assert entry is None or loaded.tree.has(without_lone_surrogates(entry.id)), raw


def _plain_records(data: bytes) -> Iterator[Any]:
    """The lines that any reader of JSON takes for a record."""
    for each in data.split(b"\n"):
        try:
            raw = json.loads(each.decode("utf-8"))
        except (ValueError, RecursionError):
            continue
        if isinstance(raw, dict) and isinstance(raw.get("type"), str):
            yield raw


def _can_be_walked(loaded: LoadedSession) -> None:
    tree = loaded.tree
    ids = [entry.id for entry in tree]
    path = [entry.id for entry in tree.path(tree.leaf_id)]
    assert len(set(path)) == len(path) and set(path) <= set(ids)
    below = [child for children in tree.children().values() for child in children]
    assert sorted(below) == sorted(ids), "each entry is below exactly one other"
    reached: list[str] = []
    waiting = list(tree.roots)
    while waiting:
        reached.append(waiting.pop())
        waiting += tree.children().get(reached[-1], [])
    assert sorted(reached) == sorted(ids), "each entry is in reach of a root"


def _can_be_written_and_read_again(loaded: LoadedSession) -> None:
    again = read(session_bytes(loaded.header, loaded.tree))
    assert [entry.raw for entry in again.tree] == [entry.raw for entry in loaded.tree]
    assert again.tree.leaf_id == loaded.tree.leaf_id
    assert {warning.kind for warning in again.warnings} & _DAMAGE == set()
