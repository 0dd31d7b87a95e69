"""The blocking form: the same client on an event loop in a thread of its own. Adds no behaviour."""

import asyncio
import inspect
import os
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from rpc_agent_client.client import DEFAULT_CLOSE_LIMITS, DEFAULT_COMMAND, Client, CloseLimits, OnTraffic
from rpc_agent_client.connection import Call, Callback
from rpc_agent_client.errors import ConnectionClosed, RequestTimedOut
from rpc_agent_client.framing import FramingName
from rpc_agent_client.messages import JsonObject, Notification
from rpc_agent_client.process import OnStderr
from rpc_agent_client.subscription import Subscription

P = ParamSpec("P")
T = TypeVar("T")

# Windows does not interrupt a wait for Ctrl-C, so waits are short and repeated.
_WAIT_SECONDS = 0.25


def _blocking(
    method: Callable[Concatenate[Client, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate["SyncClient", P], T]:
    def call(self: "SyncClient", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._run(method(self.client, *args, **kwargs))

    call.__name__, call.__doc__ = method.__name__, method.__doc__
    return call


class SyncCall:
    """A request on its way."""

    def __init__(self, owner: "SyncClient", call: Call) -> None:
        self._owner, self._call = owner, call

    @property
    def done(self) -> bool:
        return self._call.answer.done()

    def when_done(self, callback: Callable[[], object]) -> None:
        """Call `callback` once, in the thread of the connection, when the answer is there, or will never be."""
        self._owner._post(self._call.answer.add_done_callback, lambda _: callback())

    def result(self, timeout: float | None = None) -> Any:
        """Wait for the answer; seconds, then RequestTimedOut (the request goes on)."""
        return self._owner._run(_within(self._call, timeout))

    def cancel(self) -> None:
        """Ask the server to stop; its answer still comes."""
        self._owner._post(self._call.cancel)


class SyncSubscription:
    """A `for` loop over notifications; ends when the client is closed."""

    def __init__(self, owner: "SyncClient", subscription: Subscription) -> None:
        self._owner, self._subscription = owner, subscription

    def __iter__(self) -> Iterator[Notification]:
        while (notification := self._owner._run(_next(self._subscription))) is not None:
            yield notification

    def until(self, call: SyncCall) -> Iterator[Notification]:
        """Everything that comes before the answer to `call`, then the end; the result is `call.result()`."""
        events = self._subscription.until(call._call.answer)
        while (notification := self._owner._run(_next(events))) is not None:
            yield notification

    def close(self) -> None:
        self._owner._run(_done(self._subscription.close))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class SyncClient:
    """Client for programs without asyncio.

    Callbacks run in the thread of the connection: keep them short. What blocks cannot be called there, as it would wait
    for itself, and raises RuntimeError; `post` can.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True, name="rpc-agent-client loop")
        self._thread.start()
        self.client: Client

    @classmethod
    @contextmanager
    def spawn(
        cls,
        command: Sequence[str] = DEFAULT_COMMAND,
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        framing: FramingName = "lines",
        on_stderr: OnStderr | None = None,
        on_traffic: OnTraffic | None = None,
        close_limits: CloseLimits = DEFAULT_CLOSE_LIMITS,
    ) -> Iterator[Self]:
        """As Client.spawn."""
        self = cls()
        try:
            self.client = self._run(
                Client.open(
                    command,
                    cwd=cwd,
                    env=env,
                    framing=framing,
                    on_stderr=on_stderr,
                    on_traffic=on_traffic,
                    close_limits=close_limits,
                )
            )
            try:
                yield self
            finally:
                self._run(self.client.aclose())
        finally:
            self._stop()

    def start(self, method: str, params: JsonObject | None = None) -> SyncCall:
        """Send a request and go on; the answer is `.result()`."""
        return SyncCall(self, self._run(_done(self.client.start, method, params)))

    def post(self, method: str, params: JsonObject | None = None) -> None:
        """Send a request whose answer nobody wants. Never blocks, so a signal handler may call it."""
        self._post(self.client.start, method, params)

    def notify(self, method: str, params: JsonObject | None = None) -> None:
        self._run(_done(self.client.notify, method, params))

    def notifications(
        self, *methods: str, session_id: str | None = None, max_buffered: int | None = None
    ) -> SyncSubscription:
        subscription = self._run(
            _done(self.client.notifications, *methods, session_id=session_id, max_buffered=max_buffered)
        )
        return SyncSubscription(self, subscription)

    def on(self, method: str, callback: Callback) -> Callable[[], None]:
        remove = self._run(_done(self.client.on, method, callback))
        return lambda: self._run(_done(remove))

    def handle(self, method: str, handler: Callable[[JsonObject], Any]) -> None:
        """`handler` may block: it runs in a thread of its own. An `async def` runs on the connection's event loop, and
        is cancelled when the server takes its question back."""
        if inspect.iscoroutinefunction(handler):
            self._run(_done(self.client.handle, method, handler))
            return

        async def in_thread(params: JsonObject) -> Any:
            return await asyncio.to_thread(handler, params)

        self._run(_done(self.client.handle, method, in_thread))

    @property
    def pid(self) -> int | None:
        return self.client.pid

    @property
    def returncode(self) -> int | None:
        return self.client.returncode

    @property
    def stderr_tail(self) -> str:
        return self.client.stderr_tail

    request = _blocking(Client.request)
    initialize = _blocking(Client.initialize)
    ping = _blocking(Client.ping)
    new_session = _blocking(Client.new_session)
    open_session = _blocking(Client.open_session)
    close_session = _blocking(Client.close_session)
    get_state = _blocking(Client.get_state)
    get_messages = _blocking(Client.get_messages)
    get_context = _blocking(Client.get_context)
    get_entries = _blocking(Client.get_entries)
    get_tree = _blocking(Client.get_tree)
    get_events = _blocking(Client.get_events)
    prompt = _blocking(Client.prompt)
    steer = _blocking(Client.steer)
    follow_up = _blocking(Client.follow_up)
    abort = _blocking(Client.abort)
    wait_for_idle = _blocking(Client.wait_for_idle)
    compact = _blocking(Client.compact)
    preview_compaction = _blocking(Client.preview_compaction)
    abort_compaction = _blocking(Client.abort_compaction)
    undo_compaction = _blocking(Client.undo_compaction)
    navigate_tree = _blocking(Client.navigate_tree)
    get_available_models = _blocking(Client.get_available_models)
    set_model = _blocking(Client.set_model)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop.is_closed():
            work.close()
            raise ConnectionClosed
        if threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError("this waits for the thread it is called in; call it in another, or use `post`")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return _wait(future)
        except BaseException:
            # Ctrl-C here: the request is cancelled at the server too.
            future.cancel()
            raise

    def _post(self, function: Callable[..., object], *args: object) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function, *args)

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()


def _wait(future: "Future[T]") -> T:
    while True:
        try:
            return future.result(_WAIT_SECONDS)
        except TimeoutError:
            # Ours when nothing has come yet; else the request's own.
            if future.done():
                raise


async def _done(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """`function`, called in the loop's thread."""
    return function(*args, **kwargs)


async def _next(events: Any) -> Notification | None:
    try:
        notification: Notification = await anext(events)
    except StopAsyncIteration:
        return None
    return notification


async def _within(call: Call, seconds: float | None) -> Any:
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.shield(call.answer)
    except TimeoutError:
        raise RequestTimedOut(call.method, seconds or 0.0) from None
