"""What is decided about (an attempt), and the rules that users write. Pure."""

from dataclasses import dataclass
from typing import Literal

Mode = Literal["read-only", "ask", "workspace", "allow"]

Access = Literal["read", "write", "execute"]
Action = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True)
class Rule:
    """`tool` is a glob on the tool's name; `match` one on the resolved path or the whole command.

    In a path `*` stays inside one name and `**` crosses names; a pattern that does not begin at the root, with `~/`
    or with `**` begins at the workspace. In a command `*` is any text. Without a path and a command only `*` and `**`
    match.
    """

    tool: str
    match: str
    action: Action


@dataclass(frozen=True, slots=True)
class Place:
    """The folders that decisions know, absolute and resolved."""

    workspace: str
    config_dir: str
    home: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One call of a tool. `paths` are absolute and resolved (links, `..`); `command` is the whole command line."""

    tool: str
    access: Access
    place: Place
    paths: tuple[str, ...] = ()
    command: str | None = None
