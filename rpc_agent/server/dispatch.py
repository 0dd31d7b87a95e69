"""From the method table and the handlers to what a peer calls: params checked, order kept, errors given their codes."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import anyio.lowlevel
from msgspec import Struct

from rpc_agent.errors import RpcAgentError
from rpc_agent.protocol.method import Method
from rpc_agent.protocol.methods import METHODS
from rpc_agent.protocol.parse_params import InvalidParams, parse_params
from rpc_agent.rpc.calls import Call, Handler, Quick
from rpc_agent.rpc.errors import INVALID_PARAMS, RpcError
from rpc_agent.runtime.live_session import LiveSession
from rpc_agent.server.connection import Connection
from rpc_agent.server.error_mapping import wire_code
from rpc_agent.server.ordering import MESSAGES

Result = Mapping[str, Any] | None

_ABOUT_RUNS = MESSAGES | {"clear_queue", "get_queue", "wait_for_idle"}
_BEGINS_WITHIN = 1.0
"""Seconds. A message that a hook thinks about for longer is overtaken: nobody who stops something waits for a hook."""


class Later(Struct, frozen=True):
    """A result that is not there yet: the method's turn is over, its answer comes when `wait` returns."""

    wait: Callable[[], Awaitable[Result]]


class Request(Struct, frozen=True):
    """What a handler of a session's method gets beside the params."""

    connection: Connection
    session: LiveSession
    call: Call


SessionHandler = Callable[[Request, Any], Awaitable[Result | Later]]
QuickHandler = Callable[[Request, Any], Result]
"""Reads what is in memory, in microseconds: its request is answered as soon as it is read, if nothing is before it."""
ConnectionHandler = Callable[[Connection, Any, Call], Awaitable[Result]]


def bind(
    connection: Connection,
    session_handlers: Mapping[str, SessionHandler],
    quick_handlers: Mapping[str, QuickHandler],
    connection_handlers: Mapping[str, ConnectionHandler],
) -> dict[str, Handler | Quick]:
    """A peer's handlers, one for each row of the table that has one."""
    bound: dict[str, Handler | Quick] = {}
    for name, session_handler in session_handlers.items():
        bound[name] = _for_session(connection, METHODS[name], session_handler)
    for name, quick_handler in quick_handlers.items():
        bound[name] = _quick(connection, METHODS[name], quick_handler)
    for name, connection_handler in connection_handlers.items():
        bound[name] = _for_connection(connection, METHODS[name], connection_handler)
    return bound


def _for_session(connection: Connection, method: Method, handler: SessionHandler) -> Handler:
    is_question = method.ordering != "in-order" and method.name.startswith("get_")

    async def run(call: Call, params: Any) -> Any:
        try:
            parsed: Any = parse_params(method, params)
            is_in_line = method.ordering == "in-order" and not _cuts_in(parsed)
            before = connection.ordering.messages_before(parsed.session_id) if _is_about_runs(method.name) else []
            has_place = is_in_line or method.name in MESSAGES
            with connection.ordering.place(method.name, parsed.session_id) if has_place else nullcontext():
                session, result = await (in_line(call, parsed) if is_in_line else alongside(call, parsed, before))
            if isinstance(result, Later):
                result = await result.wait()
            return _about(session, result)
        except RpcAgentError as error:
            raise to_rpc_error(error) from error

    async def in_line(call: Call, parsed: Any) -> tuple[LiveSession, Result | Later]:
        session = await connection.session(parsed.session_id)
        if method.name == "prompt":
            # Said at once and not after the wait in line: a person who types during a compaction wants to know.
            session.refuse_when_occupied()
        async with connection.ordering.turn(session.session_id):
            connection.require_open(session)
            return session, await handler(Request(connection, session, call), parsed)

    async def alongside(call: Call, parsed: Any, before: Sequence[anyio.Event]) -> tuple[LiveSession, Result | Later]:
        is_about_runs = _is_about_runs(method.name)
        with connection.ordering.coming() if is_about_runs else nullcontext():
            session = await connection.session(parsed.session_id, is_question=is_question)
            if is_about_runs:
                await _have_come(before)
        return session, await handler(Request(connection, session, call), parsed)

    return run


def _quick(connection: Connection, method: Method, handler: QuickHandler) -> Quick:
    def now(call: Call, params: Any) -> Any:
        try:
            parsed: Any = parse_params(method, params)
            if _is_about_runs(method.name) and connection.ordering.is_anybody_in_line:
                return None
            session = connection.session_now(parsed.session_id)
            return None if session is None else _about(session, handler(Request(connection, session, call), parsed))
        except RpcAgentError as error:
            raise to_rpc_error(error) from error

    async def wait(request: Request, parsed: Any) -> Result:
        return handler(request, parsed)

    return Quick(now, _for_session(connection, method, wait))


def _about(session: LiveSession, result: Result) -> dict[str, Any]:
    return {"sessionId": session.session_id, **(result or {})}


def _is_about_runs(method: str) -> bool:
    """Whether it means the run that a request before it began."""
    return method in _ABOUT_RUNS or method.startswith("abort")


async def _have_come(messages: Sequence[anyio.Event]) -> None:
    """What is sent behind a message in the same write must not overtake it: an abort would stop nothing, and a
    follow-up would be the first message of the run."""
    with anyio.move_on_after(_BEGINS_WITHIN):
        for message in messages:
            await message.wait()
    # Other requests, a compaction say, take a step of the loop for their turn even when it is free.
    for _ in range(2):
        await anyio.lowlevel.checkpoint()


def _cuts_in(params: Any) -> bool:
    """A prompt that says what to do when the session is busy does not wait in line: it is queued there and then."""
    return getattr(params, "streaming_behavior", None) is not None


def _for_connection(connection: Connection, method: Method, handler: ConnectionHandler) -> Handler:
    async def run(call: Call, params: Any) -> Any:
        try:
            parsed = parse_params(method, params)
            if method.ordering == "connection":
                async with connection.ordering.choosing():
                    connection.refuse_when_ending()
                    return await handler(connection, parsed, call)
            return await handler(connection, parsed, call)
        except RpcAgentError as error:
            raise to_rpc_error(error) from error

    return run


def to_rpc_error(error: RpcAgentError) -> RpcError:
    if isinstance(error, InvalidParams):
        return RpcError(INVALID_PARAMS, error.message, {"reason": "invalidParams", "errors": error.errors})
    code, reason = wire_code(error)
    return RpcError(code, error.message, {**error.details, "reason": error.details.get("reason", reason)})
