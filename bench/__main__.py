"""`make bench`: how fast and how large the server is, as ratios beside `python -c pass` of the same minute.

Machines drift by a quarter from minute to minute, so only ratios are worth comparing; the absolute figures are for
orientation. Nothing here fails: the numbers are for people.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

RUNS = 11
ROUND_TRIPS = 3_000
PIPELINED = 20_000
PROGRESS = sys.stderr


class Server:
    """`rpc-agent serve` on raw pipes, driven without any client library, so that only the server is measured."""

    def __init__(self, home: Path) -> None:
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rpc_agent", "serve"],
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
        status = Path(f"/proc/{self.process.pid}/status")
        if not status.exists():
            return 0.0
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024


@contextmanager
def serving() -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as home:
        server = Server(Path(home))
        try:
            yield server
        finally:
            server.stdin.close()
            server.process.wait(timeout=20)
            server.stdout.close()


def bare_python() -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return time.perf_counter() - started


def first_answer() -> tuple[float, float]:
    """Seconds from spawn to the first answer, and MiB then."""
    with serving() as server:
        server.ask("initialize", {"protocolVersion": 1, "clientInfo": {"name": "bench", "version": "1"}})
        return time.perf_counter() - server.started, server.resident_mib()


def start_up() -> None:
    bare, first, memory = [], [], []
    bare_python()
    first_answer()
    for _ in range(RUNS):
        bare.append(bare_python())
        seconds, mib = first_answer()
        first.append(seconds)
        memory.append(mib)
    python, answer = statistics.median(bare), statistics.median(first)
    row("python -c pass", f"{python * 1e3:.1f} ms", "1.0")
    row("spawn to first answer", f"{answer * 1e3:.1f} ms", f"{answer / python:.1f} (aim: 7)")
    row("memory then", f"{statistics.median(memory):.1f} MiB", "(aim: 40 MiB)")


def round_trips() -> None:
    with serving() as server:
        server.ask("get_state")
        row("memory after the second phase", f"{server.resident_mib():.1f} MiB", "")
        for method in ("ping", "get_state"):
            times = []
            for _ in range(ROUND_TRIPS):
                started = time.perf_counter()
                server.ask(method)
                times.append(time.perf_counter() - started)
            row(f"round trip p50: {method}", f"{statistics.median(times) * 1e6:.0f} us", "(aim: 60 us)")
        row("pipelined messages a second", f"{pipelined(server):,.0f}", "")


def pipelined(server: Server) -> float:
    """Requests a second when they are written in one go, in slices below the limit on requests in flight."""
    started, slice_size = time.perf_counter(), 500
    for _ in range(PIPELINED // slice_size):
        last = [server.send("ping") for _ in range(slice_size)][-1]
        server.stdin.flush()
        answered = 0
        while answered < slice_size:
            json.loads(server.stdout.readline())
            answered += 1
        assert last
    return PIPELINED / (time.perf_counter() - started)


def row(name: str, figure: str, ratio: str) -> None:
    print(f"{name:<40} {figure:>14}  {ratio}", flush=True)


def main() -> None:
    for name, part in (("start-up", start_up), ("round trips", round_trips)):
        print(f"measuring {name} ...", file=PROGRESS, flush=True)
        part()


if __name__ == "__main__":
    main()
