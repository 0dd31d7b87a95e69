"""`rpc-agent serve`: reads its options and hands over to the server. On the path to the first answer: keep it light."""

import os
import sys
from collections.abc import Sequence
from typing import Any, TextIO

from rpc_agent.cli.option_values import CHECKS, CHOICES, tool_names
from rpc_agent.server.options import ServeOptions
from rpc_agent.server.start import serve

_USAGE_ERROR = 2
_MOST_DIGITS = 18
"""An exabyte; no machine reads a message of that size."""

_HELP = """\
usage: rpc-agent serve [options]

Speaks JSON-RPC 2.0 over stdin and stdout, one message a line or with Content-Length headers: the first line decides.

  --model PROVIDER/ID        the model that answers
  --thinking LEVEL           off, minimal, low, medium, high or xhigh
  --cwd DIR                  working directory of sessions (default: this one)
  --session PATH|ID          open this session first; the beginning of an id is enough
  --continue                 open the latest session of the working directory first, if there is one
  --no-session               keep sessions in memory only
  --session-dir DIR          where session files are kept
  --config-dir DIR           where settings.json and models.json are
  --permissions MODE         read-only, ask, workspace or allow
  --tools A,B                offer only these tools
  --extension FILE           load a Python extension; may be given more than once
  --no-context-files         do not read AGENTS.md and its relatives
  --no-offline               answer noModel instead of falling back to the built-in offline model
  --framing MODE             auto, lines or headers (default: auto)
  --max-message-bytes N      skip larger messages (default: 67108864)
  --trace FILE               append every message, both directions, to FILE
  --log-level LEVEL          debug, info, warning or error (default: warning)
  --log-file FILE            write the log there instead of to stderr
  --help                     show this
"""

_VALUES = {
    "--model": "model",
    "--thinking": "thinking",
    "--cwd": "cwd",
    "--session": "session",
    "--session-dir": "session_dir",
    "--config-dir": "config_dir",
    "--permissions": "permissions",
    "--tools": "tools",
    "--extension": "extensions",
    "--framing": "framing",
    "--max-message-bytes": "max_message_bytes",
    "--trace": "trace",
    "--log-level": "log_level",
    "--log-file": "log_file",
}
_REPEATABLE = frozenset({"extensions"})
_SWITCHES: dict[str, tuple[str, bool]] = {
    "--continue": ("continue_latest", True),
    "--no-session": ("ephemeral", True),
    "--no-context-files": ("context_files", False),
    "--no-offline": ("offline", False),
}


class UsageError(Exception):
    """An option that does not exist, lacks its value or has one it cannot have."""


def main(arguments: Sequence[str]) -> int:
    """Serve, and return the exit code."""
    if "--help" in arguments or "-h" in arguments:
        # Nothing is being served yet, so stdout is the person's.
        sys.stdout.write(_HELP)
        return 0
    try:
        values = parse(arguments)
    except UsageError as error:
        sys.stderr.write(f"rpc-agent serve: {error}\nTry: rpc-agent serve --help\n")
        return _USAGE_ERROR
    if os.isatty(0):
        sys.stderr.write("This waits for JSON-RPC on stdin; to talk to the agent yourself: rpc-agent chat\n")
    try:
        level, file = values.pop("log_level", "warning"), values.pop("log_file", None)
        log = _log_file(file) if file else sys.stderr
        if "trace" in values:
            values["trace"] = open(values["trace"], "ab", opener=_private)  # noqa: SIM115 - written to until the end
    except OSError as error:
        sys.stderr.write(f"rpc-agent serve: {error.filename}: {error.strerror}\n")
        return _USAGE_ERROR
    return serve(ServeOptions(**values), begin_log=lambda: _begin_log(level, log))


def parse(arguments: Sequence[str]) -> dict[str, Any]:
    """Option values by name. By hand: argparse costs a tenth of the time to the first answer. Raises UsageError."""
    values: dict[str, Any] = {}
    rest = list(arguments)
    while rest:
        option, has_value, inline = rest.pop(0).partition("=")
        if option in _SWITCHES:
            name, value = _SWITCHES[option]
            values[name] = value
            continue
        if option not in _VALUES:
            raise UsageError(_unknown(option))
        if not has_value and not rest:
            raise UsageError(f"{option} needs a value")
        name = _VALUES[option]
        value = _read(option, name, inline if has_value else rest.pop(0))
        values[name] = (*values.get(name, ()), value) if name in _REPEATABLE else value
    return {name: value for name, value in values.items() if (name, value) != ("framing", "auto")}


def _read(option: str, name: str, value: str) -> Any:
    choices = CHOICES.get(name)
    if choices is not None and value not in choices:
        raise UsageError(f"{option} is one of {', '.join(choices)}, not {value!r}")
    if name == "max_message_bytes":
        return _bytes(option, value)
    try:
        checked = CHECKS.get(option, str)(value)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None
    return tool_names(checked) if name == "tools" else checked


def _bytes(option: str, value: str) -> int:
    # isdecimal takes the digits of any script, as int does; a number of thousands of digits is none for int.
    if value.isdecimal() and len(value) <= _MOST_DIGITS and (number := int(value)) > 0:
        return number
    raise UsageError(f"{option} is a number of bytes above 0, not {value!r}")


def _unknown(option: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only a mistake needs it

    close = get_close_matches(option, [*_VALUES, *_SWITCHES], n=1)
    return f"there is no option {option}" + (f"; did you mean {close[0]}?" if close else "")


def _log_file(file: str) -> TextIO:
    return open(file, "a", encoding="utf-8", errors="backslashreplace", opener=_private)


def _private(file: str, flags: int) -> int:
    """What people and models say stands in it, so a new one is its owner's alone."""
    return os.open(file, flags, 0o600)


def _begin_log(level: str, stream: TextIO) -> None:
    from rpc_agent.cli.log_lines import begin_log  # noqa: PLC0415 - the first answer does not need it

    begin_log(level, stream)
