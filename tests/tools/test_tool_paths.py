import sys
from pathlib import Path

import pytest

from rpc_agent.tools.base import ToolContext
from rpc_agent.tools.paths import absolute_path, argument_paths, clean_name, shown_path
from tests.support.tools import make_tree


def context(cwd: Path) -> ToolContext:
    return ToolContext(cwd=cwd, tool_call_id="1", environment={"HOME": "/home/ann"})


@pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")
def test_a_path_starts_at_the_working_directory_the_home_or_the_root():
    here = context(Path("/place"))
    assert absolute_path("a/b", here) == Path("/place/a/b")
    assert absolute_path("~/b", here) == Path("/home/ann/b")
    assert absolute_path("~", here) == Path("/home/ann")
    assert absolute_path("~b", here) == Path("/place/~b")
    assert absolute_path("/etc/x", here) == Path("/etc/x")


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_what_permissions_look_at_is_where_a_path_leads_in_the_end(tmp_path: Path):
    make_tree(tmp_path, {"work/a.txt": "", "secret/key": "", "deep/er/x": ""})
    (tmp_path / "work/link").symlink_to(tmp_path / "secret")
    (tmp_path / "work/down").symlink_to(tmp_path / "deep/er")
    here = context(tmp_path / "work")
    leads = {
        "a.txt": "work/a.txt",
        "link/key": "secret/key",
        "link/new/file": "secret/new/file",
        "../secret/key": "secret/key",
        "x/../../secret/key": "secret/key",
        # Up from a link is up from where it leads, as the system sees it.
        "down/../x": "deep/x",
    }
    assert {text: argument_paths({"path": text}, here) for text in leads} == {
        text: (tmp_path / path,) for text, path in leads.items()
    }
    assert argument_paths({}, here) == (tmp_path / "work",)
    assert argument_paths({"path": 5}, here) == ()


def test_names_in_answers_are_relative_where_they_can_be_and_always_one_line():
    here = context(Path("/place"))
    assert shown_path(Path("/place/a/b"), here) == "a/b"
    assert shown_path(Path("/other/b"), here) == "/other/b"
    assert clean_name("two\nlines\r") == "two\\nlines\\r"
