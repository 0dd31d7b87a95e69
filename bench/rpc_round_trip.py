"""Measures the bare RPC layer: spawn to first answer, round trip, messages a second, next to an empty Python.

The server is the small test program; so what is measured is framing, dispatch and stdio, and no agent.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

_STARTS = 15
_ROUND_TRIPS = 3000
_PIPELINED = 20_000
_SERVER = [sys.executable, "-m", "tests.support.rpc"]


def main() -> None:
    empty = _median_ms(_run_empty)
    first = _median_ms(_start_and_stop)
    with subprocess.Popen(_SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        _ask(server, "initialize")
        _ask(server, "echo")
        figures = {
            "python -c pass, ms": empty,
            "spawn to first answer, ms": first,
            "times an empty python": first / empty,
            "round trip p50 of an early method, us": _round_trip_us(server, "ping"),
            "round trip p50 of a dispatched method, us": _round_trip_us(server, "echo"),
            "pipelined messages a second": _pipelined_rate(server),
        }
        assert server.stdin is not None
        server.stdin.close()
    for name, value in figures.items():
        sys.stdout.write(f"{name:45} {value:12.1f}\n")


def _run_empty() -> None:
    subprocess.run([sys.executable, "-c", "pass"], check=True)


def _start_and_stop() -> Callable[[], object]:
    server = subprocess.Popen(_SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    _ask(server, "initialize")
    return server.communicate


def _median_ms(act: Callable[[], Callable[[], object] | None]) -> float:
    """Only `act` is timed; what it returns is run afterwards."""
    times = []
    for _ in range(_STARTS):
        begun = time.perf_counter()
        clean_up = act()
        times.append(time.perf_counter() - begun)
        if clean_up is not None:
            clean_up()
    return statistics.median(times) * 1e3


def _ask(server: "subprocess.Popen[bytes]", method: str) -> bytes:
    assert server.stdin is not None and server.stdout is not None
    server.stdin.write(_message(method))
    server.stdin.flush()
    return server.stdout.readline()


def _message(method: str) -> bytes:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"text": "hello"}}
    return json.dumps(message).encode() + b"\n"


def _round_trip_us(server: "subprocess.Popen[bytes]", method: str) -> float:
    times = []
    for _ in range(_ROUND_TRIPS):
        begun = time.perf_counter()
        _ask(server, method)
        times.append(time.perf_counter() - begun)
    return statistics.median(times) * 1e6


def _pipelined_rate(server: "subprocess.Popen[bytes]") -> float:
    """In slices, because both pipes would be full otherwise."""
    assert server.stdin is not None and server.stdout is not None
    slice_size = 100
    begun = time.perf_counter()
    for _ in range(_PIPELINED // slice_size):
        server.stdin.write(_message("echo") * slice_size)
        server.stdin.flush()
        for _ in range(slice_size):
            server.stdout.readline()
    return _PIPELINED / (time.perf_counter() - begun)


if __name__ == "__main__":
    main()
