"""Runs one shell command to its end, whatever it does: ignores signals, floods, reads, forks, never stops."""

import errno
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

import anyio
from msgspec import Struct

from rpc_agent.platform.output_pipe import OutputPipe
from rpc_agent.platform.process_tree import ProcessTree, start_tree
from rpc_agent.tools.command_output import CommandOutput, FullOutput
from rpc_agent.tools.failure import ToolFailure, failure_text
from rpc_agent.tools.paths import require_usable
from rpc_agent.tools.shells import shell_command
from rpc_agent.tools.truncation import Truncation

_DRAIN_SECONDS = 2.0
"""A child in the background may hold the pipe for ever; what the shell itself wrote arrives within moments."""

_QUIET_SECONDS = 0.2
"""Nothing came for so long after the shell's exit: nothing more is coming that belongs to its answer."""

_SHOW_SECONDS = 0.1
"""Ten times a second looks live, and does not flood the client."""


_WINDOWS_TOO_LONG = 206
"""What Windows says of a command line beyond its limit; Python has no errno for it."""


class CommandNotStarted(ToolFailure):
    """`fault` is what has to be changed; None when the system had no room for one more process."""

    def __init__(self, message: str, fault: Literal["command", "cwd", "shell.path"] | None) -> None:
        super().__init__(message)
        self.fault = fault


class CommandOutcome(Struct, frozen=True, kw_only=True):
    """How a command ended. `exit_code` is None when it was stopped; of `kept`, `output` is the text."""

    kept: Truncation
    exit_code: int | None
    cancelled: bool
    timed_out: bool
    full_output: FullOutput | None

    @property
    def output(self) -> str:
        return self.kept.text

    @property
    def full_output_path(self) -> str | None:
        return self.full_output.path if self.full_output else None

    @property
    def truncated(self) -> bool:
        return self.kept.truncated


async def run_command(
    command: str,
    *,
    cwd: Path,
    environment: Mapping[str, str],
    shell: str | None = None,
    timeout: float | None = None,
    on_output: Callable[[str], None] | None = None,
    stop: anyio.Event | None = None,
) -> CommandOutcome:
    """Run `command`; its stdin is empty, stdout and stderr are one. Nothing of its process tree is left afterwards.

    `timeout` is in seconds. `on_output` gets new text at a bounded rate (of a flood only parts). Setting `stop` ends
    the command with an outcome that says cancelled; cancellation of the caller ends it too and passes through.
    Raises CommandNotStarted.
    """
    output = CommandOutput(environment.get("TMPDIR"))
    try:
        with OutputPipe(output.feed) as pipe:
            tree = await _start(command, shell, cwd, environment, pipe)
            async with anyio.create_task_group() as showing:
                if on_output is not None:
                    showing.start_soon(_show, output, on_output)
                ending = await _until_end(tree, pipe, timeout, stop)
                showing.cancel_scope.cancel()
        if on_output is not None and (rest := output.take_new()):
            on_output(rest)
        kept, full_output = output.finish()
    except BaseException:
        output.discard()
        raise
    return CommandOutcome(
        kept=kept,
        exit_code=ending if isinstance(ending, int) else None,
        cancelled=ending == "stopped",
        timed_out=ending == "timeout",
        full_output=full_output,
    )


async def _start(
    command: str, shell: str | None, cwd: Path, environment: Mapping[str, str], pipe: OutputPipe
) -> ProcessTree:
    try:
        _check_texts(command, shell)
        return await start_tree(shell_command(command, shell), cwd=cwd, environment=environment, output=pipe.writer)
    except OSError as error:
        raise _not_started(error, command, cwd) from error
    finally:
        pipe.close_writer()


def _check_texts(command: str, shell: str | None) -> None:
    try:
        require_usable("command", command)
    except ToolFailure as failure:
        raise CommandNotStarted(str(failure), "command") from failure
    try:
        require_usable("setting shell.path", shell or "")
    except ToolFailure as failure:
        raise CommandNotStarted(str(failure), "shell.path") from failure


def _not_started(error: OSError, command: str, cwd: Path) -> CommandNotStarted:
    if error.errno == errno.E2BIG or getattr(error, "winerror", None) == _WINDOWS_TOO_LONG:
        return CommandNotStarted(
            f"The command has {len(command)} characters: {failure_text(error)}. Put it into a file and run that.",
            "command",
        )
    if error.filename in (cwd, os.fspath(cwd)) or not os.path.isdir(cwd):
        return CommandNotStarted(
            f"The working directory cannot be entered: {failure_text(error)}. Make it again, or work in another.",
            "cwd",
        )
    if error.filename is None:
        return CommandNotStarted(f"The shell could not be started: {failure_text(error)}. Try again later.", None)
    return CommandNotStarted(
        f"The shell could not be started: {failure_text(error)}. Set shell.path to a shell that is there.", "shell.path"
    )


async def _until_end(tree: ProcessTree, pipe: OutputPipe, timeout: float | None, stop: anyio.Event | None) -> int | str:
    """The exit code, or "timeout" or "stopped". The tree is gone afterwards, and its output read."""
    try:
        ending = await _first_of(tree, timeout, stop)
        if isinstance(ending, int):
            await pipe.drain(quiet=_QUIET_SECONDS, most=_DRAIN_SECONDS)
        return ending
    finally:
        await tree.end()
        with anyio.CancelScope(shield=True):
            await pipe.drain(quiet=_QUIET_SECONDS, most=_DRAIN_SECONDS)


async def _first_of(tree: ProcessTree, timeout: float | None, stop: anyio.Event | None) -> int | str:
    with anyio.move_on_after(timeout):
        async with anyio.create_task_group() as waiting:
            if stop is not None:
                waiting.start_soon(_cancel_when, stop, waiting.cancel_scope)
            ending: int | str = "stopped"
            ending = await tree.wait()
            waiting.cancel_scope.cancel()
        return ending
    return "timeout"


async def _cancel_when(stop: anyio.Event, scope: anyio.CancelScope) -> None:
    await stop.wait()
    scope.cancel()


async def _show(output: CommandOutput, on_output: Callable[[str], None]) -> None:
    while True:
        await anyio.sleep(_SHOW_SECONDS)
        if new := output.take_new():
            on_output(new)
