"""The options of `serve` that other commands take too and hand on. Values are checked as `serve` checks them."""

import argparse
import os
import sys
from collections.abc import Callable

from rpc_agent.cli.arguments import here
from rpc_agent.cli.option_values import CHECKS, CHOICES

_WITH_VALUE = {
    "--model": ("PROVIDER/ID", "the model that answers"),
    "--thinking": ("LEVEL", "how much it thinks before it answers"),
    "--cwd": ("DIR", "the folder to work in (default: this one)"),
    "--session": ("PATH|ID", "go on with this session"),
    "--session-dir": ("DIR", "where sessions are kept"),
    "--config-dir": ("DIR", "where settings.json and models.json are"),
    "--permissions": ("MODE", "read-only, ask, workspace or allow"),
    "--tools": ("A,B", "only these tools"),
    "--log-level": ("LEVEL", "how much the server logs"),
    "--log-file": ("FILE", "log there and not to stderr"),
}
_REPEATABLE = {"--extension": ("FILE", "load a Python extension (may be given more than once)")}
_FLAGS = {
    "--continue": "go on with the latest session of this folder, or begin one",
    "--no-session": "keep no session file",
    "--no-context-files": "do not read AGENTS.md and its like",
    "--no-offline": "fail, rather than answer by the offline model, when no model is configured",
}


def add_server_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the agent")
    for name, (metavar, text) in _WITH_VALUE.items():
        choices = CHOICES.get(_attribute(name))
        group.add_argument(name, metavar=metavar, help=text, type=_checked(name), choices=choices)
    for name, (metavar, text) in _REPEATABLE.items():
        group.add_argument(name, metavar=metavar, help=text, type=_checked(name), action="append", default=[])
    for name, text in _FLAGS.items():
        group.add_argument(name, action="store_true", help=text)


def server_command(options: argparse.Namespace) -> list[str]:
    """The command that starts a server with the options a person gave."""
    given = vars(options)
    if options.cwd is None:
        here()
    command = serve_here()
    for name in _WITH_VALUE:
        if (value := given[_attribute(name)]) is not None:
            command += [name, value]
    for name in _REPEATABLE:
        for value in given[_attribute(name)]:
            command += [name, value]
    return command + [name for name in _FLAGS if given[_attribute(name)]]


def serve_here() -> list[str]:
    """`rpc-agent serve` of this very installation."""
    # -P: the folder we work in must not be searched for modules, for a project could shadow ours.
    return [sys.executable, "-P", "-m", "rpc_agent", "serve"]


def server_environment() -> dict[str, str]:
    """The person's own, with UTF-8 as Python's encoding so that log lines read the same on every system."""
    return {**os.environ, "PYTHONUTF8": "1"}


def _checked(option: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        try:
            return CHECKS.get(option, str)(value)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def _attribute(option: str) -> str:
    return option.removeprefix("--").replace("-", "_")
