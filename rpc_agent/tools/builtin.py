"""The tools that every session can have."""

import os
from collections.abc import Iterable
from pathlib import Path

from rpc_agent.tools.base import Tool
from rpc_agent.tools.bash import bash_tool
from rpc_agent.tools.edit import edit_tool
from rpc_agent.tools.find import find_tool
from rpc_agent.tools.grep import grep_tool
from rpc_agent.tools.ls import ls_tool
from rpc_agent.tools.path_locks import PathLocks
from rpc_agent.tools.read import read_tool
from rpc_agent.tools.write import write_tool

_FILES = PathLocks()
"""One for the process: two sessions may work in one folder."""


def builtin_tools(*, shell: str | None = None, private_folders: Iterable[Path] = ()) -> tuple[Tool, ...]:
    """read, write, edit, bash, grep, find, ls. `shell` runs the command lines of bash.

    What lies in `private_folders` (our configuration, with its keys) is never listed or searched; whether a path in
    them may be named outright is for the permissions to say.
    """
    private = tuple(Path(os.path.realpath(folder)) for folder in private_folders)

    def is_private(path: Path) -> bool:
        return bool(private) and _lies_in(Path(os.path.realpath(path)), private)

    return (
        read_tool(),
        write_tool(_FILES),
        edit_tool(_FILES),
        bash_tool(shell),
        grep_tool(is_private),
        find_tool(is_private),
        ls_tool(is_private),
    )


def _lies_in(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)
