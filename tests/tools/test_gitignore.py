import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rpc_agent.tools.gitignore import is_ignored, parse_rules
from rpc_agent.tools.walk import walk
from tests.support.tools import make_tree


@pytest.mark.parametrize(
    ("rules", "path", "folder", "ignored"),
    [
        ("*.log", "a.log", False, True),
        ("*.log", "x/y/a.log", False, True),
        ("/*.log", "x/a.log", False, None),
        ("x/*.log", "y/x/a.log", False, None),
        ("build/", "build", False, None),
        ("build/", "x/build", True, True),
        ("*.log\n!keep.log", "keep.log", False, False),
        ("!keep.log\n*.log", "keep.log", False, True),
        ("a/**/b", "a/b", False, True),
        ("a/**/b", "a/x/y/b", False, True),
        ("**/b", "b", False, True),
        ("a/**", "a", True, None),
        ("a/**", "a/x", False, True),
        ("# note\n\\#x", "#x", False, True),
        ("\\!x", "!x", False, True),
        ("x   ", "x", False, True),
        ("x\\ ", "x ", False, True),
        ("a?c", "abc", False, True),
        ("a?c", "a/c", False, None),
        ("[a-c].[!o]", "b.x", False, True),
        ("[a-c].[!o]", "b.o", False, None),
        ("[]x]", "]", False, True),
        ("[", "[", False, True),
        ("[z-a]", "z", False, None),
        ("[[:digit:]]x", "7x", False, True),
        ("[[:punct:]][[:graph:]][[:print:]][[:blank:]][[:cntrl:]]", "!~ \t\x01", False, True),
        ("[[:blank:]]", "\v", False, None),
        ("a[/]b", "a/b", False, None),
        ("*.log\r\n", "a.log", False, True),
        ("\ufeff*.log", "a.log", False, True),
        ("foo**bar", "fooxbar", False, True),
        ("/", "a", False, None),
        ("", "a", False, None),
    ],
)
def test_rules_mean_what_git_means(rules: str, path: str, folder: bool, ignored: bool | None):
    assert is_ignored(path, folder=folder, rules=parse_rules(rules)) is ignored


TREE = ["a", "b/a", "b/c/a", "b/c/x.log", "c/b", "x.log", "a b", "c/a/b"]
patterns = st.lists(
    st.sampled_from(["a", "b", "c", "*", "**", "/", "?", "[ab]", "!", ".log", "\\", " ", "x"]), min_size=1, max_size=4
).map("".join)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@given(st.lists(patterns, min_size=1, max_size=4))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_walk_leaves_out_what_git_leaves_out(tmp_path_factory: pytest.TempPathFactory, rules: list[str]):
    root = tmp_path_factory.mktemp("tree")
    make_tree(root, {name: "" for name in TREE if name != "a"} | {".gitignore": "\n".join(rules) + "\n"})
    walked = [found.path for found in walk(root) if not found.is_folder]
    assert walked == git_files(root)
    shutil.rmtree(root)


def git_files(root: Path) -> list[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(root), "GIT_CONFIG_NOSYSTEM": "1"}
    options = {"cwd": root, "env": environment, "check": True, "timeout": 30}
    subprocess.run(["git", "init", "-q"], **options)  # type: ignore[call-overload]
    listing = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard"], capture_output=True, **options)  # type: ignore[call-overload]
    names = [name for name in listing.stdout.decode().split("\0") if name]
    return sorted(names, key=lambda name: [part.encode() for part in name.split("/")])
