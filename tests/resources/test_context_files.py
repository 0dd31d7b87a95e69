import os
import sys
from pathlib import Path

import pytest

from rpc_agent.resources.context_files import ContextFile, ContextFiles, read_context_files
from tests.support.tools import make_tree

# The folders above the test's own may hold such files too on somebody's machine; they are not looked at here.


def found(root: Path, cwd: str, user: str = "user") -> list[tuple[str, str]]:
    files = read_context_files(root / cwd, root / user).files
    return [(file.path.relative_to(root).as_posix(), file.text) for file in files if file.path.is_relative_to(root)]


def test_the_users_come_first_then_each_folder_down_to_the_working_directory(tmp_path: Path):
    make_tree(tmp_path, {"user/AGENTS.md": "u", "p/AGENTS.md": "p", "p/q/r/CLAUDE.md": "r", "p/q/r/s/AGENTS.md": "s"})
    assert found(tmp_path, "p/q/r") == [("user/AGENTS.md", "u"), ("p/AGENTS.md", "p"), ("p/q/r/CLAUDE.md", "r")]


def test_in_a_folder_the_first_name_counts(tmp_path: Path):
    make_tree(tmp_path, {"a/AGENTS.override.md": "o", "a/AGENTS.md": "a", "a/b/AGENTS.md": "b", "a/b/CLAUDE.md": "c"})
    assert found(tmp_path, "a/b") == [("a/AGENTS.override.md", "o"), ("a/b/AGENTS.md", "b")]


def test_a_file_on_the_way_that_is_the_users_own_comes_once(tmp_path: Path):
    make_tree(tmp_path, {"user/AGENTS.md": "u", "user/p/AGENTS.md": "p"})
    assert found(tmp_path, "user/p") == [("user/AGENTS.md", "u"), ("user/p/AGENTS.md", "p")]


def test_empty_files_and_folders_of_that_name_are_passed_over(tmp_path: Path):
    make_tree(tmp_path, {"a/AGENTS.md": " \n", "a/b/AGENTS.md/x": "", "a/b/CLAUDE.md": "c"})
    assert found(tmp_path, "a/b") == [("a/b/CLAUDE.md", "c")]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize(
    ("link", "target", "is_read"),
    [
        ("p/AGENTS.md", "secret/key", False),
        ("p/AGENTS.md", "secret/notes.md", False),
        ("p/AGENTS.override.md", "user/models.json", False),
        ("p/AGENTS.md", "p/link/key", False),
        ("p/AGENTS.md", "p/docs/agents.md", True),
        ("p/CLAUDE.md", "shared/AGENTS.md", True),
        ("user/AGENTS.md", "secret/notes.md", True),
    ],
)
def test_a_projects_link_is_followed_to_instructions_only(tmp_path: Path, link: str, target: str, is_read: bool):
    files = ("secret/key", "secret/notes.md", "user/models.json", "p/docs/agents.md", "shared/AGENTS.md")
    make_tree(tmp_path, {name: name for name in files})
    (tmp_path / "p" / "link").symlink_to(tmp_path / "secret")
    (tmp_path / link).symlink_to(os.path.relpath(tmp_path / target, (tmp_path / link).parent))
    assert found(tmp_path, "p") == ([(link, target)] if is_read else [])
    told = [each for each in read_context_files(tmp_path / "p", tmp_path / "user").unreadable if str(tmp_path) in each]
    assert [sentence.partition(":")[0] for sentence in told] == ([] if is_read else [str(tmp_path / link)])


def test_odd_bytes_do_not_stop_us(tmp_path: Path):
    make_tree(tmp_path, {"a/AGENTS.md": b"\xef\xbb\xbfcaf\xe9\r\nb\n"})
    assert found(tmp_path, "a") == [("a/AGENTS.md", "caf\ufffd\nb\n")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_a_file_is_read_in_the_encoding_that_its_first_bytes_name(tmp_path: Path, encoding: str):
    make_tree(tmp_path, {"a/AGENTS.md": ""})
    (tmp_path / "a" / "AGENTS.md").write_bytes("café\r\n".encode(encoding))
    assert found(tmp_path, "a") == [("a/AGENTS.md", "café\n")]


def test_a_file_that_is_no_text_is_left_out_and_told(tmp_path: Path):
    make_tree(tmp_path, {"a/AGENTS.md": "a\0b"})
    files = read_context_files(tmp_path / "a", tmp_path / "user")
    assert (files.files, files.unreadable) == ((), (f"{tmp_path / 'a' / 'AGENTS.md'}: it is no text",))


def test_a_giant_file_is_cut_between_characters(tmp_path: Path):
    make_tree(tmp_path, {"a/AGENTS.md": "x" + "é" * 200_000})
    [file] = [
        file
        for file in read_context_files(tmp_path / "a", tmp_path / "user").files
        if file.path.is_relative_to(tmp_path)
    ]
    assert file == ContextFile(tmp_path / "a" / "AGENTS.md", "x" + "é" * 131_071, truncated=True)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_a_pipe_of_that_name_does_not_hold_us_up(tmp_path: Path):
    (tmp_path / "a").mkdir()
    os.mkfifo(tmp_path / "a" / "AGENTS.md")
    assert found(tmp_path, "a") == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_reported(tmp_path: Path):
    make_tree(tmp_path, {"a/AGENTS.md": "x"})
    (tmp_path / "a/AGENTS.md").chmod(0)
    result = read_context_files(tmp_path / "a", tmp_path / "user")
    assert result == ContextFiles((), (f"{tmp_path / 'a/AGENTS.md'}: Permission denied",))
