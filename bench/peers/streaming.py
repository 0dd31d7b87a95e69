"""Deltas from the service to the client's pipe: how many a second, for how much processor time, and how late."""

import json
import statistics
import time
from collections.abc import Callable, Sequence

from bench.peers.comparing import Aim, Comparison, Figure, Work
from bench.peers.conversation import talking
from bench.peers.files import Files
from bench.peers.peer import DELTA, SETTLED, Agent
from bench.streaming import DELTAS, PACE_SECONDS, PACED, service

_FLOODS, _PACED_RUNS = 5, 3


def streaming(comparison: Comparison, files: Files) -> None:
    flood = (
        Figure(f"deltas of {DELTAS:,} that come at once", "a second", Aim("at least", 1.3)),
        Figure("processor time for them", "s", Aim("at most", 1)),
        Figure("records that brought them", "records"),
    )
    paced = (
        Figure("delay of a delta at 200 a second, p50", "ms"),
        Figure("the same, p99", "ms"),
    )
    with service(DELTAS, 0) as models:
        comparison.with_agents(Work(flood, _flood(models["bench"]["baseUrl"]), _FLOODS))
    with service(PACED, PACE_SECONDS) as models:
        comparison.with_agents(Work(paced, _delays(models["bench"]["baseUrl"]), _PACED_RUNS))


def _flood(url: str) -> Callable[[Agent], Sequence[float]]:
    def measure(agent: Agent) -> Sequence[float]:
        with talking(agent, url) as conversation:
            conversation.ask(agent.state())
            used, started = conversation.cpu_seconds(), time.perf_counter()
            records = conversation.flood(agent.prompt("go"))
            seconds = time.perf_counter() - started
            return records / seconds, conversation.cpu_seconds() - used, records

    return measure


def _delays(url: str) -> Callable[[Agent], Sequence[float]]:
    def measure(agent: Agent) -> Sequence[float]:
        with talking(agent, url) as conversation:
            conversation.ask(agent.state())
            conversation.write(conversation.request(agent.prompt("go")))
            delays: list[float] = []
            while SETTLED not in (line := conversation.line())[:200]:
                if DELTA in line:
                    delays.append(time.time() - _sent(line))
            delays.sort()
            return statistics.median(delays) * 1e3, delays[int(len(delays) * 0.99)] * 1e3

    return measure


def _sent(line: bytes) -> float:
    """When the service sent the text of this record; of its first delta, when several were merged."""
    record = json.loads(line)
    text: str = record.get("params", record)["assistantMessageEvent"]["delta"]
    return float(text.split()[0])
