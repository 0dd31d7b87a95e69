"""One session file at the level of the system: locks, calls and their order, short writes, other programs' hands."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rpc_agent.errors import SessionLocked, StorageFailed
from rpc_agent.storage.session_file import SessionFile, lock_path, lock_session, replace_file
from rpc_agent.storage.session_store import SessionStore
from tests.support.sessions import HEADER, CountingIdentity, line, raw_entry, session_bytes, user, write_session
from tests.support.system_calls import system_calls

SYNC = "fdatasync" if sys.platform == "linux" else "fsync"


def calls_of(work: Callable[[], object], *names: str) -> list[str]:
    """Which of these functions of `os` the work calls, in order."""
    with system_calls(*names) as calls:
        work()
    return [call.name for call in calls]


def test_an_append_is_one_write_and_nothing_else(tmp_path: Path) -> None:
    file = SessionFile.open(write_session(tmp_path / "s.jsonl"))
    lines = line(raw_entry("a", None)) + line(raw_entry("b", "a"))
    assert calls_of(lambda: file.append(lines), "write", "pwrite", "writev", "ftruncate") == ["write"]
    file.close()


@pytest.mark.skipif(os.name != "posix", reason="Windows keeps names by itself")
def test_a_new_file_is_on_the_disk_with_its_name_and_later_only_its_bytes_are_waited_for(tmp_path: Path) -> None:
    file = SessionFile.create(tmp_path / "s.jsonl", session_bytes())
    assert calls_of(file.sync, "fdatasync", "fsync") == [SYNC, "fsync"]
    file.append(line(raw_entry("a", None)))
    assert calls_of(file.sync, "fdatasync", "fsync") == [SYNC]
    file.close()
    file = SessionFile.open(tmp_path / "s.jsonl")
    assert calls_of(file.sync, "fdatasync", "fsync") == [SYNC]
    file.close()


@pytest.mark.skipif(os.name != "posix", reason="Windows keeps names by itself")
def test_a_migrated_file_is_whole_on_the_disk_before_it_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.jsonl", raw_entry("a", None), header={**HEADER, "version": 2})
    calls = ("fdatasync", "fsync", "replace", "rename", "link")
    work = lambda: SessionStore.open(path, identity=CountingIdentity()).close()  # noqa: E731
    assert calls_of(work, *calls) == ["fsync", "replace", "fsync"]
    path.write_bytes(path.read_bytes().replace(b'"version":3', b'"version":2') + b"{torn\n")
    assert calls_of(work, *calls) == ["link", "fsync", "fsync", "replace", "fsync"]


def test_a_line_behind_an_end_without_newline_begins_on_its_own(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.jsonl")
    path.write_bytes(path.read_bytes()[:-1])
    file, first, second = SessionFile.open(path), line(raw_entry("a", None)), line(raw_entry("b", "a"))
    file.append(first)
    file.append(second)
    assert path.read_bytes() == session_bytes() + first + second
    file.close()


def test_a_replacement_that_fails_leaves_nothing_beside(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").mkdir()
    with pytest.raises(StorageFailed):
        replace_file(tmp_path / "s.jsonl", b"new")
    assert os.listdir(tmp_path) == ["s.jsonl"]


def test_a_sync_that_comes_after_the_close_is_harmless(tmp_path: Path) -> None:
    file = SessionFile.open(write_session(tmp_path / "s.jsonl"))
    file.close()
    file.close()
    file.sync()


def test_a_new_session_is_locked_from_its_first_entry_on(tmp_path: Path) -> None:
    store = SessionStore.create(tmp_path, cwd="/w", identity=CountingIdentity())
    store.append("message", {"message": user("one")})
    assert store.path is not None
    with pytest.raises(SessionLocked) as refusal:
        SessionStore.open(store.path, identity=CountingIdentity())
    assert refusal.value.details["pid"] == os.getpid()
    store.close()
    SessionStore.open(store.path, identity=CountingIdentity()).close()


def test_a_file_that_is_there_already_is_never_written_over(tmp_path: Path) -> None:
    store = SessionStore.create(tmp_path, cwd="/w", identity=CountingIdentity())
    assert store.path is not None
    store.path.parent.mkdir()
    store.path.write_bytes(b"somebody's")
    with pytest.raises(StorageFailed):
        store.append("message", {"message": user("one")})
    assert (store.path.read_bytes(), store.leaf_id) == (b"somebody's", None)
    lock_session(store.path).release()


def test_a_file_that_cannot_be_opened_stays_unlocked(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with pytest.raises(StorageFailed):
        SessionFile.open(path)
    assert not lock_path(path).exists()
    lock_session(path).release()


def test_a_file_that_cannot_be_opened_anew_after_a_migration_is_closed_all_the_same(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.jsonl")
    file = SessionFile.open(path)
    path.rename(tmp_path / "elsewhere.jsonl")
    path.mkdir()
    with pytest.raises(StorageFailed):
        file.was_read(1)
    file.close()
    lock_session(path).release()


def test_the_piece_of_a_short_write_is_cut_off_unless_another_program_wrote_behind_it(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.jsonl")
    file = SessionFile.open(path)
    whole = path.read_bytes()
    piece = b'{"type":"mess'
    # As a write that was cut short leaves things: the piece is in the file, and the position is behind it.
    os.write(file._descriptor, piece)
    file._take_back(len(piece))
    assert path.read_bytes() == whole
    os.write(file._descriptor, piece)
    foreign = b"\n" + line(raw_entry("f", None))
    with open(path, "ab") as other:
        other.write(foreign)
    file._take_back(len(piece))
    assert path.read_bytes() == whole + piece + foreign
    file.close()


@pytest.mark.skipif(os.name != "posix", reason="descriptors as POSIX has them")
def test_where_not_even_the_piece_can_be_cut_off_the_next_line_is_not_glued_to_it(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.jsonl")
    file = SessionFile.open(path)
    whole, piece = path.read_bytes(), b'{"type":"mess'
    os.write(file._descriptor, piece)
    writable, file._descriptor = file._descriptor, os.open(path, os.O_RDONLY)
    os.lseek(file._descriptor, 0, os.SEEK_END)
    file._take_back(len(piece))
    os.close(file._descriptor)
    file._descriptor = writable
    added = line(raw_entry("a", None))
    assert file.growth() == 0
    file.append(added)
    assert path.read_bytes() == whole + piece + b"\n" + added
    file.close()


def test_two_writers_of_one_file_who_know_no_locks_leave_whole_lines(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.jsonl")
    file = SessionFile.open(path)
    with open(path, "ab", buffering=0) as other:
        for n in range(50):
            other.write(line(raw_entry(f"f{n}", None)))
            file.append(line(raw_entry(f"a{n}", None)))
            assert file.size == path.stat().st_size
    ids = [each.split(b'"id":"')[1].split(b'"')[0].decode() for each in path.read_bytes().splitlines()[1:]]
    assert ids == [each for n in range(50) for each in (f"f{n}", f"a{n}")]
    file.close()
