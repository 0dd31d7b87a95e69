"""Start and round trips, as ratios beside `python -c pass` of the same minute."""

import json
import statistics
import subprocess
import sys
import time

from bench.report import row
from bench.server import Server, serving

_RUNS = 11
_ROUND_TRIPS = 3_000
_PIPELINED = 20_000


def start_up() -> None:
    bare, first, memory = [], [], []
    _bare_python()
    _first_answer()
    for _ in range(_RUNS):
        bare.append(_bare_python())
        seconds, mib = _first_answer()
        first.append(seconds)
        memory.append(mib)
    python, answer = statistics.median(bare), statistics.median(first)
    row("python -c pass", f"{python * 1e3:.1f} ms", "1.0")
    row("spawn to first answer", f"{answer * 1e3:.1f} ms", f"{answer / python:.1f} (aim: 7)")
    row("memory then", f"{statistics.median(memory):.1f} MiB", "(aim: 40 MiB)")


def _bare_python() -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return time.perf_counter() - started


def _first_answer() -> tuple[float, float]:
    """Seconds from spawn to the first answer, and MiB then."""
    with serving() as server:
        server.ask("initialize", {"protocolVersion": 1, "clientInfo": {"name": "bench", "version": "1"}})
        return time.perf_counter() - server.started, server.resident_mib()


def round_trips() -> None:
    with serving() as server:
        server.ask("get_state")
        row("memory after the second phase", f"{server.resident_mib():.1f} MiB", "")
        for method in ("ping", "get_state"):
            times = []
            for _ in range(_ROUND_TRIPS):
                started = time.perf_counter()
                server.ask(method)
                times.append(time.perf_counter() - started)
            row(f"round trip p50: {method}", f"{statistics.median(times) * 1e6:.0f} us", "(aim: 60 us)")
        row("pipelined messages a second", f"{_pipelined(server):,.0f}", "")


def _pipelined(server: Server) -> float:
    """Requests a second when they are written in one go, in slices below the limit on requests in flight."""
    started, slice_size = time.perf_counter(), 500
    for _ in range(_PIPELINED // slice_size):
        for _ in range(slice_size):
            server.send("ping")
        server.stdin.flush()
        for _ in range(slice_size):
            json.loads(server.stdout.readline())
    return _PIPELINED / (time.perf_counter() - started)
