"""What an option takes: words by its name, and files and folders that have to be there.

On the path to the first answer of `serve`: nothing heavy is imported here.
"""

import os
from collections.abc import Callable, Mapping

CHOICES: dict[str, tuple[str, ...]] = {
    "permissions": ("read-only", "ask", "workspace", "allow"),
    "thinking": ("off", "minimal", "low", "medium", "high", "xhigh"),
    "framing": ("auto", "lines", "headers"),
    "log_level": ("debug", "info", "warning", "error"),
}

TOOLS = ("read", "write", "edit", "bash", "grep", "find", "ls")
"""What `--tools` may name. A client's own tools are offered beside them, whatever it says."""


def tool_names(value: str) -> tuple[str, ...]:
    """The names in "A,B". Raises ValueError with a sentence about a name that no tool has."""
    names = tuple(part.strip() for part in value.split(",") if part.strip())
    for name in names:
        if name not in TOOLS:
            raise ValueError(f"there is no tool {name!r}; there are {', '.join(TOOLS)}")
    return names


def _folder(value: str) -> str:
    if not os.path.isdir(os.path.expanduser(value)):
        raise ValueError(f"there is no folder {value!r}")
    return value


def _file(value: str) -> str:
    if not os.path.isfile(os.path.expanduser(value)):
        raise ValueError(f"there is no file {value!r}")
    return value


def _session(value: str) -> str:
    """A file, or else the beginning of an id, which only the server can look up."""
    looks_like_a_file = value.endswith(".jsonl") or os.path.basename(value) != value
    return _file(value) if looks_like_a_file else value


def _model(value: str) -> str:
    if not all(value.partition("/")):
        raise ValueError(f"a model is named PROVIDER/ID, not {value!r}; rpc-agent models tells which there are")
    return value


CHECKS: Mapping[str, Callable[[str], str]] = {
    "--cwd": _folder,
    "--extension": _file,
    "--model": _model,
    "--session": _session,
    "--tools": lambda value: ",".join(tool_names(value)),
}
"""By option, what gives a value that can be used. They raise ValueError with a sentence for people."""
