"""The way in: picks the command and imports only that; `serve` must be reached with almost nothing imported."""

import errno
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from rpc_agent import __version__

_COMMANDS = {
    "serve": "speak JSON-RPC on stdin and stdout, for a program that embeds the agent",
    "run": 'ask one thing: rpc-agent run "What does this project do?"',
    "chat": "talk to the agent in this terminal",
    "demo": "watch the main job done on the built-in offline model; needs no key",
    "sessions": "list the sessions there are, read one, or export it as a page",
    "models": "which models there are, their limits and prices, and the keys they need",
    "doctor": "what is configured, what is missing, and how to fix it",
    "schema": "print the protocol as OpenRPC, JSON Schema or TypeScript",
}
_USAGE_ERROR = 2
# What a shell reports for a program that Ctrl-C ended.
_INTERRUPTED = 130
_OUTPUT_LOST = (errno.ENOSPC, errno.EFBIG, errno.EIO)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line (without the program's name). Returns the exit code: 2 for a command line that is wrong."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    first = given[0] if given else ""
    if first in ("--version", "-V"):
        return _written("rpc-agent", lambda: _say(f"rpc-agent {__version__}\n"))
    if first in ("--help", "-h", "help"):
        return _written("rpc-agent", lambda: _say(_help()))
    if first in _COMMANDS:
        return _run(first, given[1:])
    if first and not first.startswith("-"):
        return _unknown(first)
    return _without_a_command(given)


def _without_a_command(given: list[str]) -> int:
    if not os.isatty(0):
        return _run("serve", given)
    if not given:
        return _written("rpc-agent", lambda: _say(_help()))
    sys.stderr.write(f"rpc-agent: {given[0]} needs a command before it, such as: rpc-agent serve {' '.join(given)}\n")
    return _USAGE_ERROR


def _run(command: str, arguments: list[str]) -> int:
    run = import_module(f"rpc_agent.cli.{command}").main
    if command == "serve":
        return int(run(arguments))
    return _written(f"rpc-agent {command}", lambda: int(run(arguments)))


def _written(name: str, work: Callable[[], int]) -> int:
    """The exit code of what writes to stdout, with all of that written; `name` says it could not be."""
    if sys.stderr is None:
        # `2>&-`: nobody wants to hear of it, which is no reason to fail.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - written to until the end
    if sys.stdout is None:
        sys.stderr.write("rpc-agent: the output is closed, so nothing was done\n")
        return 1
    try:
        try:
            return work()
        finally:
            # Python's own attempt at its exit would be told with a traceback, and --help ends with SystemExit.
            sys.stdout.flush()
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has heard enough (`| head`). Python would complain once more at its exit.
        _write_no_more()
        return 1
    except OSError as error:
        if error.errno not in _OUTPUT_LOST:
            raise
        _write_no_more()
        sys.stderr.write(f"{name}: the output could not be written: {error.strerror}\n")
        return 1


def _write_no_more() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _unknown(command: str) -> int:
    from difflib import get_close_matches  # noqa: PLC0415 - only a mistake needs it, and serve starts here

    close = get_close_matches(command, _COMMANDS, n=1)
    hint = f"Did you mean {close[0]!r}?" if close else "See rpc-agent --help for the commands."
    if " " in command:
        hint = 'To ask one thing: rpc-agent run "..."'
    sys.stderr.write(f"rpc-agent: there is no command {command!r}. {hint}\n")
    return _USAGE_ERROR


def _help() -> str:
    commands = "".join(f"  {name:10}{what}\n" for name, what in _COMMANDS.items())
    return (
        "usage: rpc-agent COMMAND [OPTIONS]\n\n"
        "A coding agent that other programs embed over JSON-RPC.\n\n"
        f"commands:\n{commands}\n"
        "Without a command, and with input that is not a terminal, it serves.\n"
        "rpc-agent COMMAND --help tells the options of a command. rpc-agent --version tells the version.\n"
    )


def _say(text: str) -> int:
    sys.stdout.write(text)
    return 0


def _search_no_modules_here() -> None:
    """`python -m` puts the folder it is called in before all others: a project there could give us its `json.py`."""
    try:
        here = os.getcwd()
    except OSError:
        return  # It was deleted, and Python had nothing to put there.
    if not sys.flags.safe_path and sys.path[:1] == [here]:
        del sys.path[0]


if __name__ == "__main__":
    _search_no_modules_here()
    sys.exit(main())
