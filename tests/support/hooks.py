"""Clients and extensions that answer hooks, for tests."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rpc_agent.rpc import envelopes
from rpc_agent.rpc.envelopes import Request
from tests.support.agent_server import CheckingClient

Answers = Mapping[str, Any]


async def hook(client: CheckingClient, answers: Answers, **capabilities: Any) -> list[tuple[str, Any]]:
    """Say that these hooks are answered; what was asked, in order. An answer may be a function of the event."""
    asked: list[tuple[str, Any]] = []

    def reply(params: Any) -> Any:
        asked.append((params["hook"], params["event"]))
        answer = answers[params["hook"]]
        return answer(params["event"]) if callable(answer) else answer

    client.on_request["run_hook"] = reply
    await initialize(client, hooks=list(answers), **capabilities)
    return asked


async def initialize(client: CheckingClient, **capabilities: Any) -> Any:
    params = {"protocolVersion": 1, "clientInfo": {"name": "t", "version": "1"}, "capabilities": capabilities}
    return await client.request("initialize", params)


def of(asked: list[tuple[str, Any]], name: str) -> list[Any]:
    """The events of one hook."""
    return [event for hook, event in asked if hook == name]


def errors(client: CheckingClient) -> list[tuple[str, str, str]]:
    """The faults that the client heard of."""
    found = [n.params for n in client.notifications if n.method == "extension_error"]
    return [(each["extension"], each["hook"], each["error"]) for each in found]


def extension(folder: Path, code: str, name: str = "mine.py") -> str:
    """An extension's file, `code` being the body of its register function."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = "\n".join(f"    {line}" for line in code.strip("\n").split("\n"))
    file = folder / name
    file.write_text(f"import asyncio, time\n\n\ndef register(api):\n{lines}\n", encoding="utf-8")
    return str(file)


async def answer_hook(client: CheckingClient, answer: Any = None) -> None:
    """Answer the first hook that is asked for and has no answer yet, be it still to come."""

    def asked() -> list[Request]:
        return [request for request in client.requests if request.method == "run_hook"]

    await client.wait(lambda: bool(asked()))
    first = asked()[0]
    client.requests.remove(first)
    await client.send(envelopes.encode_result(first.id, answer))


async def roles(client: CheckingClient) -> list[str]:
    return [message["role"] for message in (await client.request("get_messages"))["messages"]]


async def entries(client: CheckingClient) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await client.request("get_entries"))["entries"]
    return found
