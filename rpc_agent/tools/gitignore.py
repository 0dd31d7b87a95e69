"""The rules of .gitignore files: which paths they leave out. Pure; the walk reads the files."""

import re
from collections.abc import Sequence

from msgspec import Struct

from rpc_agent.tools.globs import glob_regex


class Rule(Struct, frozen=True):
    pattern: re.Pattern[str]
    """Matches paths from the folder of the .gitignore file."""
    brings_back: bool
    folders_only: bool


def parse_rules(text: str) -> tuple[Rule, ...]:
    lines = text.removeprefix("\ufeff").split("\n")
    return tuple(rule for line in lines if (rule := _parse_rule(line.removesuffix("\r"))))


def is_ignored(path: str, *, folder: bool, rules: Sequence[Rule]) -> bool | None:
    """What one file's rules say about a path from its folder; None when they say nothing. The last that fits counts."""
    for rule in reversed(rules):
        if (folder or not rule.folders_only) and rule.pattern.fullmatch(path):
            return not rule.brings_back
    return None


def _parse_rule(line: str) -> Rule | None:
    line = _without_trailing_spaces(line)
    if not line or line.startswith("#"):
        return None
    brings_back = line.startswith("!")
    pattern = line[1:] if brings_back else line
    folders_only = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    if not pattern:
        return None
    if "/" not in pattern:
        # A bare name counts at any depth.
        pattern = f"**/{pattern}"
    return Rule(glob_regex(pattern.removeprefix("/")), brings_back, folders_only)


def _without_trailing_spaces(line: str) -> str:
    """Spaces at the end count only behind a backslash."""
    stripped = line.rstrip(" ")
    backslashes = len(stripped) - len(stripped.rstrip("\\"))
    return stripped + " " if backslashes % 2 and len(stripped) < len(line) else stripped
