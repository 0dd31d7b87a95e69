"""How many deltas a second get from a service on loopback to the client's pipe, and what that costs."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from bench.processes import cpu_seconds
from bench.report import row
from bench.server import Server, serving

DELTAS = 50_000
PACED = 600
PACE_SECONDS = 0.005
_DELTA = b'"text_delta"'

_SERVICE = """
import json, socket, sys, time
deltas, pace = int(sys.argv[1]), float(sys.argv[2])
def event(delta, finish=None):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {"id": "c", "object": "chat.completion.chunk", "choices": [choice]}
    return b"data: " + json.dumps(chunk).encode() + b"\\n\\n"
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    connection, _ = listener.accept()
    data = b""
    while b"\\r\\n\\r\\n" not in data:
        data += connection.recv(65536)
    head, _, body = data.partition(b"\\r\\n\\r\\n")
    length = next(int(l.split(b":")[1]) for l in head.split(b"\\r\\n") if l.lower().startswith(b"content-length"))
    while len(body) < length:
        body += connection.recv(65536)
    connection.sendall(b"HTTP/1.1 200 OK\\r\\ncontent-type: text/event-stream\\r\\nconnection: close\\r\\n\\r\\n")
    if pace:
        for number in range(deltas):
            connection.sendall(event({"content": f"{time.time():.6f} "}))
            time.sleep(pace)
    else:
        block = b"".join(event({"content": "word "}) for _ in range(100))
        for _ in range(deltas // 100):
            connection.sendall(block)
    connection.sendall(event({}, "stop") + b"data: [DONE]\\n\\n")
    connection.close()
"""


@contextmanager
def service(deltas: int, pace: float) -> Iterator[dict[str, Any]]:
    """The providers of a models.json, for a service in a process of its own, so that it costs the server nothing."""
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVICE, str(deltas), str(pace)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    address = f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
    model = {"id": "m", "contextWindow": 1_000_000, "maxTokens": 100_000}
    provider = {"baseUrl": address, "apiKey": "none", "api": "openai-completions", "models": [model]}
    try:
        yield {"bench": provider}
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def run() -> None:
    with service(DELTAS, 0) as models, serving("--model", "bench/m", models=models) as server:
        server.ask("get_state")
        before = cpu_seconds(server.process.pid)
        seconds, count = flood(server)
        used = cpu_seconds(server.process.pid) - before
        row("deltas a second, as fast as they come", f"{count / seconds:,.0f}", "(aim: 60,000)")
        row("notifications for 50,000 deltas", f"{count:,}", "(fewer: the reader was slower)")
        row("CPU seconds for them", f"{used:.2f}")
    with service(PACED, PACE_SECONDS) as models, serving("--model", "bench/m", models=models) as server:
        server.ask("get_state")
        bare = sorted(bare_lateness(models["bench"]["baseUrl"]))
        ours = sorted(lateness(server))
        _added("added latency p50 at 200 deltas a second", ours, bare, 0.5)
        _added("added latency p99", ours, bare, 0.99, "(aim: 1 ms)")


def _added(name: str, ours: list[float], bare: list[float], part: float, aim: str = "") -> None:
    """What our process adds to what a program has that reads the service itself."""
    mine, theirs = (delays[int(len(delays) * part)] * 1e3 for delays in (ours, bare))
    row(name, f"{mine - theirs:.2f} ms", f"{mine:.2f} beside {theirs:.2f} of a bare httpx reader {aim}")


def flood(server: Server) -> tuple[float, int]:
    """Seconds from the prompt to the last delta, and how many came. Reads without parsing: the server is measured."""
    server.send("prompt", {"message": "go"})
    server.stdin.flush()
    started, count, tail = time.perf_counter(), 0, b""
    while b'"agent_settled"' not in tail:
        chunk = os.read(server.stdout.fileno(), 1 << 20)
        # One byte less than the word: what was counted whole is not counted again.
        count += (tail[-len(_DELTA) + 1 :] + chunk).count(_DELTA)
        tail = (tail + chunk)[-4096:]
    return time.perf_counter() - started, count


def lateness(server: Server) -> list[float]:
    """For each delta how long ago the service sent it."""
    server.send("prompt", {"message": "go"})
    server.stdin.flush()
    delays: list[float] = []
    for line in server.stdout:
        if _DELTA in line:
            now = time.time()
            delays.append(now - float(json.loads(line)["params"]["assistantMessageEvent"]["delta"]))
        elif b'"agent_settled"' in line:
            break
    return delays


def bare_lateness(address: str) -> list[float]:
    """The same without us: one httpx client in this process, reading the same stream in the same minute."""
    delays: list[float] = []
    with httpx.stream("POST", f"{address}/chat/completions", json={}, timeout=30) as response:
        rest = b""
        for chunk in response.iter_raw():
            now = time.time()
            *events, rest = (rest + chunk).split(b"\n\n")
            sent = [json.loads(event.removeprefix(b"data: ")) for event in events if b'"content"' in event]
            delays += [now - float(event["choices"][0]["delta"]["content"]) for event in sent]
    return delays


if __name__ == "__main__":
    run()
