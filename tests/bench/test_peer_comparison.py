"""The harness that measures peers: by turns, medians, and what a peer that fails looks like in the table."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from bench.peers.comparing import Aim, Figure, Row, Work, alternate
from bench.peers.conversation import talking
from bench.peers.peer import Launch, Peer, PeerFailed, Words
from bench.peers.results import table

_ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"
_SILENT = "import sys\nfor line in sys.stdin: pass"
_BROKEN = "import sys\nsys.exit('Error: no room in /some/folder/of/ours')"
FIGURE = Figure("a thing", "ms", Aim("at most", 0.5))


class Program(Peer):
    """A peer that is a few lines of Python."""

    version = "1"

    def __init__(self, home: Path, name: str, source: str = _ECHO) -> None:
        super().__init__(home)
        self.name = name
        self._source = source

    def launch(self, service: str) -> Launch:
        return Launch([sys.executable, "-c", self._source], self.bare_environment())

    def hello(self) -> Words:
        return {"say": "hello"}

    def smallest(self) -> Words:
        return {}

    def result(self, answer: Mapping[str, Any]) -> Any:
        return answer["say"]


def test_peers_work_by_turns_and_the_table_has_their_medians(tmp_path: Path) -> None:
    ours, other = Program(tmp_path, "rpc-agent"), Program(tmp_path, "Pi")
    times, asked = iter([1.0, 10.0, 3.0, 30.0, 2.0, 20.0]), []

    def measure(peer: Peer) -> Sequence[float]:
        asked.append(peer.name)
        return (next(times),)

    assert alternate(Work((FIGURE,), measure, runs=3), [ours, other]) == [Row(FIGURE, {"rpc-agent": 2.0, "Pi": 20.0})]
    assert asked == ["rpc-agent", "Pi"] * 3


def test_a_peer_that_fails_is_a_row_that_says_so_and_is_not_asked_again(tmp_path: Path) -> None:
    ours, other = Program(tmp_path, "rpc-agent"), Program(tmp_path, "Pi")
    asked = []

    def measure(peer: Peer) -> Sequence[float]:
        asked.append(peer.name)
        if peer is other:
            raise PeerFailed("not installed: npm is not on PATH")
        return (1.0,)

    rows = alternate(Work((FIGURE,), measure, runs=2), [ours, other])
    assert asked == ["rpc-agent", "Pi", "rpc-agent"]
    assert table(rows, "Pi")[2:] == ["| a thing | 1.00 ms | not installed: npm is not on PATH |  | at most 0.5 | yes |"]


@pytest.mark.parametrize(
    ("aim", "ours", "theirs", "cells"),
    [
        (Aim("at most", 0.5), 1.0, 4.0, "1.00 ms | 4.00 ms | 0.25 | at most 0.5 | yes"),
        (Aim("at most", 0.5), 3.0, 4.0, "3.00 ms | 4.00 ms | 0.75 | at most 0.5 | **no**"),
        (Aim("at least", 1.3), 2600.0, 1000.0, "2,600 ms | 1,000 ms | 2.6 | at least 1.3 | yes"),
        (Aim("at most", 1.5, of="figure"), 1.2, 9.0, "1.20 ms | 9.00 ms | 0.133 | at most 1.5 of ours | yes"),
        (Aim("at most", 0.5), "it fell over", 4.0, "it fell over | 4.00 ms |  | at most 0.5 | **no**"),
    ],
)
def test_a_row_says_whether_its_aim_holds(aim: Aim, ours: float | str, theirs: float | str, cells: str) -> None:
    row = Row(Figure("a thing", "ms", aim), {"rpc-agent": ours, "Pi": theirs})
    assert table([row], "Pi")[2:] == [f"| a thing | {cells} |"]


def test_a_conversation_gives_the_answer_to_its_own_request(tmp_path: Path) -> None:
    peer = Program(tmp_path, "echo")
    with talking(peer, life=20) as conversation:
        assert conversation.ask(peer.hello()) == "hello"
        assert conversation.resident_mib() > 1


def ask_hello(peer: Peer, life: float) -> object:
    with talking(peer, life=life) as conversation:
        return conversation.ask(peer.hello())


@pytest.mark.parametrize(
    ("source", "life", "reason"),
    [(_SILENT, 0.5, "not done within 0.5 s"), (_BROKEN, 20, "ended with 1: Error: no room in")],
)
def test_a_peer_that_is_silent_or_ends_fails_with_the_reason(
    tmp_path: Path, source: str, life: float, reason: str
) -> None:
    with pytest.raises(PeerFailed) as failed:
        ask_hello(Program(tmp_path, "peer", source), life)
    assert str(failed.value) == reason
