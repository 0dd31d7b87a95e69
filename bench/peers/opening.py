"""Opening sessions of any length: the time, and the memory after it."""

import time
from collections.abc import Callable, Sequence

from bench.peers.comparing import Aim, Comparison, Figure, Work
from bench.peers.conversation import talking
from bench.peers.files import SIZES, Files
from bench.peers.peer import Agent

_RUNS, _RUNS_OF_LARGEST = 5, 3
_HARDLY = Aim("at most", 0.03)


def opening(comparison: Comparison, files: Files) -> None:
    for size in SIZES:
        largest = size == max(SIZES)
        aim = _HARDLY if largest else None
        figures = (
            Figure(f"opening {size:,} entries", "ms", aim),
            Figure(f"memory with {size:,} entries open", "MiB", aim),
        )
        comparison.with_agents(Work(figures, _opened(files, size), _RUNS_OF_LARGEST if largest else _RUNS))


def _opened(files: Files, size: int) -> Callable[[Agent], Sequence[float]]:
    def measure(agent: Agent) -> Sequence[float]:
        with files.chain(size, compacted=True) as path, talking(agent) as conversation:
            conversation.ask(agent.state())
            started = time.perf_counter()
            conversation.ask(agent.open(path))
            conversation.ask(agent.state())
            return (time.perf_counter() - started) * 1e3, conversation.resident_mib()

    return measure
