"""Whatever a session file holds, the next prompt is a request that a strict service of any API accepts."""

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.agent_server import Home
from tests.support.chat_server import ChatServer
from tests.support.provider_apis import APIS
from tests.support.random_histories import HISTORIES, entries_of
from tests.support.serve_process import ServeProcess, serve_process
from tests.support.strict_services import providers, strict_services

HEADER = {"type": "session", "version": 3, "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/"}


@dataclass(frozen=True, slots=True)
class Bench:
    """One server process and the services behind it, for many sessions."""

    server: ServeProcess
    services: Mapping[str, ChatServer]
    folder: Path
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def open(self, entries: list[dict[str, Any]]) -> Any:
        name = f"s{next(self.numbers)}"
        path = self.folder / f"{name}.jsonl"
        lines = [json.dumps(raw) for raw in ({**HEADER, "id": name}, *entries)]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return self.server.ask("open_session", path=str(path))


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("histories")
    home = Home(folder / "home")
    # Compaction would ask for summaries of its own; here every request is one of the history as it is.
    home.settings(compaction={"enabled": False})
    with strict_services("Good.") as services:
        home.models(providers(services))
        with serve_process(home, "--model", "openai-completions/m") as server:
            yield Bench(server, services, folder)


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(history=HISTORIES, api=st.sampled_from([api.name for api in APIS]))
def test_a_strict_service_accepts_the_next_prompt(bench: Bench, history: list[Any], api: str) -> None:
    service = bench.services[api]
    state = bench.open(entries_of(history, api))
    session = state["sessionId"]
    bench.server.ask("set_model", sessionId=session, provider=api, modelId="m")
    before = len(service.requests)
    result = bench.server.ask("prompt", sessionId=session, message="go on", wait=True)
    bench.server.ask("close_session", sessionId=session)
    faults, service.faults[:] = list(service.faults), []
    found = (faults, result["stopReason"], result.get("errorMessage"), result["text"])
    assert found == ([], "stop", None, "Good."), bench.server.stderr[-3000:]
    assert len(service.requests) == before + 1
    assert b"go on" in service.raw_requests[-1]
