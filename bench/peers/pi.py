"""Pi's rpc mode: records of its own in place of JSON-RPC. Offline, its compiled code cached as for its users."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.peers import installed
from bench.peers.peer import MODEL, Agent, Launch, PeerFailed, Words, providers

_TOOLS = "read,bash,edit,write,grep,find,ls"
"""Those that our server offers too, so that both send about the same request."""


class Pi(Agent):
    name = "Pi"
    version = installed.version("@earendil-works/pi-coding-agent")

    def launch(self, service: str) -> Launch:
        config = self.home / "agent"
        config.mkdir(exist_ok=True)
        (config / "models.json").write_text(json.dumps(providers(service)), encoding="utf-8")
        return Launch(
            [installed.node(), installed.pi(), "--mode", "rpc", "--model", MODEL, "--tools", _TOOLS],
            {
                **self.bare_environment(),
                "PI_CODING_AGENT_DIR": str(config),
                "PI_CODING_AGENT_SESSION_DIR": str(self.home / "sessions"),
                "PI_OFFLINE": "1",
                "PI_SKIP_VERSION_CHECK": "1",
                "PI_TELEMETRY": "0",
                "NODE_COMPILE_CACHE": str(installed.COMPILE_CACHE),
            },
        )

    def hello(self) -> Words:
        # There is no handshake: this is what its clients ask first.
        return self.state()

    def smallest(self) -> Words:
        return {"type": "get_available_thinking_levels"}

    def state(self) -> Words:
        return {"type": "get_state"}

    def open(self, session: Path) -> Words:
        return {"type": "switch_session", "sessionPath": str(session)}

    def prompt(self, text: str) -> Words:
        return {"type": "prompt", "message": text}

    def compact(self) -> Words:
        return {"type": "compact"}

    def tree(self, cursor: str | None) -> Words:
        return {"type": "get_tree"}

    def entries(self, cursor: str | None) -> Words:
        return {"type": "get_entries"}

    def result(self, answer: Mapping[str, Any]) -> Any:
        if not answer["success"]:
            raise PeerFailed(answer["error"])
        return answer.get("data")
