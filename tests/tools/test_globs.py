import functools
import itertools

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rpc_agent.tools.gitignore import is_ignored, parse_rules
from rpc_agent.tools.globs import find_glob, glob_regex
from tests.support.effort import takes_at_most

PIECES = ["a", "b", "*", "**", "/", "/**/", "?", "[ab]", "[!a]", "\\*"]
patterns = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
plain = st.lists(st.sampled_from(["a", "b", "*", "?", "/", "[ab]"]), max_size=3).map("".join)
paths = st.text("ab/*{,}\n", max_size=9) | st.text("ab/", max_size=12)

HOSTILE = [
    ("*a" * 25 + "b", "a" * 200),
    ("**/*" * 30 + "/zzz", "/".join("a" * 30)),
    ("**/a/" * 30 + "zzz", "/".join("a" * 200)),
    ("**/*a*/" * 20 + "zzz", "/".join(["aa"] * 100)),
    ("*?a" * 30 + "b", "a" * 250),
]


def is_whole_name(pattern: str, at: int, end: int) -> bool:
    return end - at >= 2 and pattern[at - 1 : at] in ("", "/") and pattern[end : end + 1] in ("", "/")


def plainly_fits(pattern: str, path: str) -> bool:
    """The meaning of a glob without braces, word for word and slowly."""

    @functools.cache
    def fits(at: int, start: int) -> bool:
        rest = path[start:]
        if at == len(pattern):
            return not rest
        if pattern[at] == "*":
            end = len(pattern) - len(pattern[at:].lstrip("*"))
            if not is_whole_name(pattern, at, end):
                name_end = start + len(rest.partition("/")[0])
                return any(fits(end, place) for place in range(start, name_end + 1))
            if end == len(pattern):
                return bool(rest) or at == 0
            starts = [start, *(place + 1 for place in range(start, len(path)) if path[place] == "/")]
            return any(fits(end + 1, place) for place in starts)
        char = rest[:1]
        for token, good in (("[ab]", char in ("a", "b")), ("[!a]", char not in ("", "a", "/")), ("\\*", char == "*")):
            if pattern.startswith(token, at):
                return good and fits(at + len(token), start + 1)
        good = char not in ("", "/") if pattern[at] == "?" else char == pattern[at]
        return good and fits(at + 1, start + 1)

    return fits(0, 0)


@settings(max_examples=1000, deadline=None)
@given(patterns, paths)
def test_a_glob_fits_what_its_plain_meaning_fits(pattern: str, path: str):
    assert bool(glob_regex(pattern).fullmatch(path)) is plainly_fits(pattern, path)


@settings(max_examples=1000, deadline=None)
@given(st.lists(st.lists(plain, min_size=1, max_size=3), max_size=4), paths)
def test_choices_fit_what_one_of_the_patterns_written_out_fits(choices: list[list[str]], path: str):
    written_out = ["/" + "".join(chosen) for chosen in itertools.product(*choices)]
    # Beside a brace two stars are not a whole name, written out they may be.
    assume(not any("**" in pattern for pattern in written_out))
    pattern = "/" + "".join(f"{{{','.join(choice)}}}" for choice in choices)
    expected = any(plainly_fits(pattern.removeprefix("/"), path) for pattern in written_out)
    assert bool(find_glob(pattern)(path)) is expected


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("{a,b{c,d}}", "bd", True),
        ("{a,b{c,d}}", "bcd", False),
        ("{a,{b}", "{a,b", False),
        ("{a,{b}", "{a,{b}", True),
        ("src/{x/**/y,z}", "src/x/1/2/y", True),
        ("src/{x/**/y,z}", "src/x/y", True),
        ("src/{x/**/y,z}", "src/x/1y", False),
        ("{a,b}/**", "b/c/d", True),
        ("{a,b}/**", "b/", False),
        ("*.{js,ts}", "lib/a.ts", True),
        ("**/*.{js,ts}", "a.b/c.js", True),
        ("[{]{a,b}", "{b", True),
    ],
)
def test_braces_mean_a_choice_where_they_close(pattern: str, path: str, fits: bool):
    assert bool(find_glob(pattern)(path)) is fits


@pytest.mark.parametrize(("pattern", "path"), HOSTILE)
def test_hostile_patterns_are_answered_at_once(pattern: str, path: str):
    with takes_at_most(5):
        assert not find_glob(pattern)(path)
        assert is_ignored(path, folder=False, rules=parse_rules(pattern)) is None


def test_hostile_braces_are_answered_at_once():
    with takes_at_most(5):
        assert not find_glob("{*a,*aa}" * 25 + "b")("a" * 200)
        assert not find_glob("{a,aa}" * 40 + "b")("a" * 60)


def test_a_long_line_of_open_brackets_is_read_at_once():
    with takes_at_most(5):
        assert is_ignored("x", folder=False, rules=parse_rules("[" * 100_000)) is None
