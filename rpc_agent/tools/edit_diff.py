"""Shows what an edit changed, as a unified diff. Pure; for people, so it may give up on giant changes."""

import difflib
import re

from rpc_agent.tools.edit_lines import common_start

_CONTEXT = 3
_MOST_LINES = 4000
"""Comparing takes quadratic time; a diff longer than this is read by nobody."""
_MOST_CHARACTERS = 256 * 1024
"""The session's file keeps the diff for ever, and a line of a packed script may be all of the script, twice."""

_HEADER = re.compile(r"^@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@")


def unified_diff(before: str, after: str) -> str:
    """Hunks with three lines around them and no file names; "" when too much changed to show it."""
    old, new = before.split("\n"), after.split("\n")
    start = max(0, common_start(old, new) - _CONTEXT)
    most = min(len(old), len(new)) - start
    tail = max(0, min(most, common_start(old[::-1], new[::-1])) - _CONTEXT)
    old_part, new_part = old[start : len(old) - tail], new[start : len(new) - tail]
    parts = (*old_part, *new_part)
    if len(parts) > _MOST_LINES or sum(map(len, parts)) > _MOST_CHARACTERS:
        return ""
    hunks = list(difflib.unified_diff(old_part, new_part, lineterm="", n=_CONTEXT))[2:]
    return "\n".join(_moved(line, start) for line in hunks)


def _moved(line: str, by: int) -> str:
    return _HEADER.sub(lambda m: f"@@ -{int(m[1]) + by}{m[2] or ''} +{int(m[3]) + by}{m[4] or ''} @@", line)
