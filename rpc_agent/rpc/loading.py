"""The second phase of a start: imports what the methods need, in a thread, once. Refuses to know when that is wanted.

Until then a peer has only json and asyncio, and answers its early methods with them.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from rpc_agent.rpc import errors, json_text
from rpc_agent.rpc.calls import Call, Methods, Params
from rpc_agent.rpc.envelopes import EncodeJson

if TYPE_CHECKING:
    from rpc_agent.rpc.dispatcher import Dispatcher

Load = Callable[[], Methods]
"""Makes the methods. Called in a thread; does the imports they need. An RpcError is then the answer to all requests."""

_logger = logging.getLogger(__name__)


class LateMethods:
    """The methods that are there after the second phase, and the faster encoder that comes with it."""

    def __init__(self, load: Load, *, known: frozenset[str]) -> None:
        self._load = load
        self._known = known
        self._loading: asyncio.Task[None] | None = None
        self._dispatcher: Dispatcher | None = None
        self._refusal: errors.RpcError | None = None
        self.encode: EncodeJson = json_text.encode

    def begin(self, tasks: asyncio.TaskGroup, after: Callable[[], Awaitable[None]]) -> None:
        """Load, once, when `after` has returned.

        Importing keeps the interpreter busy, and a thread that wants to write would wait for it.
        """
        if self._loading is None:
            self._loading = tasks.create_task(self._run(after))

    @property
    def is_ready(self) -> bool:
        """Whether `ready` would not wait."""
        return self._dispatcher is not None

    async def ready(self) -> None:
        """Wait until what `begin` has begun is done, well or badly."""
        if self._loading is not None and not self._loading.done():
            await asyncio.wait([self._loading])

    def knows(self, method: str) -> bool:
        return self._dispatcher is not None and self._dispatcher.knows(method)

    async def run(self, call: Call, params: Params) -> Any:
        """The method's result. Raises RpcError; when loading failed, what it failed with, or internalError."""
        if self._dispatcher is None:
            # Without the frames of those who were told before.
            raise (self._refusal or errors.internal_error()).with_traceback(None)
        return await self._dispatcher.run(call, params)

    def run_now(self, call: Call, params: Params) -> Any:
        """A quick method's result; None where it has to wait, and for all others. Raises as `run` does."""
        return None if self._dispatcher is None else self._dispatcher.run_now(call, params)

    def cancel(self) -> None:
        """Nobody needs the methods any more. A thread that is importing ends by itself."""
        if self._loading is not None:
            self._loading.cancel()

    async def _run(self, after: Callable[[], Awaitable[None]]) -> None:
        await after()
        try:
            self._dispatcher, self.encode = await asyncio.to_thread(self._import)
        except errors.RpcError as refusal:
            _logger.error("the methods could not be loaded: %s", refusal.message)
            self._refusal = refusal
        except Exception:
            _logger.exception("the methods could not be loaded; every request will be answered with internalError")

    def _import(self) -> "tuple[Dispatcher, EncodeJson]":
        # Start-up: these two bring jsonrpcserver and orjson.
        from rpc_agent.rpc import fast_json  # noqa: PLC0415
        from rpc_agent.rpc.dispatcher import Dispatcher  # noqa: PLC0415

        return Dispatcher(self._load(), known=self._known), fast_json.encode
