"""Methods that make, open, close and describe sessions."""

from pathlib import Path
from typing import Any

from rpc_agent.errors import InvalidValue
from rpc_agent.protocol.sessions import NewSessionParams, OpenSessionParams
from rpc_agent.protocol.wire_model import SessionParams
from rpc_agent.rpc.calls import Call
from rpc_agent.runtime.session_registry import NewSession
from rpc_agent.server.connection import Connection
from rpc_agent.server.dispatch import ConnectionHandler, Request, Result, SessionHandler
from rpc_agent.server.states import state_to_wire
from rpc_agent.session.warnings import SessionWarning


async def new_session(connection: Connection, params: NewSessionParams, call: Call) -> Result:
    session = connection.new_session(
        NewSession(
            cwd=Path(params.cwd) if params.cwd is not None else None,
            name=params.name,
            ephemeral=params.ephemeral or False,
            parent_session=params.parent_session,
            model=params.model,
            thinking_level=params.thinking_level,
            tools=tuple(params.tools) if params.tools is not None else None,
            system_prompt=params.system_prompt,
        )
    )
    return state_to_wire(session, connection.feed(session))


async def open_session(connection: Connection, params: OpenSessionParams, call: Call) -> Result:
    cwd = connection.registry.working_directory(Path(params.cwd)) if params.cwd is not None else None
    path = _wanted_path(connection, params, cwd)
    session, warnings = connection.registry.open(path, cwd=cwd, read_only=params.read_only or False)
    connection.adopt(session)
    return {**state_to_wire(session, connection.feed(session)), "warnings": [_warning(w) for w in warnings]}


async def close_session(request: Request, params: SessionParams) -> Result:
    await request.connection.close_session(request.session)
    return {}


async def get_state(request: Request, params: SessionParams) -> Result:
    return state_to_wire(request.session, request.connection.feed(request.session))


def _wanted_path(connection: Connection, params: OpenSessionParams, cwd: Path | None) -> Path:
    if params.path is not None:
        return Path(params.path)
    directory = connection.registry.directory(cwd)
    if params.id is not None:
        return directory.find(params.id)
    if params.latest:
        return directory.latest(str(connection.registry.working_directory(cwd)))
    raise InvalidValue("path", "give one of path, id, or latest: true")


def _warning(warning: SessionWarning) -> dict[str, Any]:
    line = {} if warning.line is None else {"line": warning.line}
    return {"kind": warning.kind, **line, "message": warning.message}


SESSION_HANDLERS: dict[str, SessionHandler] = {"close_session": close_session, "get_state": get_state}
CONNECTION_HANDLERS: dict[str, ConnectionHandler] = {"new_session": new_session, "open_session": open_session}
