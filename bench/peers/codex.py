"""Codex's app-server, for its start and its round trips; turns would need an account."""

from collections.abc import Mapping
from typing import Any

from bench.peers import installed
from bench.peers.peer import Launch, Peer, PeerFailed, Words


class Codex(Peer):
    name = "Codex app-server"
    version = installed.version("@openai/codex")

    def launch(self, service: str) -> Launch:
        return Launch([installed.codex(), "app-server"], {**self.bare_environment(), "CODEX_HOME": str(self.home)})

    def hello(self) -> Words:
        return {"method": "initialize", "params": {"clientInfo": {"name": "bench", "version": "1"}}}

    def smallest(self) -> Words:
        return {"method": "thread/loaded/list", "params": {}}

    def result(self, answer: Mapping[str, Any]) -> Any:
        if "error" in answer:
            raise PeerFailed(answer["error"]["message"])
        return answer["result"]
