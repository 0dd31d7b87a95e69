"""Which program runs a command line. Looks for it on the machine, starts nothing."""

import os
import sys
from collections.abc import Sequence
from pathlib import PureWindowsPath

from rpc_agent.platform.programs import find_program

_WINDOWS_BASH = ("C:\\Program Files\\Git\\bin\\bash.exe", "C:\\Program Files (x86)\\Git\\bin\\bash.exe")


def shell_command(command: str, shell: str | None) -> str | Sequence[str]:
    """What to start for `command`: an argument list, or (only for cmd) one string that the system's shell takes."""
    program = shell or default_shell()
    if PureWindowsPath(program).stem.lower() == "cmd":
        # cmd has quoting rules of its own; an argument list would be quoted by others.
        return command
    # What begins like an option would be read as one of the shell's own.
    return [program, "-c", f" {command}" if command.startswith(("-", "+")) else command]


def default_shell() -> str:
    """bash where there is one, else the plain shell of the system."""
    if sys.platform == "win32":
        return _windows_shell()
    if os.access("/bin/bash", os.X_OK):
        return "/bin/bash"
    return find_program("bash", os.environ.get("PATH")) or "/bin/sh"


def _windows_shell() -> str:
    for candidate in _WINDOWS_BASH:
        if os.path.isfile(candidate):
            return candidate
    found = find_program("bash", os.environ.get("PATH"))
    # The bash of System32 starts another operating system, with other files.
    return found if found and "system32" not in found.lower() else "cmd"
