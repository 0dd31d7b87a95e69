"""Our own server as one of the peers: the command that users start, with its configuration in the peer's home."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.peers.peer import MODEL, Agent, Launch, PeerFailed, Words, providers
from rpc_agent import __version__


class RpcAgent(Agent):
    name = "rpc-agent"
    version = __version__

    def launch(self, service: str) -> Launch:
        config = self.home / "config"
        config.mkdir(exist_ok=True)
        (config / "models.json").write_text(json.dumps(providers(service)), encoding="utf-8")
        return Launch(
            [sys.executable, "-m", "rpc_agent", "serve", "--model", MODEL],
            {
                **self.bare_environment(),
                "RPC_AGENT_CONFIG_DIR": str(config),
                "RPC_AGENT_SESSION_DIR": str(self.home / "sessions"),
            },
        )

    def hello(self) -> Words:
        return _call(
            "initialize",
            protocolVersion=1,
            clientInfo={"name": "bench", "version": "1"},
            capabilities={"deltas": "each"},
        )

    def smallest(self) -> Words:
        return _call("ping")

    def state(self) -> Words:
        return _call("get_state")

    def open(self, session: Path) -> Words:
        return _call("open_session", path=str(session))

    def prompt(self, text: str) -> Words:
        return _call("prompt", message=text)

    def compact(self) -> Words:
        return _call("compact")

    def tree(self, cursor: str | None) -> Words:
        return _call("get_tree", **({"cursor": cursor} if cursor else {}))

    def entries(self, cursor: str | None) -> Words:
        return _call("get_entries", **({"since": cursor} if cursor else {}))

    def result(self, answer: Mapping[str, Any]) -> Any:
        if "error" in answer:
            raise PeerFailed(answer["error"]["message"])
        return answer["result"]


def _call(method: str, **params: object) -> Words:
    return {"jsonrpc": "2.0", "method": method, "params": params}
