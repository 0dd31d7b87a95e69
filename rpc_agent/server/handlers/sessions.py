"""Methods that make, open, close and describe sessions."""

from pathlib import Path
from typing import Any

from rpc_agent.errors import InvalidValue
from rpc_agent.platform.given_paths import absolute_path, resolved_path
from rpc_agent.protocol.history import ExportSessionParams, GetEventsParams
from rpc_agent.protocol.sessions import (
    DeleteSessionParams,
    EntryParams,
    ListSessionsParams,
    NewSessionParams,
    OpenSessionParams,
    SetSessionNameParams,
)
from rpc_agent.protocol.wire_model import SessionParams
from rpc_agent.rpc.calls import Call
from rpc_agent.runtime.live_session import LiveSession
from rpc_agent.runtime.session_registry import NewSession
from rpc_agent.server.connection import Connection
from rpc_agent.server.dispatch import ConnectionHandler, QuickHandler, Request, Result, SessionHandler
from rpc_agent.server.states import state_to_wire
from rpc_agent.server.statistics import stats_to_wire
from rpc_agent.session.warnings import SessionWarning
from rpc_agent.storage.listing import DEFAULT_PAGE, in_thread
from rpc_agent.storage.session_file import storage_errors


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
    # A close asked for just before may still hold its file: nobody shall be told that we locked ourselves out.
    await connection.registry.closed()
    path = await _wanted_path(connection, params, cwd)
    session, warnings = connection.registry.open(path, cwd=cwd, read_only=params.read_only or False)
    connection.adopt(session)
    return {**state_to_wire(session, connection.feed(session)), "warnings": [_warning(w) for w in warnings]}


async def list_sessions(connection: Connection, params: ListSessionsParams, call: Call) -> Result:
    registry = connection.registry
    cwd = registry.working_directory(None if params.cwd is None else Path(params.cwd))
    directory = registry.directory(cwd)
    with storage_errors(directory.root):
        page = await in_thread(
            lambda: directory.list(
                cwd=None if params.all else str(cwd),
                query=params.query or "",
                cursor=params.cursor,
                limit=params.limit or DEFAULT_PAGE,
            )
        )
    cursor = {} if page.next_cursor is None else {"nextCursor": page.next_cursor}
    return {"sessions": [summary.to_json() for summary in page.sessions], **cursor}


async def delete_session(connection: Connection, params: DeleteSessionParams, call: Call) -> Result:
    if (params.path is None) == (params.session_id is None):
        raise InvalidValue("path", "give either sessionId or path")
    registry = connection.registry
    if params.path is None:
        session = await connection.session(params.session_id)
    else:
        # A close asked for just before may still hold the file, as for open_session.
        await registry.closed()
        path = resolved_path("path", params.path)
        found = registry.find_open(path)
        if found is None:
            return {"sessionId": registry.directory().delete(path)}
        session = found
    # Behind what was asked of the session before, like close_session.
    async with connection.ordering.turn(session.session_id):
        return await _delete_open(connection, session, params, call)


async def _delete_open(connection: Connection, session: LiveSession, params: DeleteSessionParams, call: Call) -> Result:
    if params.path is None:
        connection.require_open(session)
    call.cannot_be_cancelled()
    if session in connection.registry:
        await connection.close_session(session)
    if session.log.store.is_on_disk and session.log.store.path is not None:
        connection.registry.directory().delete(session.log.store.path)
    return {"sessionId": session.session_id}


async def fork_session(request: Request, params: EntryParams) -> Result:
    await request.session.log.store.complete_index()
    session, text = request.connection.registry.fork(request.session, params.entry_id)
    request.connection.adopt(session)
    return {**state_to_wire(session, request.connection.feed(session)), "text": text}


async def clone_session(request: Request, params: SessionParams) -> Result:
    await request.session.log.store.complete_index()
    session = request.connection.registry.clone(request.session)
    request.connection.adopt(session)
    return state_to_wire(session, request.connection.feed(session))


async def set_session_name(request: Request, params: SetSessionNameParams) -> Result:
    request.session.edits.set_name(params.name)
    return {}


async def get_session_stats(request: Request, params: SessionParams) -> Result:
    return await stats_to_wire(request.session)


async def export(request: Request, params: ExportSessionParams) -> Result:
    # Half a megabyte and 10 ms of a start, for what few sessions are asked for.
    from rpc_agent.runtime.session_export import export_session, write_export  # noqa: PLC0415

    cwd = request.session.parts.cwd
    path = None if params.output_path is None else absolute_path("outputPath", params.output_path, cwd)
    if path is not None:
        request.connection.registry.check_export(path)
    data = await export_session(request.session.log.store, params.format)
    if path is None:
        return {"text": data.decode("utf-8", "replace")}
    await write_export(path, data)
    return {"path": str(path)}


async def get_events(request: Request, params: GetEventsParams) -> Result:
    replay = request.connection.feed(request.session).replay(params.since, params.limit)
    other_life = params.stream_id is not None and params.stream_id != request.session.stream_id
    return {
        "events": [] if other_life else replay.events,
        "firstSeq": replay.first_seq,
        "lastSeq": replay.last_seq,
        "truncated": other_life or replay.truncated,
    }


async def close_session(request: Request, params: SessionParams) -> Result:
    request.call.cannot_be_cancelled()
    await request.connection.close_session(request.session)
    return {}


def get_state(request: Request, params: SessionParams) -> Result:
    return state_to_wire(request.session, request.connection.feed(request.session))


async def _wanted_path(connection: Connection, params: OpenSessionParams, cwd: Path | None) -> Path:
    if params.path is not None:
        return Path(params.path)
    directory = connection.registry.directory(cwd)
    with storage_errors(directory.root):
        if (wanted := params.id) is not None:
            return await in_thread(lambda: directory.find(wanted))
        if params.latest:
            place = str(connection.registry.working_directory(cwd))
            return await in_thread(lambda: directory.latest(place))
    raise InvalidValue("path", "give one of path, id, or latest: true")


def _warning(warning: SessionWarning) -> dict[str, Any]:
    line = {} if warning.line is None else {"line": warning.line}
    return {"kind": warning.kind, **line, "message": warning.message}


SESSION_HANDLERS: dict[str, SessionHandler] = {
    "close_session": close_session,
    "fork_session": fork_session,
    "clone_session": clone_session,
    "set_session_name": set_session_name,
    "get_session_stats": get_session_stats,
    "get_events": get_events,
    "export_session": export,
}
QUICK_HANDLERS: dict[str, QuickHandler] = {"get_state": get_state}
CONNECTION_HANDLERS: dict[str, ConnectionHandler] = {
    "new_session": new_session,
    "open_session": open_session,
    "list_sessions": list_sessions,
    "delete_session": delete_session,
}
