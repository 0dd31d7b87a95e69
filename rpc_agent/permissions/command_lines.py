"""What a shell command line may do besides what it begins with. Pure.

It does not read a shell's grammar in full: in doubt there is more in a line.
"""

import re
from collections.abc import Iterator, Sequence

from rpc_agent.permissions.shell_words import simple_commands

_CHAINING = re.compile(r"[;&|`\n\r]|\$\(|[<>]\(")
"""What makes one command line more than one command: more may happen than the beginning shows."""

_OPENING = re.compile(r"[<>]|\$[{\[]")
"""Files that a shell opens for writing or reading, and expansions that can run commands (`${x@P}`, `$[a[x]]`)."""

_ENDS = re.compile(rf"{_CHAINING.pattern}|[()]")
_SPACE = re.compile(r"\$IFS\b|\$\{IFS\}|[ \t\n\r\f\v]")
_QUOTES = re.compile(r"\\|\$?['\"]")
_BRACES = re.compile(r"\{[^{}]*,[^{}]*\}")
"""A list of words that a shell makes out of one."""
_STARTERS = frozenset(
    ("ash", "bash", "builtin", "bunx", "busybox", "bwrap", "caffeinate", "chronic", "chroot", "chrt", "cmd",
     "command", "csh", "dash", "dbus-run-session", "direnv", "doas", "entr", "env", "eval", "exec", "fakeroot",
     "find", "firejail", "fish", "flatpak-spawn", "flock", "gosu", "hatch", "ionice", "ksh", "ltrace", "nice",
     "nix-shell", "nohup", "npx", "nsenter", "parallel", "pdm", "pipenv", "pkexec", "poetry", "powershell", "prlimit",
     "pwsh", "runuser", "rye", "script", "setpriv", "setsid", "sg", "sh", "ssh", "stdbuf", "strace", "su", "su-exec",
     "sudo", "systemd-run", "taskset", "tcsh", "time", "timeout", "toybox", "trap", "unbuffer", "unshare", "uv",
     "uvx", "watch", "xargs", "xvfb-run", "zsh")
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
    for words in simple_commands(line):
        yield from _commands_of(words)
    # Once more as if nothing were quoted: what stands in quotes may be for a shell too.
    for part in _ENDS.split(line.replace("\\\n", "")):
        yield part.strip()
        yield from _commands_of(_QUOTES.sub("", _SPACE.sub(" ", part)).split())


def _commands_of(words: Sequence[str]) -> Iterator[str]:
    # A word with a space in it may be a line for a shell.
    words = " ".join(words).split()
    if words and _BRACES.fullmatch(words[0]):
        words = [*words[0][1:-1].split(","), *words[1:]]
    starts = min(len(words), _LOOKED_INTO) if words and _program(words[0]) in _STARTERS else min(len(words), 1)
    for start in range(starts):
        yield from _from_word(words, start)


def _from_word(words: list[str], start: int) -> Iterator[str]:
    first, arguments = words[start], words[start + 1 :]
    yield " ".join([first, *arguments])
    if "/" in first:
        yield " ".join([_program(first), *arguments])


def _program(word: str) -> str:
    return word.rpartition("/")[2]
