"""`make bench-peers`: the same work with our server and with its peers, and the table of it in bench/RESULTS.md.

`python -m bench.peers NAME ...` does some parts only and prints their table; RESULTS.md is written by a whole run.
"""

import datetime
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from bench.peers import installed, machine, results
from bench.peers.codex import Codex
from bench.peers.compaction import compaction
from bench.peers.comparing import Comparison
from bench.peers.files import Files
from bench.peers.history import history
from bench.peers.opening import opening
from bench.peers.peer import Peer, PeerFailed
from bench.peers.pi import Pi
from bench.peers.round_trips import round_trips
from bench.peers.rpc_agent import RpcAgent
from bench.peers.slow_reader import slow_reader
from bench.peers.starting import first_answer, starting
from bench.peers.streaming import streaming
from bench.peers.turns import prompt_to_request, tool_turns
from bench.report import progress

RESULTS = Path(__file__).resolve().parents[1] / "RESULTS.md"

PARTS: Mapping[str, Callable[[Comparison, Files], None]] = {
    "start-up": starting,
    "round-trips": round_trips,
    "streaming": streaming,
    "turns": prompt_to_request,
    "compaction": compaction,
    "opening": opening,
    "tool-turns": tool_turns,
    "history": history,
    "slow-reader": slow_reader,
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        sys.stderr.write(f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}\n")
        return 2
    # Whoever is told to go leaves neither a gigabyte of files nor a process at work.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    installed.SCRATCH.mkdir(parents=True, exist_ok=True)
    facts = machine.facts()
    with tempfile.TemporaryDirectory(dir=installed.SCRATCH, ignore_cleanup_errors=True) as folder:
        comparison = _compare(names or list(PARTS), Path(folder))
    if names:
        print("\n".join(results.table(comparison.rows, Pi.name)))
        return 0
    versions = {peer.name: peer.version for peer in comparison.peers}
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    RESULTS.write_text(results.render(comparison.rows, facts, versions, date), encoding="utf-8")
    return 0


def _compare(names: list[str], folder: Path) -> Comparison:
    try:
        installed.install()
    except PeerFailed as failure:
        progress(f"without peers: {failure}")
    peers: list[Peer] = [kind(folder / kind.__name__) for kind in (RpcAgent, Pi, Codex)]
    for peer in peers:
        _warm(peer)
    comparison, files = Comparison(peers), Files(folder)
    for name in names:
        PARTS[name](comparison, files)
    return comparison


def _warm(peer: Peer) -> None:
    """What a program keeps for its next start, it keeps now; if it cannot start, each part will say so."""
    try:
        first_answer(peer)
    except PeerFailed as failure:
        progress(f"{peer.name} does not start: {failure}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
