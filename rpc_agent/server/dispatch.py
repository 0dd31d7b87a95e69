"""From the method table and the handlers to what a peer calls: params checked, order kept, errors given their codes."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import anyio.lowlevel

from rpc_agent.errors import RpcAgentError
from rpc_agent.protocol.method import Method
from rpc_agent.protocol.methods import METHODS
from rpc_agent.protocol.parse_params import InvalidParams, parse_params
from rpc_agent.rpc.calls import Call, Handler
from rpc_agent.rpc.errors import INVALID_PARAMS, RpcError
from rpc_agent.runtime.live_session import LiveSession
from rpc_agent.server.connection import Connection
from rpc_agent.server.error_mapping import wire_code

Result = Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Later:
    """A result that is not there yet: the method's turn is over, its answer comes when `wait` returns."""

    wait: Callable[[], Awaitable[Result]]


@dataclass(frozen=True, slots=True)
class Request:
    """What a handler of a session's method gets beside the params."""

    connection: Connection
    session: LiveSession
    call: Call


SessionHandler = Callable[[Request, Any], Awaitable[Result | Later]]
ConnectionHandler = Callable[[Connection, Any, Call], Awaitable[Result]]


def bind(
    connection: Connection,
    session_handlers: Mapping[str, SessionHandler],
    connection_handlers: Mapping[str, ConnectionHandler],
) -> dict[str, Handler]:
    """A peer's handlers, one for each row of the table that has one."""
    bound: dict[str, Handler] = {}
    for name, session_handler in session_handlers.items():
        bound[name] = _for_session(connection, METHODS[name], session_handler)
    for name, connection_handler in connection_handlers.items():
        bound[name] = _for_connection(connection, METHODS[name], connection_handler)
    return bound


def _for_session(connection: Connection, method: Method, handler: SessionHandler) -> Handler:
    is_question = method.ordering != "in-order" and method.name.startswith("get_")

    async def run(call: Call, params: Any) -> Any:
        try:
            parsed = parse_params(method, params)
            session = await connection.session(parsed.session_id, is_question=is_question)  # type: ignore[attr-defined]
            request = Request(connection, session, call)
            if method.name == "prompt" and not _cuts_in(parsed):
                # Said at once and not after the wait in line: a person who types during a compaction wants to know.
                session.refuse_when_occupied()
            waits_in_line = method.ordering == "in-order" and not _cuts_in(parsed)
            if not waits_in_line and _is_about_runs(method.name):
                await _what_came_before_has_begun()
            if waits_in_line:
                async with connection.ordering.turn(session.session_id):
                    connection.require_open(session)
                    result = await handler(request, parsed)
            else:
                result = await handler(request, parsed)
            if isinstance(result, Later):
                result = await result.wait()
            return {"sessionId": session.session_id, **(result or {})}
        except RpcAgentError as error:
            raise to_rpc_error(error) from error

    return run


def _is_about_runs(method: str) -> bool:
    """Whether it means the run that a request before it began."""
    return method in ("prompt", "steer", "follow_up") or method.startswith("abort")


async def _what_came_before_has_begun() -> None:
    """Taking a turn that is free costs a request one step of the loop, and what is sent behind it in the same write
    must not overtake it: an abort would stop nothing, and a follow-up would be the first message of the run."""
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
