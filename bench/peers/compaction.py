"""A peer's own part of a compaction: the service answers at once, always with the same summary."""

import time
from collections.abc import Callable, Sequence

from bench.peers.comparing import Aim, Comparison, Figure, Work
from bench.peers.conversation import talking
from bench.peers.files import Files
from bench.peers.peer import Agent, PeerFailed
from bench.service import loopback

_MESSAGES = (1_000, 10_000)
_RUNS = 5
_HALF = Aim("at most", 0.5)


def compaction(comparison: Comparison, files: Files) -> None:
    with loopback() as url:
        for messages in _MESSAGES:
            for when, warm in (("after a prompt", True), ("as the first work of a process", False)):
                figures = (Figure(f"compaction of {messages:,} messages, {when}", "ms", _HALF),)
                measure = _compacted(files, f"{url}/notes/v1", messages, warm=warm)
                comparison.with_agents(Work(figures, measure, _RUNS))


def _compacted(files: Files, url: str, messages: int, *, warm: bool) -> Callable[[Agent], Sequence[float]]:
    def measure(agent: Agent) -> Sequence[float]:
        with files.chain(messages) as path, talking(agent, url) as conversation:
            conversation.ask(agent.open(path))
            if warm:
                conversation.prompt(agent.prompt("go on"))
            started = time.perf_counter()
            result = conversation.ask(agent.compact())
            seconds = time.perf_counter() - started
        if not result["summary"]:
            raise PeerFailed("a compaction without a summary")
        return (seconds * 1e3,)

    return measure
