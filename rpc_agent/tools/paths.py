"""What a path in a tool's arguments means, and how paths are written in answers."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rpc_agent.tools.base import ToolContext
from rpc_agent.tools.failure import ToolFailure


def absolute_path(text: str, context: ToolContext) -> Path:
    """Relative paths start at the working directory, `~` is the user's home; links are not followed yet."""
    require_usable("path", text)
    if text == "~" or text.startswith(("~/", "~\\")):
        return _home(context.environment) / text[2:]
    return context.cwd / text


def require_usable(what: str, text: str) -> None:
    """Raises ToolFailure for text that the system takes neither as a file's name nor as a program's argument."""
    if "\0" in text:
        raise ToolFailure(f"The {what} holds a NUL character, which the system cannot be given. Leave it out.")
    try:
        os.fsencode(text)
    except UnicodeEncodeError as error:
        half = f"U+{ord(text[error.start]):04X}"
        raise ToolFailure(
            f"The {what} holds {half}, half of a character, which the system cannot be given. Write all of it."
        ) from error


def real_path(path: Path) -> Path:
    """Where a path leads in the end; what does not exist yet is taken as it is written."""
    return Path(os.path.realpath(path))


def target_path(path: Path, context: ToolContext) -> Path:
    """Where the argument `path` leads. Raises ToolFailure when that is no longer what was permitted."""
    now = real_path(path)
    if context.permitted_path not in (None, now):
        raise ToolFailure(f"What {path} leads to changed since it was permitted. It was not touched; look again.")
    return now


def argument_paths(arguments: Mapping[str, Any], context: ToolContext) -> tuple[Path, ...]:
    """The resolved paths that a call of read, write, edit, grep, find or ls would touch, for the permission check."""
    text = arguments.get("path", ".")
    return (real_path(absolute_path(text, context)),) if isinstance(text, str) else ()


def shown_path(path: Path, context: ToolContext) -> str:
    """Relative to the working directory when it lies in it, with forward slashes."""
    try:
        text = path.relative_to(context.cwd).as_posix()
    except ValueError:
        text = path.as_posix()
    return clean_name(text)


def clean_name(name: str) -> str:
    """A file name as text that can be sent: bytes that are no UTF-8 become U+FFFD, line ends are written out."""
    text = os.fsencode(name).decode("utf-8", "replace") if sys.platform != "win32" else name
    return text.replace("\r", "\\r").replace("\n", "\\n")


def _home(environment: Mapping[str, str]) -> Path:
    home = environment.get("HOME") or environment.get("USERPROFILE")
    try:
        return Path(home) if home else Path.home()
    except RuntimeError as error:
        raise ToolFailure("The path begins with ~, and no home directory is known. Write it from the root.") from error
