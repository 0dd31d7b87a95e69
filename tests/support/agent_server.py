"""A whole server in this process, over the in-memory twin, with a scripted model: what method tests talk to."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rpc_agent.rpc.in_memory import InMemoryClient, InMemoryTransport, connected_pair
from rpc_agent.server.app import App
from rpc_agent.server.options import ServeOptions
from tests.support.contract import params_misfits, result_misfits

PATIENCE = 20.0
"""No wait of a test is longer: a machine under load is slow, but not that slow."""


class Home:
    """The folders of one user: config, sessions, and a project to work in."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.config = root / "config"
        self.sessions = root / "sessions"
        self.project = root / "project"
        for folder in (self.config, self.project):
            folder.mkdir(parents=True, exist_ok=True)

    def script(
        self, *replies: Mapping[str, Any], summaries: Sequence[Mapping[str, Any]] | None = None, **model: Any
    ) -> None:
        """Make a scripted model the default one. `model` are fields of its models.json entry."""
        script: dict[str, Any] = {"replies": list(replies)}
        if summaries is not None:
            script["summaries"] = list(summaries)
        file = self.config / "replies.json"
        file.write_text(json.dumps(script), encoding="utf-8")
        entry = {"id": "m", "contextWindow": 100_000, "maxTokens": 4096, **model}
        provider = {"api": "scripted", "script": str(file), "models": [entry]}
        self.models({"scripted": provider})
        self.settings(defaultModel="scripted/m")

    def models(self, providers: Mapping[str, Any]) -> None:
        (self.config / "models.json").write_text(json.dumps({"providers": providers}), encoding="utf-8")

    def use_service(self, base_url: str, *, api: str = "openai-completions", **model: Any) -> None:
        """Make a model of a service the default one. `model` are fields of its models.json entry."""
        entry = {"id": "m", "contextWindow": 200_000, "maxTokens": 4096, **model}
        self.models({"local": {"baseUrl": base_url, "api": api, "apiKey": "none", "models": [entry]}})
        self.settings(defaultModel="local/m")

    def settings(self, **values: Any) -> None:
        """Add to settings.json."""
        file = self.config / "settings.json"
        known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        file.write_text(json.dumps({**known, **values}), encoding="utf-8")

    @property
    def environment(self) -> dict[str, str]:
        return {
            "RPC_AGENT_CONFIG_DIR": str(self.config),
            "RPC_AGENT_SESSION_DIR": str(self.sessions),
            "HOME": str(self.root),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
        }

    def options(self, **values: Any) -> ServeOptions:
        return ServeOptions(cwd=str(self.project), **values)


class CheckingClient(InMemoryClient):
    """Remembers what it asked, so that everything that came can be held against the contract."""

    def __init__(self, transport: InMemoryTransport) -> None:
        super().__init__(transport)
        self.asked: dict[Any, str] = {}

    async def ask(self, method: str, params: Any = None) -> tuple[int, asyncio.Future[Any]]:
        question = await super().ask(method, params)
        self.asked[question[0]] = method
        return question

    def misfits(self) -> list[str]:
        """What the server sent that the contract does not say."""
        found = [
            f"{notification.method} {fault}"
            for notification in self.notifications
            for fault in params_misfits(notification.method, notification.params)
        ]
        for message in self.received:
            if isinstance(message, dict) and "result" in message and message["id"] in self.asked:
                method = self.asked[message["id"]]
                found += [f"{method} {fault}" for fault in result_misfits(method, message["result"])]
        return found


@contextlib.asynccontextmanager
async def serving(home: Home, **options: Any) -> AsyncIterator[CheckingClient]:
    """A client of a server on `home`. At the end its input ends, and the server must end by itself.

    Whatever a test is about, all that the server sent in it must fit the contract.
    """
    server_end, client_end = connected_pair()
    client = CheckingClient(client_end)
    app = App(home.options(**options), server_end, home.environment, on_overdue=lambda code: None)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(_run(app, server_end))
        tasks.create_task(client.listen())
        try:
            yield client
        finally:
            client_end.read_again()
            client_end.end()
            async with asyncio.timeout(PATIENCE):
                await asyncio.wait([running])
    misfits = client.misfits()
    assert not misfits, misfits


async def _run(app: App, end: InMemoryTransport) -> None:
    try:
        await app.run()
    finally:
        end.end()
        end.hang_up()


def names(client: InMemoryClient, *, but: Sequence[str] = ("message_update", "tool_execution_update")) -> list[str]:
    """The notifications so far, by name."""
    return [notification.method for notification in client.notifications if notification.method not in but]
