"""Calls a handler of somebody else's: a coroutine function as it is, a plain function in a thread that may hang.

A thread cannot be stopped. One whose handler never returns is left behind; being a daemon it keeps no process alive.
"""

import asyncio
import contextvars
import inspect
import threading
from typing import Any

from rpc_agent.extensions.api import HookHandler


async def call_handler(handler: HookHandler, event: dict[str, Any]) -> object:
    """The handler's answer, unchecked. Raises whatever it raises."""
    given = handler(event) if inspect.iscoroutinefunction(handler) else await _in_thread(handler, event)
    return await given if inspect.isawaitable(given) else given


async def _in_thread(handler: HookHandler, event: dict[str, Any]) -> object:
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[object] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: object, error: BaseException | None) -> None:
        if answer.done():
            return  # Nobody waits any more.
        if error is None:
            answer.set_result(value)
        else:
            answer.set_exception(error)

    def work() -> None:
        value: object = None
        error: BaseException | None = None
        try:
            value = context.run(handler, event)
        except BaseException as raised:  # noqa: BLE001 - handed over to the extension runner, the boundary
            # sys.exit() in a handler is a failure of the handler; StopIteration cannot cross a future.
            error = raised if isinstance(raised, Exception) and not isinstance(raised, StopIteration) else None
            error = error or RuntimeError(f"it raised {type(raised).__name__}")
        try:
            loop.call_soon_threadsafe(settle, value, error)
        except RuntimeError:
            pass  # The loop is closed: the process is ending.

    threading.Thread(target=work, name="extension", daemon=True).start()
    return await answer
