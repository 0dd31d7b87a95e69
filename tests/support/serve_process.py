"""A real `rpc-agent serve` on pipes, in both framings, with every wait bounded. End it with `finish` or by leaving."""

import contextlib
import itertools
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any, Literal

from tests.support.agent_server import PATIENCE, Home

Framing = Literal["lines", "headers"]


class ServeProcess:
    """Messages go in by `send` and come out by `receive`, in order."""

    def __init__(
        self, home: Home, *options: str, framing: Framing = "lines", patience: float = PATIENCE, **environment: str
    ) -> None:
        self.framing = framing
        self._patience = patience
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rpc_agent", "serve", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=home.project,
            env={**os.environ, **home.environment, "PATH": os.environ["PATH"], **environment},
        )
        self._ids = itertools.count(1_000_000)
        self._messages: queue.Queue[Any] = queue.Queue()
        self._errors: list[bytes] = []
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def send(self, message: Any) -> None:
        self.send_bytes(json.dumps(message).encode())

    def send_bytes(self, body: bytes) -> None:
        assert self.process.stdin is not None
        framed = b"Content-Length: %d\r\n\r\n%b" % (len(body), body) if self.framing == "headers" else body + b"\n"
        self.process.stdin.write(framed)
        self.process.stdin.flush()

    def request(self, id: int, method: str, params: Any = None) -> None:
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}})

    def receive(self) -> Any:
        """The next message; None when the output has ended."""
        return self._messages.get(timeout=self._patience)

    def until(self, **wanted: Any) -> Any:
        """The next message that has these fields, such as id=1 or method="agent_settled"."""
        while (message := self.receive()) is not None:
            if all(message.get(name) == value for name, value in wanted.items()):
                return message
        raise AssertionError(f"the server ended before {wanted}: {self.stderr}")

    def answer(self, id: int) -> Any:
        """The result of a request of ours."""
        message = self.until(id=id)
        assert "result" in message, message
        return message["result"]

    def ask(self, method: str, **params: Any) -> Any:
        """The result of a method. Its id is none that tests write themselves."""
        answer = self.heard(method, **params)[-1]
        assert "result" in answer, answer
        return answer["result"]

    def heard(self, method: str, **params: Any) -> list[Any]:
        """All that comes up to the answer of a method, which is the last."""
        id = next(self._ids)
        self.request(id, method, params)
        messages: list[Any] = []
        while not messages or messages[-1].get("id") != id:
            messages.append(self.receive())
            assert messages[-1] is not None, f"the server ended before it answered {method}: {self.stderr}"
        assert "method" not in messages[-1], messages[-1]
        return messages

    def close_stdin(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def wait(self, seconds: float = PATIENCE) -> int:
        return self.process.wait(seconds)

    def finish(self) -> int:
        """End the input, and wait for the process to end by itself."""
        self.close_stdin()
        return self.wait()

    @property
    def stderr(self) -> str:
        return b"".join(self._errors).decode("utf-8", "replace")

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if self.framing == "headers":
                length = int(line.removeprefix(b"Content-Length: "))
                assert self.process.stdout.readline() == b"\r\n"
                line = self.process.stdout.read(length)
            self._messages.put(json.loads(line))
        self._messages.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._errors.append(line)


@contextlib.contextmanager
def serve_process(
    home: Home, *options: str, framing: Framing = "lines", patience: float = PATIENCE, **environment: str
) -> Iterator[ServeProcess]:
    process = ServeProcess(home, *options, framing=framing, patience=patience, **environment)
    try:
        yield process
    finally:
        with contextlib.suppress(OSError):
            process.close_stdin()
        if process.process.poll() is None:
            process.process.kill()
        process.wait()
        for thread in process._threads:
            thread.join(PATIENCE)
        for stream in (process.process.stdout, process.process.stderr):
            if stream is not None:
                stream.close()


@contextlib.contextmanager
def unread_process(home: Home) -> "Iterator[subprocess.Popen[bytes]]":
    """A server whose output nobody reads unless the test does."""
    process = subprocess.Popen(
        [sys.executable, "-m", "rpc_agent", "serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=home.project,
        env={**os.environ, **home.environment, "PATH": os.environ["PATH"]},
    )
    with process:
        try:
            yield process
        finally:
            process.kill()
