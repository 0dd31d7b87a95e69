import os
import subprocess
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from rpc_agent.platform.locks import holder_pid, try_lock

HOLDER = """
import sys, pathlib
from rpc_agent.platform.locks import try_lock
lock = try_lock(pathlib.Path(sys.argv[1]))
print("held" if lock else "free", flush=True)
sys.stdin.read()
"""


def test_only_one_holds_a_lock_at_a_time(tmp_path: Path):
    path = tmp_path / "s.lock"
    with try_lock(path) as lock:
        assert lock is not None
        assert try_lock(path) is None
        assert holder_pid(path) == os.getpid()
    again = try_lock(path)
    assert again is not None
    again.release()


def test_a_released_lock_leaves_no_file_and_may_be_released_twice(tmp_path: Path):
    path = tmp_path / "s.lock"
    lock = try_lock(path)
    assert lock is not None
    lock.release()
    lock.release()
    assert list(tmp_path.iterdir()) == []
    assert holder_pid(path) is None


def test_a_lock_taken_after_the_old_file_was_removed_is_not_shared(tmp_path: Path):
    path = tmp_path / "s.lock"
    first = try_lock(path)
    assert first is not None
    path.unlink()
    second = try_lock(path)
    assert second is not None
    # The first one holds a file without a name; it must not take the name of the second away.
    first.release()
    assert path.exists()
    assert try_lock(path) is None
    second.release()


@pytest.mark.parametrize("end", ["kill", "exit"])
def test_the_lock_of_another_process_counts_until_it_is_dead(tmp_path: Path, end: str):
    path = tmp_path / "s.lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as owner:
        assert owner.stdout is not None and owner.stdin is not None
        assert owner.stdout.readline() == b"held\n"
        assert try_lock(path) is None
        assert holder_pid(path) == owner.pid
        if end == "kill":
            owner.kill()
        else:
            owner.stdin.close()
        owner.wait(10)
    lock = try_lock(path)
    assert lock is not None
    lock.release()


def test_a_stale_file_with_the_pid_of_a_living_process_is_free(tmp_path: Path):
    path = tmp_path / "s.lock"
    path.write_bytes(b"1\n")
    lock = try_lock(path)
    assert lock is not None
    assert holder_pid(path) == os.getpid()
    lock.release()


@pytest.mark.skipif(os.name != "posix", reason="Windows cannot remove what is open")
def test_a_lock_whose_file_goes_between_opening_and_locking_is_taken_under_its_name(tmp_path: Path):
    path = tmp_path / "s.lock"
    owner = try_lock(path)
    assert owner is not None

    def let_go(frame: FrameType, event: str, called: Any) -> None:
        if event == "c_call" and called.__name__ == "flock":
            sys.setprofile(None)
            owner.release()

    sys.setprofile(let_go)
    try:
        lock = try_lock(path)
    finally:
        sys.setprofile(None)
    assert lock is not None
    # Held under the name that everybody else will ask for.
    assert (path.exists(), try_lock(path)) == (True, None)
    lock.release()


def test_a_folder_that_is_not_there_is_an_error_of_the_system(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        try_lock(tmp_path / "missing" / "s.lock")


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")
@pytest.mark.parametrize("what", ["link", "link to nothing", "file", "pipe", "hard link"])
def test_what_somebody_put_in_the_place_of_a_lock_is_neither_followed_nor_changed(tmp_path: Path, what: str):
    path, other = tmp_path / "s.lock", tmp_path / "other"
    if what != "link to nothing":
        other.write_text("precious")
    match what:
        case "file":
            path.write_text("precious")
        case "pipe":
            os.mkfifo(path)
        case "hard link":
            path.hardlink_to(other)
        case _:
            path.symlink_to(other)
    with pytest.raises(OSError):
        try_lock(path)
    assert os.path.lexists(path)
    assert other.exists() is (what != "link to nothing")
    assert all(each.read_text() == "precious" for each in (path, other) if each.is_file())
