"""Does the same work with one peer after the other, several times, and keeps the medians. Knows nothing of the work.

By turns (ours, a peer, ours, a peer ...), because a machine drifts by a quarter within minutes. A peer that fails a
work is not asked again: the table says why.
"""

import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from bench.peers.peer import Agent, Peer, PeerFailed

P = TypeVar("P", bound=Peer)

_FAILURES = (PeerFailed, OSError, LookupError, TypeError, ValueError)
"""What a peer says, and what comes of an answer that has another shape than it should."""

Unit = Literal["ms", "us", "s", "MiB", "a second", "times", "records", "of 20,000"]
Cell = float | str
"""A median, or why there is none."""


@dataclass(frozen=True, slots=True)
class Aim:
    """What is wanted of a figure of ours, or of its ratio to Pi's. `value` None: that there is one at all."""

    bound: Literal["at most", "at least", "works"]
    value: float | None = None
    of: Literal["ratio", "figure"] = "ratio"

    def holds(self, value: float) -> bool:
        if self.value is None:
            return True
        return value <= self.value if self.bound == "at most" else value >= self.value


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing a work measures: a row of the table."""

    name: str
    unit: Unit
    aim: Aim | None = None


@dataclass(frozen=True, slots=True)
class Work(Generic[P]):
    """`measure` does it once, with a process of its own, and gives one number for each figure. Raises PeerFailed."""

    figures: Sequence[Figure]
    measure: Callable[[P], Sequence[float]]
    runs: int


@dataclass(frozen=True, slots=True)
class Row:
    figure: Figure
    cells: Mapping[str, Cell]
    """By the peer's name."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The peers of one run of the harness, ours first, and the rows so far."""

    peers: Sequence[Peer]
    rows: list[Row] = field(default_factory=list)

    @property
    def agents(self) -> Sequence[Agent]:
        return [peer for peer in self.peers if isinstance(peer, Agent)]

    def with_all(self, work: Work[Peer]) -> None:
        self.rows.extend(alternate(work, self.peers))

    def with_agents(self, work: Work[Agent]) -> None:
        self.rows.extend(alternate(work, self.agents))

    def growth(self, figure: Figure, of: str, over: str) -> None:
        """A row of how many times the figure `over` fits into the figure `of`, for each peer that has both."""
        last, first = (next(row.cells for row in self.rows if row.figure.name == name) for name in (of, over))
        self.rows.append(Row(figure, {name: _quotient(last[name], first[name]) for name in last}))


def alternate(work: Work[P], peers: Sequence[P]) -> list[Row]:
    """A row for each figure of the work."""
    taken: dict[str, list[Sequence[float]]] = {peer.name: [] for peer in peers}
    failed: dict[str, str] = {}
    for _ in range(work.runs):
        for peer in peers:
            if peer.name in failed:
                continue
            try:
                taken[peer.name].append(work.measure(peer))
            except _FAILURES as failure:
                failed[peer.name] = str(failure) or type(failure).__name__
    rows = [
        Row(figure, {name: failed.get(name) or _median(runs, at) for name, runs in taken.items()})
        for at, figure in enumerate(work.figures)
    ]
    for row in rows:
        told = ", ".join(
            f"{name} {cell if isinstance(cell, str) else f'{cell:.4g}'}" for name, cell in row.cells.items()
        )
        sys.stderr.write(f"{row.figure.name}, {row.figure.unit}: {told}\n")
    return rows


def _median(runs: Sequence[Sequence[float]], at: int) -> float:
    return statistics.median(run[at] for run in runs)


def _quotient(last: Cell, first: Cell) -> Cell:
    if isinstance(last, str) or isinstance(first, str):
        return next(cell for cell in (last, first) if isinstance(cell, str))
    return last / first
