import os
import sys
from contextlib import chdir
from pathlib import Path

import pytest

from rpc_agent.platform.programs import find_program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")


def program(folder: Path, mode: int = 0o755) -> str:
    folder.mkdir(exist_ok=True)
    (folder / "tool").write_text("#!/bin/sh\n")
    (folder / "tool").chmod(mode)
    return str(folder / "tool")


def test_the_first_folder_of_the_path_that_has_it_counts(tmp_path: Path):
    program(tmp_path / "not for running", 0o644)
    (tmp_path / "folder" / "tool").mkdir(parents=True)
    first, second = program(tmp_path / "first"), program(tmp_path / "second")
    folders = ["not for running", "folder", "missing", "first", "second"]
    assert find_program("tool", os.pathsep.join(str(tmp_path / name) for name in folders)) == first
    assert find_program("tool", str(tmp_path / "second")) == second
    assert [find_program("tool", path) for path in (None, "", str(tmp_path))] == [None, None, None]


@pytest.mark.parametrize("path", [".", "", ":", "bin", "./bin", "bin:."])
def test_a_project_we_work_in_gives_us_no_programs(tmp_path: Path, path: str):
    program(tmp_path)
    program(tmp_path / "bin")
    with chdir(tmp_path):
        assert find_program("tool", path) is None
