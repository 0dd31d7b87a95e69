"""Values of the methods about settings, permissions, project trust and commands."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypeAliasType, TypedDict

from rpc_agent.protocol.wire_model import JsonObject, SessionParams, SessionResult, WireModel

PermissionMode = TypeAliasType("PermissionMode", Literal["read-only", "ask", "workspace", "allow"])
"""What tools may do without asking."""


class SettingsResult(SessionResult):
    """What is in force, and who said so."""

    settings: dict[str, Any]
    """The effective values, in the shape of settings.json. Keys are never among them."""
    sources: dict[str, str]
    """Dotted name of each setting -> where it came from: default, session, commandLine, environment, or a file."""


class UpdateSettingsParams(SessionParams):
    """What shall change, and for whom."""

    patch: JsonObject
    """In the shape of settings.json; objects are merged, null goes back to what was there without it."""
    scope: Literal["session", "user", "project"]
    """`session`: until it closes; `user`, `project`: written to that settings.json."""


class SetPermissionsParams(SessionParams):
    """What tools may do without asking."""

    mode: PermissionMode
    """`read-only`: only read, grep, find and ls run. `ask`: the client is asked. `workspace`: edits inside the working
    directory run, the rest is asked. `allow`: everything runs."""


class TrustProjectParams(WireModel):
    """Whether a project's own configuration is read."""

    cwd: Annotated[str, Field(min_length=1)]
    """The project's folder; what lies inside it is meant too."""
    trusted: bool
    """False: nothing in its .rpc-agent folder is read."""


class Command(TypedDict):
    """Something that can be started by "/name" at the beginning of a prompt."""

    name: str
    """Without the slash."""
    description: NotRequired[str]
    """One line for people."""
    source: str
    """prompt, skill or extension."""
    path: NotRequired[str]
    """The file it comes from."""


class CommandsResult(SessionResult):
    """The commands of this session."""

    commands: list[Command]
    """By name."""
