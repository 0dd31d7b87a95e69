"""Cuts a session's tree into branches that can be read one after the other, and draws its outline. Words no entry.

Ends for every input: missing parents, cycles, an id used twice. Never recurses, for a session is as deep as it is long.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from rpc_agent.export.snapshot import SessionSnapshot
from rpc_agent.session.entries import Entry


class Branch(Struct, frozen=True):
    """Entries of which each hangs from the one before; the first hangs from `fork`, None for a root."""

    entries: tuple[Entry, ...]
    fork: Entry | None
    is_active: bool
    """Whether the session goes on at its end."""


class OutlineLine(Struct, frozen=True):
    entry: Entry
    depth: int
    """How many forks lead away from the active branch to this line."""
    is_active: bool


def branches(snapshot: SessionSnapshot) -> list[Branch]:
    """Every entry on exactly one branch: the active one first (it may be empty), the others in file order."""
    by_id = {entry.id: entry for entry in snapshot.entries}
    parents = {entry_id: _parent(entry, by_id, snapshot.parents) for entry_id, entry in by_id.items()}
    active = _path(snapshot.leaf_id, parents)
    others = _other_chains(active, parents)
    position = {entry_id: at for at, entry_id in enumerate(by_id)}
    chains = [(active, None), *sorted(others, key=lambda chain: position[chain[0][0]])]
    return [
        Branch(tuple(by_id[each] for each in chain), by_id[fork] if fork is not None else None, number == 0)
        for number, (chain, fork) in enumerate(chains)
    ]


def _parent(entry: Entry, by_id: Mapping[str, Entry], repaired: Mapping[str, str | None]) -> str | None:
    parent = repaired.get(entry.id, entry.parent_id)
    return parent if parent in by_id and parent != entry.id else None


def _path(leaf_id: str | None, parents: Mapping[str, str | None]) -> list[str]:
    walked: dict[str, None] = {}
    at = leaf_id if leaf_id in parents else None
    while at is not None and at not in walked:
        walked[at] = None
        at = parents[at]
    return list(reversed(walked))


def _other_chains(active: list[str], parents: Mapping[str, str | None]) -> list[tuple[list[str], str | None]]:
    """The rest of the tree as chains, each with the entry it hangs from."""
    children: defaultdict[str | None, list[str]] = defaultdict(list)
    for entry_id, parent in parents.items():
        children[parent].append(entry_id)
    placed = set(active)
    starts = [child for parent in (None, *active) for child in children[parent] if child not in placed]
    chains: list[tuple[list[str], str | None]] = []
    # What no root leads to hangs in a cycle: it is cut at its first entry in the file.
    for start in (*starts, *parents):
        waiting = [start]
        while waiting:
            first = waiting.pop()
            # A parent that is not placed yet hangs from this very chain: a cycle, and here is where it is cut.
            fork = parents[first] if parents[first] in placed else None
            chain = _chain(first, children, placed)
            if chain:
                chains.append((chain, fork))
                waiting += [child for each in chain for child in children[each] if child not in placed]
    return chains


def _chain(start: str, children: Mapping[str | None, list[str]], placed: set[str]) -> list[str]:
    """Downwards, at forks along the newest branch."""
    chain: list[str] = []
    at: str | None = start if start not in placed else None
    while at is not None:
        placed.add(at)
        chain.append(at)
        at = next((child for child in reversed(children.get(at, [])) if child not in placed), None)
    return chain


def outline(
    found: list[Branch], is_shown: Callable[[Entry], bool], is_trace: Callable[[Entry], bool]
) -> Iterator[OutlineLine]:
    """The lines of the tree in reading order: a branch that forks off stands below the entry it hangs from.

    `is_shown` chooses the entries worth a line; the first of a branch that is more than a trace has one in any case.
    """
    forks: defaultdict[str | None, list[Branch]] = defaultdict(list)
    for branch in found[1:]:
        forks[branch.fork.id if branch.fork else None].append(branch)
    waiting = [(branch, 0, 0) for branch in reversed([*found[:1], *forks[None]])]
    opened: set[str] = set()
    while waiting:
        branch, at, depth = waiting.pop()
        for index in range(at, len(branch.entries)):
            entry = branch.entries[index]
            begins = not branch.is_active and branch.entries[0].id not in opened and not is_trace(entry)
            if begins or is_shown(entry):
                opened.add(branch.entries[0].id)
                yield OutlineLine(entry, depth, branch.is_active)
            if forks[entry.id]:
                waiting.append((branch, index + 1, depth))
                waiting += [(other, 0, depth + 1) for other in reversed(forks[entry.id])]
                break
