"""Notifications as an asynchronous iterator, in order, from the moment it is made. Asks the server nothing."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any, Self

from rpc_agent_client.errors import ClientError, FellBehind
from rpc_agent_client.messages import Notification

DEFAULT_MAX_BUFFERED = 100_000
"""Some tens of megabytes. A reader that far behind is stuck, and memory must not grow for it."""


class Subscription:
    """`async for` over notifications; ends when the client closes, raises ServerExited when the server dies."""

    def __init__(
        self,
        methods: frozenset[str],
        session_id: str | None,
        max_buffered: int,
        forget: "Callable[[Subscription], None]",
    ) -> None:
        self._methods, self._session_id, self._max_buffered = methods, session_id, max_buffered
        self._forget = forget
        self._waiting: deque[Notification | asyncio.Future[Any]] = deque()
        self._news = asyncio.Event()
        self._closed = False
        self._error: ClientError | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Notification:
        item = await self._next()
        while isinstance(item, asyncio.Future):
            item = await self._next()
        if item is None:
            raise StopAsyncIteration
        return item

    async def until(self, answer: "asyncio.Future[Any]") -> AsyncIterator[Notification]:
        """Everything that comes before `answer` is there (a Call has it as `.answer`), then the end.

        The result, or the error, is the caller's to take from the answer itself.
        """
        answer.add_done_callback(self._mark)
        while (item := await self._next()) is not None and item is not answer:
            if isinstance(item, Notification):
                yield item

    def close(self) -> None:
        """What was received already can still be read; then the iterator ends."""
        self._end(None)
        self._forget(self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    async def _next(self) -> "Notification | asyncio.Future[Any] | None":
        while not self._waiting:
            if self._error is not None:
                raise self._error
            if self._closed:
                return None
            self._news.clear()
            await self._news.wait()
        return self._waiting.popleft()

    # The connection's side.

    def _offer(self, notification: Notification) -> None:
        if self._methods and notification.method not in self._methods:
            return
        if self._session_id is not None and notification.session_id != self._session_id:
            return
        if len(self._waiting) >= self._max_buffered:
            self._end(FellBehind(self._max_buffered))
            self._forget(self)
            return
        self._waiting.append(notification)
        self._news.set()

    def _mark(self, answer: "asyncio.Future[Any]") -> None:
        self._waiting.append(answer)
        self._news.set()

    def _end(self, error: ClientError | None) -> None:
        if not self._closed:
            self._closed, self._error = True, error
            self._news.set()
