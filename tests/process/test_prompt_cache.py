"""What a service has read once it can take from its cache: each request of a session begins as the one before it did.

Through a real server, over turns with tools, a second prompt, and a restart of the server in between.
"""

import itertools
import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.support.agent_server import Home
from tests.support.chat_server import ChatServer
from tests.support.provider_apis import APIS, Said
from tests.support.serve_process import ServeProcess, serve_process
from tests.support.strict_services import providers, strict_services

MARK = "cache_control"


def blocks(request: dict[str, Any]) -> Iterator[Any]:
    """What a request says, in the order in which a service reads it: tools, system text, conversation."""
    yield from request.get("tools", ())
    yield from request.get("system", ())
    yield request.get("systemInstruction")
    for name in ("messages", "input", "contents"):
        for message in request.get(name, ()):
            parts = message.get("content", message.get("parts"))
            yield {"role": message.get("role")}
            yield from parts if isinstance(parts, list) else [message]


def unmarked(block: Any) -> str:
    return json.dumps({name: value for name, value in block.items() if name != MARK} if block else None)


def marks(request: dict[str, Any]) -> list[int]:
    """How many blocks stand in front of each mark and with it."""
    return [number for number, block in enumerate(blocks(request), 1) if block and MARK in block]


def converse(home: Home, services: Mapping[str, ChatServer]) -> None:
    """Two lives of a server; in each, a prompt with a tool's turn and one without to every service."""
    sessions: dict[str, str] = {}
    for life in range(2):
        with serve_process(home) as server:
            numbers = itertools.count(1)

            def ask(method: str, server: ServeProcess = server, numbers: Iterator[int] = numbers, **params: Any) -> Any:
                number = next(numbers)
                server.request(number, method, params)
                return server.answer(number)

            for api in APIS:
                call = (f"call_{life}", "ls", {"path": "."})
                said = (Said(text="I look.", calls=[call]), Said(text="Done."), Said(text="Fine."))
                services[api.name].replies[:] = map(api.say, said)
                if life:
                    ask("open_session", path=sessions[api.name])
                else:
                    ask("new_session", model=f"{api.name}/m")
                for number in range(2):
                    assert ask("prompt", message=f"prompt {life}.{number}", wait=True)["stopReason"] == "stop"
                sessions[api.name] = ask("get_state")["sessionFile"]
            assert server.finish() == 0


def test_each_request_begins_with_all_of_the_one_before(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with strict_services("unused") as services:
        home.models(providers(services))
        converse(home, services)
    asked = {name: service.requests for name, service in services.items()}
    assert {name: (len(asked[name]), services[name].faults) for name in asked} == dict.fromkeys(asked, (6, []))
    for requests in asked.values():
        said = [list(map(unmarked, blocks(request))) for request in requests]
        assert [later[: len(earlier)] == earlier for earlier, later in pairwise(said)] == [True] * 5
        assert len({request.get("prompt_cache_key") for request in requests}) == 1
    marked_requests = asked["anthropic-messages"]
    marked = list(map(marks, marked_requests))
    # The last mark of a request is where the next one reads, and the whole request stands in front of it.
    assert [earlier[-1] in later for earlier, later in pairwise(marked)] == [True] * 5
    assert [places[-1] for places in marked] == [len(list(blocks(request))) for request in marked_requests]
    # The service takes no more, and one kind alone: no longer-lived one is asked for.
    assert max(map(len, marked)) <= 4
    kinds = [block[MARK] for request in marked_requests for block in blocks(request) if block and MARK in block]
    assert all(kind == {"type": "ephemeral"} for kind in kinds)
