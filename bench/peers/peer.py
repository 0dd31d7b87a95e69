"""What a measurement asks of a program, whatever its protocol calls it. Starts no process and reads no pipe.

Every one of them speaks one JSON object a line, answers with the id of the request, and has the session events that are
named below; so a peer is its command, its words, and where its results stand.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MODEL = "loopback/m"
SETTLED = b'"agent_settled"'
"""The last record of a run."""
DELTA = b'"text_delta"'
"""In each record that brings some text of an answer."""
_KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT")
"""Nothing of the person whose machine this is: no keys, no configuration, no proxies."""

Words = Mapping[str, Any]
"""A request without its id."""


class PeerFailed(Exception):
    """What did not work, in the few words that stand in the table."""


@dataclass(frozen=True, slots=True)
class Launch:
    command: Sequence[str | Path]
    environment: Mapping[str, str]


class Peer(ABC):
    """A program to measure, in a home of its own that it keeps between its runs."""

    name: str
    version: str

    def __init__(self, home: Path) -> None:
        self.home = home
        home.mkdir(parents=True, exist_ok=True)

    @abstractmethod
    def launch(self, service: str) -> Launch:
        """How it is started. `service`: base URL of the chat completions that are its only model."""

    @abstractmethod
    def hello(self) -> Words:
        """The first request a client of its sends."""

    @abstractmethod
    def smallest(self) -> Words:
        """The cheapest request that it answers."""

    @abstractmethod
    def result(self, answer: Mapping[str, Any]) -> Any:
        """What an answer brings. Raises PeerFailed when it is a refusal."""

    def bare_environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        return {**kept, "HOME": str(self.home)}


class Agent(Peer):
    """A peer with sessions and a model."""

    @abstractmethod
    def state(self) -> Words: ...

    @abstractmethod
    def open(self, session: Path) -> Words: ...

    @abstractmethod
    def prompt(self, text: str) -> Words: ...

    @abstractmethod
    def compact(self) -> Words: ...

    @abstractmethod
    def tree(self, cursor: str | None) -> Words:
        """All entries as a tree, or the page that begins at `cursor`."""

    @abstractmethod
    def entries(self, cursor: str | None) -> Words:
        """All entries, or the page after `cursor`."""


def providers(service: str) -> Mapping[str, Any]:
    """What a models.json says. The window is so large that nothing is compacted unless it is asked for."""
    model = {"id": "m", "contextWindow": 100_000_000, "maxTokens": 100_000}
    provider = {"baseUrl": service, "api": "openai-completions", "apiKey": "none", "models": [model]}
    return {"providers": {"loopback": provider}}
