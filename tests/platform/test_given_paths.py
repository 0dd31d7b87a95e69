"""Paths that somebody wrote: absolute ones, or a refusal that names the field."""

import os
import sys
from pathlib import Path

import pytest

from rpc_agent.errors import InvalidValue
from rpc_agent.platform.given_paths import absolute_path, checked_path, resolved_path


def refused(path: str) -> list[str]:
    found = []
    for read in (absolute_path, resolved_path):
        with pytest.raises(InvalidValue) as error:
            read("here", path)
        found.append(error.value.message)
    assert found[0] == found[1]
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other limits and takes any UTF-16")
@pytest.mark.parametrize("path", ["\0", "~nobodyhere/x", "x" * 5000, "/x" * 5000, "\ud800", "a/\ud800"])
def test_what_no_path_can_be_is_refused_by_the_name_of_its_field_and_shortly(path: str) -> None:
    message = refused(path)[0]
    assert message.startswith("here: ")
    assert len(message) < 200
    assert message.isascii()


def test_a_path_is_relative_to_its_base_and_the_home_directory_to_nothing(tmp_path: Path) -> None:
    assert absolute_path("here", "a/b", tmp_path) == tmp_path / "a/b"
    assert absolute_path("here", "~/b", tmp_path) == Path.home() / "b"
    assert absolute_path("here", "b") == Path(os.getcwd()) / "b"
    checked_path("here", tmp_path / "not" / "there")


def test_links_are_followed_and_those_in_a_circle_refused_or_left(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "there")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    assert resolved_path("here", tmp_path / "link" / "x") == (tmp_path / "there" / "x").resolve()
    assert absolute_path("here", tmp_path / "link") == tmp_path / "link"
    if sys.version_info < (3, 13):
        with pytest.raises(InvalidValue, match="cannot be followed"):
            resolved_path("here", tmp_path / "circle" / "x")
