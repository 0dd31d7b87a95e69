"""Reading all of a session, as its tree and as its entries: to the last page where there are pages."""

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence

from bench.peers.comparing import Aim, Comparison, Figure, Unit, Work
from bench.peers.conversation import Conversation, talking
from bench.peers.files import SIZES, Files
from bench.peers.peer import Agent, Words

_RUNS, _RUNS_OF_LARGEST = 3, 1
_AT_ANY_SIZE = Aim("works")
_CURSOR = re.compile(rb'"nextCursor":\s*"([^"]+)"')
_EDGE = 4096
"""A cursor or a refusal stands near the end or the beginning of an answer; all of it is not read."""
_SLOW_LIFE = 180

Question = Callable[[Agent, str | None], Words]
_QUESTIONS: Mapping[str, Question] = {
    "tree": lambda agent, cursor: agent.tree(cursor),
    "entries": lambda agent, cursor: agent.entries(cursor),
}


def history(comparison: Comparison, files: Files) -> None:
    for name, question in _QUESTIONS.items():
        for size in SIZES:
            figures = (Figure(f"get_{name} of {size:,} entries, all of it", _unit(size), _AT_ANY_SIZE),)
            runs = _RUNS_OF_LARGEST if size == max(SIZES) else _RUNS
            comparison.with_agents(Work(figures, _read(files, size, question), runs))


def _unit(size: int) -> Unit:
    return "s" if size == max(SIZES) else "ms"


def _read(files: Files, size: int, question: Question) -> Callable[[Agent], Sequence[float]]:
    def measure(agent: Agent) -> Sequence[float]:
        with files.chain(size, compacted=True) as path, talking(agent, life=_SLOW_LIFE) as conversation:
            conversation.ask(agent.open(path))
            started = time.perf_counter()
            _all_pages(conversation, agent, question)
            seconds = time.perf_counter() - started
            return (seconds if _unit(size) == "s" else seconds * 1e3,)

    return measure


def _all_pages(conversation: Conversation[Agent], agent: Agent, question: Question) -> None:
    cursor: str | None = None
    while True:
        answer = conversation.ask_unread(question(agent, cursor))
        if len(answer) < _EDGE:
            agent.result(json.loads(answer))
        found = _CURSOR.search(answer[-_EDGE:])
        if found is None:
            return
        cursor = found[1].decode()
