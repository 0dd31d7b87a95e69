"""Small requests, one at a time and many in one write."""

import statistics
import time
from collections.abc import Sequence

from bench.peers.comparing import Aim, Comparison, Figure, Work
from bench.peers.conversation import Conversation, talking
from bench.peers.files import Files
from bench.peers.peer import Agent, Peer, Words

_RUNS = 5
_ROUND_TRIPS = 2_000
_PIPELINED = 10_000
_SLICE = 250
"""Requests in one write: less than the 64 KiB of a pipe, so that neither side can be stuck."""
_NO_SLOWER = Aim("at most", 1)


def round_trips(comparison: Comparison, files: Files) -> None:
    smallest = (
        Figure("round trip of the smallest request, p50", "us", _NO_SLOWER),
        Figure("the same, many in one write", "a second"),
    )
    state = (
        Figure("round trip of get_state, p50", "us", _NO_SLOWER),
        Figure("get_state, many in one write", "a second"),
    )
    comparison.with_all(Work(smallest, _smallest, _RUNS))
    comparison.with_agents(Work(state, _state, _RUNS))


def _smallest(peer: Peer) -> Sequence[float]:
    with talking(peer) as conversation:
        conversation.ask(peer.hello())
        if isinstance(peer, Agent):
            # Some answer before all of them is there; what is measured is a program that is past its start.
            conversation.ask(peer.state())
        return _measured(conversation, peer.smallest())


def _state(agent: Agent) -> Sequence[float]:
    with talking(agent) as conversation:
        conversation.ask(agent.state())
        return _measured(conversation, agent.state())


def _measured(conversation: Conversation[Peer] | Conversation[Agent], words: Words) -> Sequence[float]:
    times = []
    for _ in range(_ROUND_TRIPS):
        started = time.perf_counter()
        conversation.ask_unread(words)
        times.append(time.perf_counter() - started)
    return statistics.median(times) * 1e6, _pipelined(conversation, words)


def _pipelined(conversation: Conversation[Peer] | Conversation[Agent], words: Words) -> float:
    started = time.perf_counter()
    for _ in range(_PIPELINED // _SLICE):
        conversation.write(b"".join(conversation.request(words) for _ in range(_SLICE)))
        for _ in range(_SLICE):
            conversation.line()
    return _PIPELINED / (time.perf_counter() - started)
