"""Commands of the user beside a run: their record waits, and waits on when the disk refuses it."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from rpc_agent.conversation.messages import user_message
from rpc_agent.errors import StorageFailed
from rpc_agent.runtime.identity import SystemIdentity
from rpc_agent.runtime.session_log import SessionLog
from rpc_agent.runtime.user_shell import UserShell
from rpc_agent.storage.session_store import SessionStore
from tests.support.agent_server import PATIENCE

pytestmark = pytest.mark.anyio


@contextmanager
def no_room_behind(file: Path) -> Iterator[None]:
    """Within, no file can be longer than this one is."""
    import resource  # noqa: PLC0415 - not on Windows

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
async def test_what_a_full_disk_refuses_is_recorded_when_there_is_room_again(tmp_path: Path) -> None:
    store = SessionStore.create(tmp_path, cwd=str(tmp_path), identity=SystemIdentity())
    log = SessionLog(store, lambda event: None)
    log.record(user_message("hello", timestamp=1))
    shell = UserShell(
        log,
        cwd=tmp_path,
        environment=dict(os.environ),
        shell=lambda: None,
        is_running=lambda: True,
        now_ms=lambda: 1,
        emit=lambda event: None,
    )
    with anyio.fail_after(PATIENCE):
        for command in ("echo one", "echo two"):
            await shell.run(command, exclude_from_context=False, timeout=None, request_id=1)
    assert store.path is not None
    with no_room_behind(store.path), pytest.raises(StorageFailed):
        shell.flush()
    shell.flush()
    recorded = [entry.raw["message"].get("command") for entry in store.branch()]
    store.close()
    assert recorded == [None, "echo one", "echo two"]
