"""`rpc-agent serve` on raw pipes, driven without any client library, so that only the server is measured."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from bench import processes

_END_SECONDS = 20


class Server:
    """One process, with its folders below `home`."""

    def __init__(self, home: Path, *options: str) -> None:
        self.home = home
        (home / "config").mkdir(exist_ok=True)
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rpc_agent", "serve", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=home,
            env={
                **os.environ,
                "RPC_AGENT_CONFIG_DIR": str(home / "config"),
                "RPC_AGENT_SESSION_DIR": str(home / "sessions"),
            },
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self.stdin: IO[bytes] = self.process.stdin
        self.stdout: IO[bytes] = self.process.stdout
        self._next_id = 0

    def send(self, method: str, params: Any = None) -> int:
        self._next_id += 1
        message = {"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params or {}}
        self.stdin.write(json.dumps(message).encode() + b"\n")
        return self._next_id

    def ask(self, method: str, params: Any = None) -> Any:
        wanted = self.send(method, params)
        self.stdin.flush()
        for line in self.stdout:
            answer = json.loads(line)
            if answer.get("id") == wanted:
                return answer["result"]
        raise RuntimeError("the server ended early")

    def resident_mib(self) -> float:
        """Resident memory now; 0 where the system does not tell."""
        return processes.resident_mib(self.process.pid)


@contextmanager
def serving(*options: str, models: Mapping[str, Any] | None = None) -> Iterator[Server]:
    """A server in a home of its own; `models` are the providers of its models.json."""
    with tempfile.TemporaryDirectory() as home:
        if models is not None:
            config = Path(home) / "config"
            config.mkdir()
            (config / "models.json").write_text(json.dumps({"providers": models}), encoding="utf-8")
        server = Server(Path(home), *options)
        try:
            yield server
        finally:
            server.stdin.close()
            try:
                server.process.wait(timeout=_END_SECONDS)
            finally:
                server.process.kill()
                server.stdout.close()
