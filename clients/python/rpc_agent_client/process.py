"""The server's process: starts it, carries bytes both ways without blocking the event loop, and ends it for certain.

Plain threads over a plain Popen, because asyncio's own subprocesses need one kind of loop on Windows, a child watcher
elsewhere, and wait for ever when a grandchild holds a pipe open. Knows nothing of messages.
"""

import asyncio
import contextlib
import errno
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from rpc_agent_client.errors import CannotStart

_READ_BYTES = 256 * 1024
# Chunks that may wait for the event loop before the reading thread pauses: 2 MiB of memory at most.
_CHUNKS_AHEAD = 8
# Bytes that may wait for the server to read them before senders are asked to wait.
_HIGH_WATER_BYTES = 1024 * 1024
# A traceback and a few log lines; enough to tell why a server died.
_STDERR_TAIL_BYTES = 8 * 1024
# A line that never ends is given in pieces.
_STDERR_LINE_BYTES = 64 * 1024
# After the exit, what is still in the pipes is read; a grandchild that keeps them open is not waited for.
_PIPE_DRAIN_SECONDS = 1.0

OnStderr = Callable[[str], None]


class ServerProcess:
    """A running server. Every callback is called on the event loop; `on_exit` once, after the last `on_bytes`."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: str | os.PathLike[str] | None,
        env: Mapping[str, str] | None,
        on_bytes: Callable[[bytes], None],
        on_exit: Callable[[int], None],
        on_stderr: OnStderr | None,
        mute_seconds: float,
    ) -> None:
        """`mute_seconds`: how long it may live on without its stdout. Raises CannotStart, with the command."""
        self._mute_seconds = mute_seconds
        self._loop = asyncio.get_running_loop()
        self._on_bytes, self._on_exit, self._on_stderr = on_bytes, on_exit, on_stderr
        self._popen = _start(command, cwd, env)
        self._ahead = threading.Semaphore(_CHUNKS_AHEAD)
        self._outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._queued_bytes = 0
        self._writable = asyncio.Event()
        self._writable.set()
        self._exited = asyncio.Event()
        self._tail: deque[bytes] = deque()
        assert self._popen.stdin and self._popen.stdout and self._popen.stderr
        readers = [
            self._thread(self._read_stdout, self._popen.stdout),
            self._thread(self._read_stderr, self._popen.stderr),
        ]
        self._thread(self._write, self._popen.stdin)
        self._thread(self._wait, readers)

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def stderr_tail(self) -> str:
        return b"".join(self._tail)[-_STDERR_TAIL_BYTES:].decode("utf-8", "replace").strip()

    def send(self, data: bytes) -> None:
        """Queue bytes for the server. Never blocks; `drain` waits until few enough are queued."""
        self._queued_bytes += len(data)
        if self._queued_bytes > _HIGH_WATER_BYTES:
            self._writable.clear()
        self._outgoing.put(data)

    async def drain(self) -> None:
        await self._writable.wait()

    def close_stdin(self) -> None:
        """Let the server see the end of its input, after what is queued."""
        self._outgoing.put(None)

    async def wait(self, seconds: float) -> bool:
        """Whether the process has ended within the time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._exited.wait()
        return self._exited.is_set()

    def terminate(self) -> None:
        """Ask the process to end. Windows has no such request for a process without a console: end of stdin was it."""
        if sys.platform != "win32" and self._popen.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._popen.pid, signal.SIGTERM)

    def kill(self) -> None:
        """End the process and whatever still runs in its group, at once."""
        if self._popen.returncode is None:
            _kill_tree(self._popen)

    def _thread(self, target: Callable[..., None], *args: object) -> threading.Thread:
        # Daemons: a pipe that a grandchild holds open must not keep the interpreter alive.
        thread = threading.Thread(target=target, args=args, daemon=True, name=f"rpc-agent-client {target.__name__}")
        thread.start()
        return thread

    def _call_in_loop(self, callback: Callable[..., None], *args: object) -> None:
        # The loop may be closed already when a process outlives its client; then nobody listens.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(callback, *args)

    # Each method below runs in a thread of its own.

    def _read_stdout(self, pipe: IO[bytes]) -> None:
        with pipe:
            while chunk := os.read(pipe.fileno(), _READ_BYTES):
                self._ahead.acquire()
                self._call_in_loop(self._deliver, chunk)
        self._end_a_mute_server()

    def _end_a_mute_server(self) -> None:
        # Without its stdout it can answer nobody; everybody who waits hears of it by the exit.
        for end in (self.terminate, self.kill):
            try:
                self._popen.wait(self._mute_seconds)
                return
            except subprocess.TimeoutExpired:
                end()

    def _read_stderr(self, pipe: IO[bytes]) -> None:
        kept = 0
        with pipe:
            while line := pipe.readline(_STDERR_LINE_BYTES):
                self._tail.append(line)
                kept += len(line)
                while kept - len(self._tail[0]) > _STDERR_TAIL_BYTES:
                    kept -= len(self._tail.popleft())
                if self._on_stderr is not None:
                    self._call_in_loop(self._on_stderr, line.decode("utf-8", "replace").rstrip("\r\n"))

    def _write(self, pipe: IO[bytes]) -> None:
        broken = False
        while (data := self._outgoing.get()) is not None:
            try:
                if not broken:
                    _write_all(pipe.fileno(), data)
            except OSError:
                # The server is going; its exit tells everybody who waits, better than this error could.
                broken = True
            self._call_in_loop(self._written, len(data))
        with contextlib.suppress(OSError):
            pipe.close()

    def _wait(self, readers: Sequence[threading.Thread]) -> None:
        code = self._popen.wait()
        end = time.monotonic() + _PIPE_DRAIN_SECONDS
        for reader in readers:
            reader.join(max(0.0, end - time.monotonic()))
        self._outgoing.put(None)
        self._call_in_loop(self._ended, code)

    # And these on the event loop.

    def _deliver(self, chunk: bytes) -> None:
        self._ahead.release()
        self._on_bytes(chunk)

    def _written(self, size: int) -> None:
        self._queued_bytes -= size
        if self._queued_bytes <= _HIGH_WATER_BYTES:
            self._writable.set()

    def _ended(self, code: int) -> None:
        self._exited.set()
        self._writable.set()
        self._on_exit(code)


def _start(
    command: Sequence[str], cwd: str | os.PathLike[str] | None, env: Mapping[str, str] | None
) -> "subprocess.Popen[bytes]":
    if isinstance(command, str):
        # A string is a sequence of strings too, so that no type checker says it.
        raise CannotStart(f"could not start {command!r}: give the command as a list of words, {command.split()!r}")
    if not command:
        raise CannotStart("no command to start")
    try:
        return subprocess.Popen(
            _with_its_place(command, env),
            cwd=cwd,
            env=None if env is None else dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # A group of its own: Ctrl-C in the host's terminal is for the host, which decides what to tell the server.
            start_new_session=sys.platform != "win32",
            creationflags=_windows_flags(),
        )
    except (OSError, ValueError) as error:
        where = f" in {cwd}" if cwd is not None and not Path(cwd).is_dir() else ""
        raise CannotStart(
            f"could not start {' '.join(command)!r}{where}: {error}. Is it installed and on PATH?"
        ) from error


def _with_its_place(command: Sequence[str], env: Mapping[str, str] | None) -> list[str]:
    """The command with the absolute path of its program; one that is given with a folder is taken as it is.

    Windows would look into the folder we are in first, and a project may hold an `rpc-agent.exe` of its own.
    Raises FileNotFoundError.
    """
    name, *rest = command
    if os.path.dirname(name):
        return [name, *rest]
    found = _find(name, (os.environ if env is None else env).get("PATH") or os.defpath)
    if found is None and name == "rpc-agent":
        # Installed beside this Python, in an environment that is not active.
        found = _find(name, os.path.dirname(sys.executable))
    if found is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    return [found, *rest]


def _find(name: str, path: str) -> str | None:
    """The program in the absolute folders of `path`, in their order."""
    endings = [""]
    if sys.platform == "win32" and not os.path.splitext(name)[1]:
        endings = os.environ.get("PATHEXT", ".COM;.EXE;.BAT;.CMD").split(";")
    for folder in filter(os.path.isabs, path.split(os.pathsep)):
        for ending in endings:
            place = os.path.join(folder, name + ending)
            if os.path.isfile(place) and os.access(place, os.X_OK):
                return place
    return None


def _windows_flags() -> int:
    if sys.platform == "win32":
        # A host without a console must not see one flash up.
        return subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
    return 0


def _kill_tree(popen: "subprocess.Popen[bytes]") -> None:
    if sys.platform == "win32":
        taskkill = os.path.join(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32", "taskkill.exe")
        with contextlib.suppress(OSError):
            subprocess.run([taskkill, "/PID", str(popen.pid), "/T", "/F"], capture_output=True, check=False)
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(popen.pid, signal.SIGKILL)
    popen.kill()


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
