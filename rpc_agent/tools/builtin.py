"""The tools that every session can have."""

import os
from collections.abc import Callable, Iterable
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


def builtin_tools(
    *,
    shell: str | None = None,
    private_folders: Iterable[Path] = (),
    is_denied: Callable[[str, str], bool] = lambda tool, path: False,
) -> tuple[Tool, ...]:
    """read, write, edit, bash, grep, find, ls. `shell` runs the command lines of bash.

    What lies in `private_folders` (our configuration, with its keys) is never listed or searched, nor what `is_denied`
    (a tool's name, a resolved path) says may not be named to that tool; whether a path may be named outright is for
    the permissions to say.
    """
    private = tuple(Path(os.path.realpath(folder)) for folder in private_folders)

    def hidden_from(*tools: str) -> Callable[[Path], bool]:
        def is_hidden(path: Path) -> bool:
            real = os.path.realpath(path)
            return _lies_in(Path(real), private) or any(is_denied(tool, real) for tool in tools)

        return is_hidden

    return (
        read_tool(),
        write_tool(_FILES),
        edit_tool(_FILES),
        bash_tool(shell),
        # What grep shows of a file has been read.
        grep_tool(hidden_from("grep", "read")),
        find_tool(hidden_from("find")),
        ls_tool(hidden_from("ls")),
    )


def _lies_in(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)
