"""Runs the handler of a request through jsonrpcserver, and covers what that library leaves open.

The only module that knows jsonrpcserver. It is loaded after the first answer, and without what the library has beside
its dispatch.
Covered here: no text of an unforeseen exception reaches the other side, and a method that is not found is answered
with a suggestion. Ids, batches, cancellation and encoding never enter the library, and its look at each method's
signature is left out: all of ours take a call and its params, and it costs more than a quick method's work.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from rpc_agent.rpc import errors
from rpc_agent.rpc.calls import Call, Handler, Methods, Params, Quick
from rpc_agent.rpc.errors import RpcError
from rpc_agent.rpc.library_parts import without_init

with without_init("jsonrpcserver", "oslash"):
    from jsonrpcserver.async_dispatcher import call as call_method
    from jsonrpcserver.dispatcher import call as call_quick_method
    from jsonrpcserver.dispatcher import get_method
    from jsonrpcserver.request import Request
    from jsonrpcserver.result import Error, Result, Success

_logger = logging.getLogger(__name__)

_Method = Callable[[Call, Params], Awaitable[Result]]
_QuickMethod = Callable[[Call, Params], Result]


class Dispatcher:
    """The methods of one peer. `known` are further names that the peer answers itself, for suggestions."""

    def __init__(self, methods: Methods, *, known: frozenset[str] = frozenset()) -> None:
        self._methods = {
            name: _guarded(method.later if isinstance(method, Quick) else method) for name, method in methods.items()
        }
        self._quick = {name: _guarded_now(method.now) for name, method in methods.items() if isinstance(method, Quick)}
        self._known = known.union(methods)

    def knows(self, method: str) -> bool:
        return method in self._methods

    async def run(self, call: Call, params: Params) -> Any:
        """The handler's result. Raises RpcError, with internalError for whatever was unforeseen."""
        if call.method not in self._methods:
            raise errors.method_not_found(call.method, self._known)
        method = get_method(self._methods, call.method)._value
        return _unwrap(await call_method(_request(call, params), call, method))

    def run_now(self, call: Call, params: Params) -> Any:
        """The result of a quick method; None where it has to wait, and for all others. Raises as `run` does."""
        if call.method not in self._quick:
            return None
        method = get_method(self._quick, call.method)._value
        return _unwrap(call_quick_method(_request(call, params), call, method))


def _request(call: Call, params: Params) -> Request:
    # One positional argument, whatever the params are: the library would spread an object over keyword arguments.
    return Request(call.method, [params], call.id)


def _guarded(handler: Handler) -> _Method:
    async def method(call: Call, params: Params) -> Result:
        try:
            return Success(await handler(call, params))
        except Exception as error:  # noqa: BLE001 - the boundary; what is unforeseen is logged
            return _failure(call, error)

    return method


def _guarded_now(handler: Callable[[Call, Params], Any]) -> _QuickMethod:
    def method(call: Call, params: Params) -> Result:
        try:
            return Success(handler(call, params))
        except Exception as error:  # noqa: BLE001 - as above
            return _failure(call, error)

    return method


def _failure(call: Call, error: Exception) -> Result:
    if isinstance(error, RpcError):
        return Error(error.code, error.message, error.data)
    _logger.error("%s failed", call.method, exc_info=error)
    return Error(*_INTERNAL)


def _unwrap(outcome: Any) -> Any:
    failure = getattr(outcome, "_error", None)
    if failure is None:
        return outcome._value.result
    raise RpcError(failure.code, failure.message, failure.data)


_INTERNAL = (errors.INTERNAL_ERROR, errors.internal_error().message, errors.internal_error().data)
