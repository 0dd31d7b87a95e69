"""What a turn costs beside the model: prompt to request by the context's length, tool turns by the file's."""

import re
import statistics
import time
from collections.abc import Callable, Sequence

from bench.bare_post import posting
from bench.peers.comparing import Aim, Comparison, Figure, Work
from bench.peers.conversation import talking
from bench.peers.files import Files
from bench.peers.peer import Agent, PeerFailed
from bench.service import loopback

_CONTEXTS = (100, 1_000, 10_000)
_RUNS, _PROMPTS, _WARM = 3, 20, 5
_FILES = {1_000: 30, 100_000: 20, 1_000_000: 6}
"""Turns in files of so many entries; in the largest a peer may take two seconds for one."""
_FLAT = Aim("at most", 1.5, of="figure")
_ARRIVED = re.compile(rb'"delta":\s*"([\d.]+)"')
_LIFE_SECONDS = 240
"""For all turns of a process, on a machine that has other things to do."""


def prompt_to_request(comparison: Comparison, files: Files) -> None:
    """Prompt written -> the whole request is with the service; and what a bare POST of the same bytes takes of it."""
    alone = {messages: f"the same without a bare POST, {messages:,} messages" for messages in _CONTEXTS}
    with loopback() as url:
        for messages, name in alone.items():
            figures = (Figure(f"prompt to request, {messages:,} messages", "ms"), Figure(name, "ms"))
            comparison.with_agents(Work(figures, _requests(files, url, messages), _RUNS))
    figure = Figure("a hundred times the context takes, without it", "times", _FLAT)
    comparison.growth(figure, of=alone[max(_CONTEXTS)], over=alone[min(_CONTEXTS)])


def _requests(files: Files, url: str, messages: int) -> Callable[[Agent], Sequence[float]]:
    def measure(agent: Agent) -> Sequence[float]:
        with (
            files.chain(messages) as path,
            posting(url) as post,
            talking(agent, f"{url}/v1") as conversation,
        ):
            conversation.ask(agent.open(path))
            times, posts = [], []
            for number in range(_WARM + _PROMPTS):
                started = time.perf_counter()
                lines = conversation.prompt(agent.prompt(f"prompt {number}"))
                times.append(_arrival(lines) - started)
                posts.append(post()[0])
            whole = statistics.median(times[_WARM:])
            return (whole * 1e3, (whole - statistics.median(posts[_WARM:])) * 1e3)

    return measure


def _arrival(lines: Sequence[bytes]) -> float:
    """The service answers with the time at which it had the request; one clock for all processes."""
    found = next((match for line in lines if (match := _ARRIVED.search(line))), None)
    if found is None:
        raise PeerFailed("a run without an answer of the model")
    return float(found[1])


def tool_turns(comparison: Comparison, files: Files) -> None:
    """Prompt written -> the run has settled, with one call of ls in it."""
    names = {entries: f"a tool turn in a file of {entries:,} entries" for entries in _FILES}
    with loopback() as url:
        for entries, turns in _FILES.items():
            figures = (Figure(names[entries], "ms"),)
            runs = 1 if entries == max(_FILES) else _RUNS
            comparison.with_agents(Work(figures, _tool_turns(files, f"{url}/v1", entries, turns), runs))
    figure = Figure("a thousand times the file takes", "times", _FLAT)
    comparison.growth(figure, of=names[max(_FILES)], over=names[min(_FILES)])


def _tool_turns(files: Files, url: str, entries: int, turns: int) -> Callable[[Agent], Sequence[float]]:
    def measure(agent: Agent) -> Sequence[float]:
        with (
            files.chain(entries, compacted=True) as path,
            talking(agent, url, life=_LIFE_SECONDS) as conversation,
        ):
            conversation.ask(agent.open(path))
            times = []
            for _ in range(turns):
                started = time.perf_counter()
                lines = conversation.prompt(agent.prompt("call the tool"))
                times.append(time.perf_counter() - started)
                _check_tool(lines)
            return (statistics.median(times) * 1e3,)

    return measure


def _check_tool(lines: Sequence[bytes]) -> None:
    ended = [line for line in lines if b'"tool_execution_end"' in line[:200]]
    if len(ended) != 1 or b'"isError":true' in ended[0]:
        raise PeerFailed("the tool was not run")
