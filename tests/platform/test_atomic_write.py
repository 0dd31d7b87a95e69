import os
import stat
import sys
from pathlib import Path

import pytest

from rpc_agent.platform.atomic_write import replace_file

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="modes and links of POSIX")


def test_a_file_is_made_and_replaced_and_nothing_is_left_beside_it(tmp_path: Path):
    path = tmp_path / ("n" * 250)
    replace_file(path, b"one")
    replace_file(path, b"two")
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


@posix_only
def test_mode_and_links_stay(tmp_path: Path):
    path, link = tmp_path / "real", tmp_path / "link"
    path.write_bytes(b"old")
    path.chmod(0o754)
    link.symlink_to(path)
    replace_file(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o754


@posix_only
def test_a_new_file_has_the_mode_that_the_user_gives_new_files(tmp_path: Path):
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    replace_file(tmp_path / "ours", b"")
    assert (tmp_path / "ours").stat().st_mode == plain.stat().st_mode


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_the_owner_stays(tmp_path: Path):
    path = tmp_path / "theirs"
    path.write_bytes(b"old")
    os.chown(path, 1234, 2345)
    path.chmod(0o4750)
    replace_file(path, b"new")
    after = path.stat()
    assert (after.st_uid, after.st_gid, stat.S_IMODE(after.st_mode)) == (1234, 2345, 0o4750)


@posix_only
def test_what_is_no_file_is_refused(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="not a regular file"):
        replace_file(pipe, b"x")
