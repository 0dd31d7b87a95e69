"""Our own requests to the other side: their ids, and whose answer is whose. Refuses to send or to wait."""

import asyncio
from typing import Any

from rpc_agent.rpc.envelopes import Response
from rpc_agent.rpc.errors import INTERNAL_ERROR, Disconnected, RpcError


class Questions:
    """The requests of ours that wait for an answer."""

    def __init__(self) -> None:
        self._last_id = 0
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._is_closed = False

    def ask(self) -> tuple[int, asyncio.Future[Any]]:
        """A fresh id, and the future that its answer resolves. Raises Disconnected when no answer can come."""
        if self._is_closed:
            raise Disconnected("the other side can no longer answer")
        self._last_id += 1
        self._waiting[self._last_id] = future = asyncio.get_running_loop().create_future()
        future.add_done_callback(_look_at)
        return self._last_id, future

    def forget(self, id: int) -> None:
        self._waiting.pop(id, None)

    def answer(self, response: Response) -> None:
        """Resolve the question; an answer to nothing, or one that comes too late, is ignored."""
        if not isinstance(response.id, int) or isinstance(response.id, bool):
            return
        future = self._waiting.pop(response.id, None)
        if future is None or future.done():
            return
        if response.error is None:
            future.set_result(response.result)
        else:
            future.set_exception(_to_rpc_error(response.error))

    def close(self) -> list[int]:
        """No answer can come any more: every waiting question fails with Disconnected. Their ids, to take them back."""
        self._is_closed = True
        open_ids = [id for id, future in self._waiting.items() if not future.done()]
        for id in open_ids:
            self._waiting.pop(id).set_exception(Disconnected("the other side can no longer answer"))
        return open_ids


def _to_rpc_error(error: Any) -> RpcError:
    fields = error if isinstance(error, dict) else {}
    code, message, data = fields.get("code"), fields.get("message"), fields.get("data")
    return RpcError(
        code if isinstance(code, int) else INTERNAL_ERROR,
        message if isinstance(message, str) else "an error without a message",
        data if isinstance(data, dict) else None,
    )


def _look_at(future: asyncio.Future[Any]) -> None:
    # Whoever asked may have been cancelled in the same moment; the error is then nobody's, and no reason to warn.
    if not future.cancelled():
        future.exception()
