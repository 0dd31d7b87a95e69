"""From the start of a process to its first answer, to its first answer about a session, and the memory it has then."""

import time
from collections.abc import Sequence

from bench.peers.comparing import Aim, Comparison, Figure, Work
from bench.peers.conversation import talking
from bench.peers.files import Files
from bench.peers.peer import Agent, Peer

_RUNS = 9


def starting(comparison: Comparison, files: Files) -> None:
    first = (
        Figure("start to first answer", "ms", Aim("at most", 0.3)),
        Figure("memory then", "MiB", Aim("at most", 0.4)),
    )
    session = (
        Figure("start to a session's state", "ms"),
        Figure("memory with a session", "MiB"),
    )
    comparison.with_all(Work(first, first_answer, _RUNS))
    comparison.with_agents(Work(session, _session_state, _RUNS))


def first_answer(peer: Peer) -> Sequence[float]:
    with talking(peer) as conversation:
        conversation.ask(peer.hello())
        return (time.perf_counter() - conversation.started) * 1e3, conversation.resident_mib()


def _session_state(agent: Agent) -> Sequence[float]:
    with talking(agent) as conversation:
        conversation.ask(agent.state())
        return (time.perf_counter() - conversation.started) * 1e3, conversation.resident_mib()
