"""The asyncio client: a server process, the connection to it, and the end of both. Gives no method a meaning."""

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self

from rpc_agent_client.connection import Call, Callback, Connection, Handler, settle
from rpc_agent_client.errors import ClientError, ConnectionClosed, ProtocolViolation, ServerExited
from rpc_agent_client.framing import FramingName
from rpc_agent_client.messages import JsonObject
from rpc_agent_client.methods import Methods
from rpc_agent_client.process import OnStderr, ServerProcess
from rpc_agent_client.subscription import Subscription
from rpc_agent_client.types import InitializeResult

DEFAULT_COMMAND = ("rpc-agent", "serve")
OnTraffic = Callable[[str, bytes], None]
"""("sent" or "received", one whole message without its framing)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseLimits:
    """Seconds that each step of closing may take before the next, harsher one."""

    shutdown: float = 2.0
    """`shutdown` needs no work from the server; one that does not answer it in this time is stuck."""
    exit: float = 6.0
    """The server promises to be gone within 5 s; one more for a loaded machine."""
    signal: float = 2.0
    """After SIGTERM, and again after SIGKILL: long enough to be scheduled, short enough for a person."""


DEFAULT_CLOSE_LIMITS = CloseLimits()


class Client(Methods):
    """One server, many sessions. Made by `spawn` (a context) or `open` (then `aclose` is yours to call).

    Belongs to the event loop it was made in.
    """

    def __init__(self, framing: FramingName) -> None:
        self._connection = Connection(self._write, framing)
        self._process: ServerProcess | None = None
        self._code: int | None = None
        self._closing = False
        self._close_limits = DEFAULT_CLOSE_LIMITS

    @classmethod
    @asynccontextmanager
    async def spawn(
        cls,
        command: Sequence[str] = DEFAULT_COMMAND,
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        framing: FramingName = "lines",
        on_stderr: OnStderr | None = None,
        on_traffic: OnTraffic | None = None,
        close_limits: CloseLimits = DEFAULT_CLOSE_LIMITS,
    ) -> AsyncIterator[Self]:
        """A running server, which is gone when the context ends, whatever happened in it.

        `env` replaces the environment. `on_stderr` gets each line the server logs. Raises CannotStart.
        """
        client = await cls.open(
            command,
            cwd=cwd,
            env=env,
            framing=framing,
            on_stderr=on_stderr,
            on_traffic=on_traffic,
            close_limits=close_limits,
        )
        try:
            yield client
        finally:
            await client.aclose()

    @classmethod
    async def open(
        cls,
        command: Sequence[str] = DEFAULT_COMMAND,
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        framing: FramingName = "lines",
        on_stderr: OnStderr | None = None,
        on_traffic: OnTraffic | None = None,
        close_limits: CloseLimits = DEFAULT_CLOSE_LIMITS,
    ) -> Self:
        """As `spawn`, for a client whose life no `async with` can hold. Call `aclose`."""
        client = cls(framing)
        client._connection.on_traffic = on_traffic
        client._close_limits = close_limits
        client._process = ServerProcess(
            command,
            cwd=cwd,
            env=env,
            on_bytes=client._receive,
            on_exit=client._exited,
            on_stderr=on_stderr,
            mute_seconds=close_limits.exit,
        )
        return client

    # Asking.

    async def request(self, method: str, params: JsonObject | None = None, *, timeout: float | None = None) -> Any:
        """The result of `method`. Cancelling the caller sends `$/cancelRequest`; so does the end of `timeout` seconds,
        which raises RequestTimedOut. An error answer raises RpcError."""
        if self._process is not None:
            await self._process.drain()
        result = await self._connection.request(method, params or {}, timeout)
        if method == "initialize":
            self._learn_limits(result)
        return result

    def start(self, method: str, params: JsonObject | None = None) -> Call:
        """Send a request and go on: await the Call for its result, or `cancel` it and still get its answer."""
        return self._connection.start(method, params or {})

    def notify(self, method: str, params: JsonObject | None = None) -> None:
        self._connection.notify(method, params or {})

    # Listening and answering.

    def notifications(
        self, *methods: str, session_id: str | None = None, max_buffered: int | None = None
    ) -> Subscription:
        """Notifications from now on, of the methods named (none named: all), of one session or of every one."""
        return self._connection.subscribe(frozenset(methods), session_id, max_buffered)

    def on(self, method: str, callback: Callback) -> Callable[[], None]:
        """Call `callback` with each notification of `method` ("*": of any). Returns what takes it off again."""
        return self._connection.on(method, callback)

    def handle(self, method: str, handler: Handler) -> None:
        """Answer the server's requests called `method` with what `handler(params)` returns, or resolves to.

        An RpcError that it raises is the answer; when the server needs no answer any more the handler is cancelled.
        """
        self._connection.handle(method, handler)

    # The process.

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def returncode(self) -> int | None:
        """The server's exit code; None while it runs. Negative: the signal that ended it."""
        return self._code

    @property
    def stderr_tail(self) -> str:
        """The last the server wrote to stderr."""
        return self._process.stderr_tail if self._process else ""

    async def aclose(self) -> None:
        """End the server: asked first, then told, then killed. Bounded, and the process is gone when this returns."""
        process = self._process
        if process is None or self._closing:
            return
        self._closing = True
        try:
            if self._code is None:
                await self._end(process)
        finally:
            # Also when the caller is cancelled meanwhile: nothing stays behind.
            process.kill()
            self._connection.end(ConnectionClosed(), expected=True)

    async def _end(self, process: ServerProcess) -> None:
        limits = self._close_limits
        await settle(self._connection.request("shutdown", {}, limits.shutdown))
        self._connection.notify("exit", {})
        process.close_stdin()
        if await process.wait(limits.exit):
            return
        process.terminate()
        if not await process.wait(limits.signal):
            process.kill()
            await process.wait(limits.signal)

    def _learn_limits(self, handshake: InitializeResult) -> None:
        limit = (handshake.get("limits") or {}).get("maxMessageBytes")
        if isinstance(limit, int):
            self._connection.max_message_bytes = limit

    # What the process reports.

    def _write(self, data: bytes) -> None:
        if self._process is not None:
            self._process.send(data)

    def _receive(self, chunk: bytes) -> None:
        if self._process is None:
            return
        try:
            self._connection.receive(chunk)
        except ProtocolViolation as error:
            self._connection.end(error)
            self._process.terminate()

    def _exited(self, code: int) -> None:
        self._code = code
        error: ClientError = ConnectionClosed() if self._closing else ServerExited(code, self.stderr_tail)
        self._connection.end(error, expected=self._closing)
