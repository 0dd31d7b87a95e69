"""Runs the handler of a request through jsonrpcserver, and covers what that library leaves open.

The only module that knows jsonrpcserver. It is loaded after the first answer, because it brings jsonschema along.
Covered here: no text of an unforeseen exception reaches the other side, and a method that is not found is answered
with a suggestion. Ids, batches, cancellation and encoding never enter the library.
"""

import inspect
import logging
import warnings
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from rpc_agent.rpc import errors
from rpc_agent.rpc.calls import Call, Handler, Params
from rpc_agent.rpc.errors import RpcError

# The library reads its own schema file in a way that the standard library has deprecated.
warnings.filterwarnings("ignore", message=r"(read|open)_text is deprecated", category=DeprecationWarning)

from jsonrpcserver import Error, Result, Success  # noqa: E402 - after the filter
from jsonrpcserver.async_dispatcher import dispatch_request  # noqa: E402
from jsonrpcserver.request import Request  # noqa: E402

_logger = logging.getLogger(__name__)

_Method = Callable[[Call, Params], Awaitable[Result]]


class Dispatcher:
    """The methods of one peer. `known` are further names that the peer answers itself, for suggestions."""

    def __init__(self, methods: Mapping[str, Handler], *, known: frozenset[str] = frozenset()) -> None:
        self._methods = {name: _guarded(handler) for name, handler in methods.items()}
        self._known = known.union(methods)

    def knows(self, method: str) -> bool:
        return method in self._methods

    async def run(self, call: Call, params: Params) -> Any:
        """The handler's result. Raises RpcError, with internalError for whatever was unforeseen."""
        if call.method not in self._methods:
            raise errors.method_not_found(call.method, self._known)
        # One positional argument, whatever the params are: the library would spread an object over keyword arguments.
        request = Request(call.method, [params], call.id)
        _, outcome = await dispatch_request(self._methods, call, request)
        return _unwrap(outcome)


def _guarded(handler: Handler) -> _Method:
    async def method(call: Call, params: Params) -> Result:
        try:
            return Success(await handler(call, params))
        except RpcError as error:
            return Error(error.code, error.message, error.data)
        except Exception:
            _logger.exception("%s failed", call.method)
            return Error(*_INTERNAL)

    # The library asks for the signature at every call; it is the same for all of them.
    method.__signature__ = _SIGNATURE  # type: ignore[attr-defined]
    return method


def _unwrap(outcome: Any) -> Any:
    failure = getattr(outcome, "_error", None)
    if failure is None:
        return outcome._value.result
    raise RpcError(failure.code, failure.message, failure.data)


def _shape(call: Call, params: Params) -> None: ...


_SIGNATURE = inspect.signature(_shape)
_INTERNAL = (errors.INTERNAL_ERROR, errors.internal_error().message, errors.internal_error().data)
