"""The process: one connection on stdin and stdout, and every way it can end.

Imported when the first answer is out (`start`), and still light: asyncio and what is imported here. `engine` brings
the rest.
"""

import asyncio
import contextlib
import gc
import os
import signal
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from rpc_agent.errors import RpcAgentError
from rpc_agent.platform.held_signals import ENDING_SIGNALS, release_ending_signals
from rpc_agent.rpc.calls import Call, Methods
from rpc_agent.rpc.opening import Opening
from rpc_agent.rpc.peer import Peer
from rpc_agent.rpc.stdio import StdioTransport
from rpc_agent.rpc.transport import Transport
from rpc_agent.server.handshake import Handshake, make_handshake
from rpc_agent.server.options import MAX_IN_FLIGHT, ServeOptions

if TYPE_CHECKING:
    from rpc_agent.platform.parent_death import ProcessWatch
    from rpc_agent.server.engine import Engine

_STOP_SECONDS = 4.5
"""A stuck client or disk must not keep the process alive: the protocol promises an end within 5 s."""
_EXEMPT = ("abort", "ping")
"""What stops work must get through when too much of it is going on."""


def run(options: ServeOptions, fds: tuple[int, int], handshake: Handshake, opening: Opening) -> int:
    """Serve until the input ends, the client says so, or the process is told to stop. Returns the exit code.

    `fds`: where to read and write; `opening`: what was read and answered there already.
    """
    transport: Transport = StdioTransport(*fds, opening=opening)
    if options.trace is not None:
        from rpc_agent.rpc.tracing import TracingTransport  # noqa: PLC0415 - only for those who look for a fault

        transport = TracingTransport(transport, options.trace)
    app = App(options, transport, os.environ, handshake=handshake, is_open=opening.has_answered, on_overdue=_die)
    return asyncio.run(_serve(app))


async def _serve(app: "App") -> int:
    app.take_signals(asyncio.get_running_loop())
    return await app.run()


class App:
    """One server process and its one client.

    `on_overdue(exit_code)` is called, in a thread, when ending took longer than it may.
    """

    def __init__(
        self,
        options: ServeOptions,
        transport: Transport,
        environment: Mapping[str, str],
        *,
        handshake: Handshake | None = None,
        is_open: bool = False,
        on_overdue: Callable[[int], None],
    ) -> None:
        self._options = options
        self._environment = environment
        self._on_overdue = on_overdue
        self._handshake = handshake or make_handshake(options)
        self._peer = Peer(
            transport,
            early=self._handshake.early_methods(),
            is_open=is_open,
            load=self._load,
            max_in_flight=MAX_IN_FLIGHT,
            is_exempt=lambda method: method.startswith(_EXEMPT),
            on_input_end=self._on_input_end,
            on_hang_up=self._on_hang_up,
            before_end=self._before_end,
        )
        self._engine: Engine | None = None
        self._tasks = asyncio.TaskGroup()
        self._stopping: asyncio.Task[None] | None = None
        self._shut_down = False
        self._exit_code = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._watchdog: threading.Timer | None = None
        self._client_watch: ProcessWatch | None = None

    async def run(self) -> int:
        """Serve to the end; the exit code."""
        self._loop = asyncio.get_running_loop()
        self._handshake.hear_process_id(self._watch_parent)
        async with self._tasks:
            await self._peer.run()
        if self._watchdog is not None:
            self._watchdog.cancel()
        return self._exit_code

    # Phase two

    def _load(self) -> Methods:
        """In a thread: the imports, then the wiring.

        What comes in here stays for good, so the collector looks at it neither now nor later: a full pass through it
        would hold up whatever streams at the time for tens of milliseconds.
        """
        gc.disable()
        try:
            return self._wire()
        finally:
            gc.freeze()
            gc.enable()

    def _wire(self) -> Methods:
        # 100 ms that the first answer must not wait for.
        from rpc_agent.server.dispatch import to_rpc_error  # noqa: PLC0415
        from rpc_agent.server.engine import Engine  # noqa: PLC0415

        try:
            self._engine = Engine(
                self._options, self._peer, lambda: self._handshake.capabilities, self._spawn, self._environment
            )
        except RpcAgentError as error:
            # As when no folder of the configuration can be named.
            raise to_rpc_error(error) from error
        return {**self._engine.handlers(), "shutdown": self._shutdown, "exit": self._exit, "initialized": _accept}

    def _spawn(self, work: Callable[[], Awaitable[None]]) -> None:
        self._tasks.create_task(_run(work))

    # Ways to end

    async def _shutdown(self, call: Call, params: Any) -> None:
        """Everything stops and is on the disk; then only `exit` is expected."""
        self._shut_down = True
        if self._engine is not None:
            await self._engine.stop()

    async def _exit(self, call: Call, params: Any) -> None:
        self._exit_code = 0 if self._shut_down else 1
        self._stop()

    def _on_input_end(self) -> None:
        if self._handshake.capabilities.abort_on_eof:
            # Everything, also what is still loading or in line: nobody may be left to wait for its answer.
            self._stop()
        elif self._engine is not None:
            self._engine.input_ended()

    async def _before_end(self) -> None:
        """What no request waited for is stopped while the client can still hear how it ended."""
        self._end_soon()
        if self._engine is not None:
            await self._engine.stop()

    def _on_hang_up(self) -> None:
        self._end_soon()

    def take_signals(self, loop: asyncio.AbstractEventLoop) -> None:
        """SIGTERM, SIGINT and SIGHUP stop everything and end; a second one ends at once."""
        for number in ENDING_SIGNALS:
            if number.name == "SIGHUP" and signal.getsignal(number) is signal.SIG_IGN:
                continue  # nohup: the process is meant to outlive its terminal.
            with contextlib.suppress(NotImplementedError):
                # Windows has no signal handlers in its event loop; there Ctrl-C ends asyncio.run by itself.
                loop.add_signal_handler(number, self._on_signal)
        release_ending_signals()

    def _on_signal(self) -> None:
        if self._stopping is not None:
            self._on_overdue(self._exit_code)
        self._stop()

    def _watch_parent(self, process_id: int) -> None:
        """End when the client's process is gone: a pipe that somebody else holds open would hide it.

        A later one stands in place of the one before; 0 or less names none.
        """
        from rpc_agent.platform.parent_death import watch_process  # noqa: PLC0415 - only for clients that ask for it

        if self._client_watch is not None:
            self._client_watch.close()
            self._client_watch = None
        loop = self._loop
        if loop is not None and process_id > 0:
            self._client_watch = watch_process(process_id, lambda: _call_soon(loop, self._stop))

    def _stop(self) -> None:
        """Stop everything, answer what is open, and end: once, however often it is asked for."""
        if self._stopping is None:
            self._end_soon()
            self._stopping = self._tasks.create_task(self._stop_engine())

    async def _stop_engine(self) -> None:
        if self._engine is not None:
            await self._engine.stop()
        self._peer.close()

    def _end_soon(self) -> None:
        if self._watchdog is None:
            self._watchdog = threading.Timer(_STOP_SECONDS, self._on_overdue, [self._exit_code])
            self._watchdog.daemon = True
            self._watchdog.start()


async def _run(work: Callable[[], Awaitable[None]]) -> None:
    await work()


async def _accept(call: Call, params: Any) -> None:
    """`initialized`: LSP clients send it; there is nothing to do."""


def _call_soon(loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
    with contextlib.suppress(RuntimeError):  # The loop is closed: the process is ending anyway.
        loop.call_soon_threadsafe(callback)


def _die(code: int) -> None:
    """End now. Children are killed first: nobody else knows of them."""
    from rpc_agent.platform.process_tree import kill_live_trees  # noqa: PLC0415 - the first phase needs no anyio

    kill_live_trees()
    os._exit(code)
