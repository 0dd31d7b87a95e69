"""What is decided about (an attempt), and the rules that users write. Pure."""

from typing import Literal

from msgspec import Struct

Mode = Literal["read-only", "ask", "workspace", "allow"]

Access = Literal["read", "write", "execute"]
Action = Literal["allow", "ask", "deny"]


class Rule(Struct, frozen=True):
    """`tool` is a glob on the tool's name; `match` one on the resolved path or the whole command.

    In a path `*` stays inside one name and `**` crosses names, and `{a,b}` is a choice; a pattern that does not begin
    at the root, with `~/` or with `**` begins at the workspace. A rule that forbids a folder by its name forbids what
    lies in it. In a command `*` is any text. Without a path and a command only `*` and `**` match.
    """

    tool: str
    match: str
    action: Action


class Place(Struct, frozen=True):
    """The folders that decisions know, absolute and resolved."""

    workspace: str
    config_dir: str
    home: str


class Attempt(Struct, frozen=True, kw_only=True):
    """One call of a tool. `paths` are absolute and resolved (links, `..`); `command` is the whole command line."""

    tool: str
    access: Access
    place: Place
    paths: tuple[str, ...] = ()
    command: str | None = None
