"""What a shell command line may do besides what it begins with. Pure.

It does not read a shell's grammar in full: in doubt there is more in a line.
"""

import re
from collections.abc import Iterator

_CHAINING = re.compile(r"[;&|`\n\r]|\$\(|[<>]\(")
"""What makes one command line more than one command: more may happen than the beginning shows."""

_OPENING = re.compile(r"[<>]|\$[{\[]")
"""Files that a shell opens for writing or reading, and expansions that can run commands (`${x@P}`, `$[a[x]]`)."""

_ENDS = re.compile(rf"{_CHAINING.pattern}|[()]")
_SPACE = re.compile(r"\$IFS\b|\$\{IFS\}|[ \t\n\r\f\v]")
_QUOTES = re.compile(r"\\|\$?['\"]")
_BEFORE_A_COMMAND = re.compile(
    r"(?:(?:!|\{|if|then|elif|else|while|until|do|time|coproc)(?!\S)"
    r"|\w+\+?=\S*"
    r"|\d*(?:<>|>>|<<<|[<>])\s*\S+"
    r")\s*"
)
"""Reserved words, assignments, redirections."""
_STARTERS = frozenset(
    ("bash", "busybox", "builtin", "cmd", "command", "dash", "doas", "env", "eval", "exec", "find", "fish", "flock",
     "ionice", "ksh", "nice", "nohup", "parallel", "powershell", "pwsh", "setsid", "sh", "stdbuf", "su", "sudo", "time",
     "timeout", "unshare", "watch", "xargs", "zsh")
)  # fmt: skip
"""Programs that run what their arguments say."""

_LOOKED_INTO = 32
"""Words of a starter's arguments at which a command may begin. Looking into all takes the square of a line's length."""


def is_one_command(command: str) -> bool:
    return not _CHAINING.search(command)


def opens_the_same(command: str, pattern: str) -> bool:
    """Whether all that `command` opens or expands stands in `pattern` too, so that none of it is under a wildcard."""
    return _OPENING.findall(command) == _OPENING.findall(pattern)


def possible_commands(line: str) -> Iterator[str]:
    """The line, and the commands in it: of chains, substitutions, groups, behind assignments, redirections, quotes, and
    programs that start others. What a program makes up as it runs cannot be told from its line."""
    yield line
    yield line.strip()
    for part in _ENDS.split(line.replace("\\\n", "")):
        yield part.strip()
        yield from _plainly(part)


def _plainly(part: str) -> Iterator[str]:
    words = _after_what_stands_before(_QUOTES.sub("", _SPACE.sub(" ", part)).strip()).split()
    starts = min(len(words), _LOOKED_INTO) if words and _program(words[0]) in _STARTERS else min(len(words), 1)
    for start in range(starts):
        yield from _from_word(words, start)


def _from_word(words: list[str], start: int) -> Iterator[str]:
    first, arguments = words[start], words[start + 1 :]
    yield " ".join([first, *arguments])
    if "/" in first:
        yield " ".join([_program(first), *arguments])


def _after_what_stands_before(text: str) -> str:
    at = 0
    while match := _BEFORE_A_COMMAND.match(text, at):
        at = match.end()
    return text[at:]


def _program(word: str) -> str:
    return word.rpartition("/")[2]
