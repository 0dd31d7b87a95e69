"""Faults: kills, cuts at every byte, full disks, two processes. What was announced is there, and the next append survives."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rpc_agent.errors import SessionLocked
from rpc_agent.storage.session_store import SessionStore
from tests.support.sessions import CountingIdentity, line, raw_entry, user, write_session

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and limits are POSIX")

APPENDER = """
import sys
from pathlib import Path
from rpc_agent.errors import SessionLocked
from rpc_agent.storage.session_store import SessionStore
from rpc_agent.errors import RpcAgentError
from tests.support.sessions import CountingIdentity, user
store = SessionStore.open(Path(sys.argv[1]), identity=CountingIdentity(first_id=int(sys.argv[2])))
for n in range(int(sys.argv[3])):
    try:
        entry = store.append("message", {"message": user(str(n) * 300)})
    except RpcAgentError as error:
        print(type(error).__name__, error.details.get("errno"), store.leaf_id, flush=True)
        break
    print(entry.id, flush=True)
"""
MANY = "1000000"


def appender(path: Path, first_id: int, count: str, **more: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", APPENDER, str(path), str(first_id), count],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        **more,  # type: ignore[call-overload]
    )


def reopen(path: Path, first_id: int = 1 << 30) -> SessionStore:
    return SessionStore.open(path, identity=CountingIdentity(first_id=first_id))


def ids(store: SessionStore) -> list[str]:
    return [entry.id for entry in store.entries().entries]


def test_a_kill_at_any_moment_loses_nothing_that_was_announced(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.jsonl")
    announced: list[str] = []
    for life in range(12):
        with appender(path, (life + 1) << 20, MANY) as process:
            assert process.stdout is not None
            for _ in range(1 + life * 7):
                announced.append(process.stdout.readline().strip())
            process.send_signal(signal.SIGKILL)
            announced += process.stdout.read().split("\n")[:-1]
        store = reopen(path, (life + 1) << 24)
        assert [entry_id for entry_id in announced if entry_id not in ids(store)] == []
        announced.append(store.append("message", {"message": user("after")}).id)
        store.close()


def test_a_cut_at_every_byte_of_an_append_keeps_all_before_it_and_the_next_append(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.jsonl", raw_entry("a", None))
    before = path.read_bytes()
    store = reopen(path)
    last = store.append("message", {"message": user('the \u00e9nd {"}\U0001f680')})
    store.close()
    whole = path.read_bytes()
    for cut in range(len(before), len(whole) + 1):
        path.write_bytes(whole[:cut])
        # The line is complete when all but its newline is there.
        kept = ["a", last.id] if cut >= len(whole) - 1 else ["a"]
        store = reopen(path)
        assert ids(store) == kept, cut
        torn = [warning.kind for warning in store.warnings]
        assert torn == (["tornTail"] if len(before) < cut < len(whole) - 1 else []), cut
        added = store.append("message", {"message": user("next")})
        store.close()
        # On a line of its own, for readers that do not look for entries inside torn lines.
        assert path.read_bytes().endswith(b"\n" + line(added.raw)), cut
        again = reopen(path)
        assert (ids(again), [entry.id for entry in again.branch()]) == ([*kept, added.id], [*kept, added.id]), cut
        again.close()


@pytest.mark.parametrize("room", [1, 150, 399, 400, 2000])
def test_a_full_disk_is_rolled_back_to_whole_lines_and_reported(tmp_path: Path, room: int) -> None:
    import resource  # noqa: PLC0415 - POSIX only

    path = write_session(tmp_path / "s.jsonl", raw_entry("a", None))
    limit = path.stat().st_size + room

    def no_more_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    with appender(path, 1, MANY, preexec_fn=no_more_room) as process:
        assert process.stdout is not None
        lines = process.stdout.read().split("\n")[:-1]
    *announced, (failure, _, leaf) = (entry.split() for entry in lines)
    written = ["a", *(entry_id for (entry_id,) in announced)]
    assert (failure, leaf) == ("StorageFailed", written[-1])
    assert path.read_bytes().endswith(b"}\n")
    store = reopen(path)
    assert (ids(store), store.warnings) == (written, [])
    store.append("message", {"message": user("room again")})
    store.close()


BEGINNER = """
import os, sys
from pathlib import Path
from rpc_agent.errors import SessionLocked
from rpc_agent.storage.session_store import SessionStore
from rpc_agent.errors import StorageFailed
from tests.support.sessions import CountingIdentity, user
store = SessionStore.create(Path(sys.argv[1]), cwd="/w", identity=CountingIdentity())
for _ in range(2):
    try:
        store.append("message", {"message": user("x" * 100)})
    except StorageFailed as error:
        print(error.details["errno"], store.leaf_id, os.listdir(store.path.parent))
"""


@pytest.mark.parametrize("room", [20, 200])
def test_a_session_that_finds_no_room_to_begin_leaves_no_file_and_no_lock(tmp_path: Path, room: int) -> None:
    import resource  # noqa: PLC0415 - POSIX only

    done = subprocess.run(
        [sys.executable, "-c", BEGINNER, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
    )
    assert done.stdout.splitlines() == ["28 None []"] * 2


def test_the_lock_of_a_killed_process_is_free_and_that_of_a_living_one_is_not(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.jsonl")
    with appender(path, 1, MANY) as process:
        assert process.stdout is not None
        process.stdout.readline()
        # A second writer gets the refusal and has written nothing.
        with pytest.raises(SessionLocked, match=str(process.pid)):
            reopen(path)
        process.kill()
        process.stdout.read()
    store = reopen(path)
    assert not store.read_only
    store.close()
