"""Methods about settings, permissions, trust and commands."""

from pathlib import Path
from typing import Any

from rpc_agent.protocol.settings import SetPermissionsParams, TrustProjectParams, UpdateSettingsParams
from rpc_agent.protocol.wire_model import SessionParams
from rpc_agent.resources.commands import Command
from rpc_agent.rpc.calls import Call
from rpc_agent.server.connection import Connection
from rpc_agent.server.dispatch import ConnectionHandler, QuickHandler, Request, Result, SessionHandler


def get_settings(request: Request, params: SessionParams) -> Result:
    settings = request.session.parts.settings.current
    return {"settings": _nested(dict(settings.values)), "sources": dict(settings.origins)}


async def update_settings(request: Request, params: UpdateSettingsParams) -> Result:
    request.session.choices.update_settings(params.patch, params.scope)
    return get_settings(request, SessionParams())


async def set_permissions(request: Request, params: SetPermissionsParams) -> Result:
    request.session.parts.switches.permissions = params.mode
    return {}


async def trust_project(connection: Connection, params: TrustProjectParams, call: Call) -> Result:
    cwd = connection.registry.working_directory(Path(params.cwd))
    connection.registry.trust(cwd, params.trusted)
    return {}


def get_commands(request: Request, params: SessionParams) -> Result:
    return {"commands": [_command(command) for command in request.session.parts.commands]}


def _command(command: Command) -> dict[str, Any]:
    description = {"description": command.description} if command.description else {}
    return {"name": command.name, **description, "source": command.source, "path": str(command.path)}


def _nested(dotted: dict[str, Any]) -> dict[str, Any]:
    """{"a.b": 1} -> {"a": {"b": 1}}; a setting without a value is left out."""
    nested: dict[str, Any] = {}
    for name, value in dotted.items():
        if value is None:
            continue
        *folders, last = name.split(".")
        place = nested
        for folder in folders:
            place = place.setdefault(folder, {})
        place[last] = value
    return nested


SESSION_HANDLERS: dict[str, SessionHandler] = {
    "update_settings": update_settings,
    "set_permissions": set_permissions,
}
QUICK_HANDLERS: dict[str, QuickHandler] = {
    "get_settings": get_settings,
    "get_commands": get_commands,
}
CONNECTION_HANDLERS: dict[str, ConnectionHandler] = {"trust_project": trust_project}
