"""A client that asks and does not read: how much memory the answers take meanwhile, and whether all of them come."""

import threading
import time
from collections.abc import Sequence

from bench.peers.comparing import Aim, Comparison, Figure, Work
from bench.peers.conversation import Conversation, talking
from bench.peers.files import Files
from bench.peers.peer import Agent, PeerFailed

_REQUESTS = 20_000
_RUNS = 3
_UNREAD_SECONDS = 4
"""Long enough for everything that is going to be buffered; a peer has answered all of it in two."""
_ANSWER = b'"q'
"""What only an answer has: the id of a request."""


def slow_reader(comparison: Comparison, files: Files) -> None:
    figures = (
        Figure(f"memory grown by {_REQUESTS:,} requests whose answers nobody reads", "MiB"),
        Figure("answers that came when they were read", "of 20,000", Aim("at least", _REQUESTS, of="figure")),
    )
    comparison.with_agents(Work(figures, _unread, _RUNS))


def _unread(agent: Agent) -> Sequence[float]:
    with talking(agent) as conversation:
        conversation.ask(agent.state())
        before = conversation.resident_mib()
        requests = b"".join(conversation.request(agent.state()) for _ in range(_REQUESTS))
        # A server that stops reading too, as it should, blocks whoever writes.
        writer = threading.Thread(target=_write, args=(conversation, requests), daemon=True)
        writer.start()
        time.sleep(_UNREAD_SECONDS)
        grown = conversation.resident_mib() - before
        answers = sum(_ANSWER in conversation.line() for _ in range(_REQUESTS))
        writer.join()
        return grown, answers


def _write(conversation: Conversation[Agent], requests: bytes) -> None:
    try:
        conversation.write(requests)
    except PeerFailed:
        pass  # Whoever reads its answers hears of it.
