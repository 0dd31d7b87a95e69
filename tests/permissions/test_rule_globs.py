import functools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpc_agent.permissions.matching import allows, forbids
from rpc_agent.permissions.rules import Attempt, Place, Rule
from tests.support.effort import takes_at_most

PLACE = Place(workspace="/w", config_dir="/c", home="/h")
patterns = st.lists(st.sampled_from(["a", "b", "*", "**", "/", "?", "**/"]), max_size=8).map("".join)
paths = st.text("ab/*?\n", max_size=9) | st.text("ab/", max_size=12)


def plainly_fits(pattern: str, text: str, *, stops: str) -> bool:
    """The meaning of a rule's glob, word for word and slowly; `stops` is what `*` and `?` do not cross."""

    @functools.cache
    def fits(at: int, start: int) -> bool:
        rest = text[start:]
        if at == len(pattern):
            return not rest
        if stops and pattern[at:] == "/**":
            return not rest or rest[0] == "/"
        if stops and pattern.startswith("**/", at):
            ends = [start + match.end() for match in re.finditer("/", rest)]
            return any(fits(at + 3, end) for end in [start, *ends])
        if stops and pattern.startswith("**", at):
            return any(fits(at + 2, end) for end in range(start, len(text) + 1))
        if pattern[at] == "*":
            end = start + len(rest.partition(stops)[0] if stops else rest)
            return any(fits(at + 1, place) for place in range(start, end + 1))
        good = rest[:1] not in ("", stops) if pattern[at] == "?" else rest[:1] == pattern[at]
        return good and fits(at + 1, start + 1)

    return fits(0, 0)


def on_path(path: str) -> Attempt:
    return Attempt(tool="read", access="read", place=PLACE, paths=(path,))


def on_command(command: str) -> Attempt:
    return Attempt(tool="bash", access="execute", place=PLACE, command=command)


@settings(max_examples=1000, deadline=None)
@given(patterns, paths)
def test_a_rule_fits_the_paths_its_plain_meaning_fits(pattern: str, path: str):
    expected = plainly_fits(f"/{pattern}", f"/{path}", stops="/")
    folder = f"/{pattern}".rstrip("/")
    is_named = not set("*?") & set(folder.rpartition("/")[2])
    inner = plainly_fits(folder + ("/**" if is_named else ""), f"/{path}", stops="/")
    assert forbids(Rule("*", f"/{pattern}", "deny"), on_path(f"/{path}".upper())) is inner
    assert allows(Rule("*", f"/{pattern}", "allow"), on_path(f"/{path}")) is expected


# No slash: a rule that forbids a program forbids it by its path too.
@settings(max_examples=1000, deadline=None)
@given(patterns, st.text("ab*?", max_size=12))
def test_a_rule_fits_the_commands_its_plain_meaning_fits(pattern: str, command: str):
    expected = plainly_fits(pattern, command, stops="")
    assert forbids(Rule("*", pattern, "deny"), on_command(command.upper())) is expected
    assert allows(Rule("*", pattern, "allow"), on_command(command)) is expected


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("/" + "*a" * 25 + "b", "/" + "a" * 200),
        ("**/*" * 30 + "/zzz", "/" + "/".join("a" * 30)),
        ("**a" * 30 + "/zzz", "/" + "/".join("a" * 200)),
        ("/" + "**?" * 30 + "b", "/" + "a" * 200),
    ],
)
def test_hostile_rules_are_answered_at_once(pattern: str, text: str):
    with takes_at_most(5):
        assert not forbids(Rule("*", pattern, "deny"), on_path(text))
        assert not allows(Rule("*", pattern, "allow"), on_command(text))
        assert not allows(Rule(pattern, "*", "allow"), Attempt(tool=text, access="read", place=PLACE))


@pytest.mark.parametrize("piece", ["A=1 ", "sudo x ", "rm;", "'", "\\\n", "1", "<", ">a ", "$(", "a/"])
def test_a_hostile_command_is_answered_at_once(piece: str):
    with takes_at_most(10):
        assert not forbids(Rule("*", "q *", "deny"), on_command(piece * (50_000 // len(piece))))
