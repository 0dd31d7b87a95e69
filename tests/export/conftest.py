"""The session that people looked at when the formats were made."""

from pathlib import Path

import pytest

from rpc_agent.export.snapshot import SessionSnapshot, take_snapshot
from rpc_agent.storage.session_store import SessionStore
from tests.support.sessions import CountingIdentity


@pytest.fixture
def golden_folder() -> Path:
    return Path(__file__).resolve().parents[1] / "golden" / "export"


@pytest.fixture
def golden(golden_folder: Path) -> SessionSnapshot:
    path = golden_folder / "session.jsonl"
    store = SessionStore.open(path, identity=CountingIdentity(), read_only=True)
    return take_snapshot(store, stored=path.read_bytes())
