"""Requests of every method with parameters that nobody means: each has its answer, and none is an internal error.

SOAK_REQUESTS is how many (`make soak`: many), RPC_AGENT_SEED the seed they are made from.
"""

import asyncio
import copy
import os
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from rpc_agent.protocol.example_messages import read_examples
from rpc_agent.protocol.methods import METHODS
from rpc_agent.rpc.errors import RpcError
from rpc_agent.rpc.in_memory import InMemoryClient
from tests.support.agent_server import PATIENCE, Home, serving

REQUESTS = int(os.environ.get("SOAK_REQUESTS", "600"))
SEED = int(os.environ.get("RPC_AGENT_SEED", "13"))
LEFT_OUT = {"initialize", "shutdown", "exit", "bash", "update_settings"}
"""What ends the server (with a parent that is none, too), runs any text as a command, or says where files are put."""

ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**70, 1.5, -0.0, 1e300, "", " ", "x", "\0", "\ud800", "/", "..", "~", "\n",
    "é" * 300, "x" * 5000, "00000000", [], [None], {}, {"": {}}, {"type": "text"}, [{"type": "text", "text": 1}],
    [{"type": "image", "data": "!", "mimeType": "x"}], [[[[[[]]]]]], "scripted/m", "latest", {"content": None},
)  # fmt: skip

pytestmark = pytest.mark.anyio


async def test_no_request_is_an_internal_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = Home(tmp_path)
    home.script({"text": "Yes."})
    (home.config / "replies.json").write_text('{"replies": [{"text": "Yes."}], "repeat": true}')
    random = Random(SEED)
    started = time.monotonic()
    wrong: list[Any] = []
    async with serving(home) as client:
        known = await some_ids(client)
        for method, params in requests(random, known):
            if len(wrong) > 5:
                break
            _, answer = await client.ask(method, params)
            async with asyncio.timeout(PATIENCE):
                message = (await asyncio.gather(answer, return_exceptions=True))[0]
            if is_wrong(message):
                wrong.append((method, params, message))
    with capsys.disabled():
        print(f"\n{REQUESTS} odd requests from seed {SEED} in {time.monotonic() - started:.0f} s")
    assert wrong == []


def is_wrong(message: Any) -> bool:
    return isinstance(message, Exception) and not (isinstance(message, RpcError) and message.code != -32603)


async def some_ids(client: InMemoryClient) -> list[Any]:
    """Ids that exist, so that not everything fails for want of one."""
    await client.request("prompt", {"message": "hello", "wait": True})
    state = await client.request("get_state")
    entries = (await client.request("get_entries"))["entries"]
    return [state["sessionId"], *(entry["id"] for entry in entries)]


def requests(random: Random, known: list[Any]) -> Iterator[tuple[str, Any]]:
    examples = read_examples().methods
    methods = sorted(set(METHODS) & set(examples) - LEFT_OUT)
    for _ in range(REQUESTS):
        method = random.choice(methods)
        params = copy.deepcopy(dict(random.choice(examples[method])["params"]))
        for _ in range(random.randint(0, 2)):
            params = changed(random, params, known)
        yield method, without_places(with_known_ids(random, params, known))


def changed(random: Random, value: Any, known: list[Any]) -> Any:
    """The value with one thing in it made odd."""
    inside = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    if not inside or random.random() < 0.1:
        return random.choice((*ODD, *known)) if not isinstance(value, dict) else {**value, random.choice(("x", "")): 1}
    key = random.choice(inside)
    if isinstance(value, dict) and random.random() < 0.15:
        return {name: each for name, each in value.items() if name != key}
    deeper = changed(random, value[key], known) if random.random() < 0.5 else random.choice((*ODD, *known))
    if isinstance(value, dict):
        return {**value, key: deeper}
    return [*value[:key], deeper, *value[key + 1 :]]


def with_known_ids(random: Random, params: dict[str, Any], known: list[Any]) -> dict[str, Any]:
    """An example's own ids exist nowhere here; half of them are made to."""
    session, *entries = known
    found = dict(params)
    for name, value in params.items():
        if name.endswith("Id") and isinstance(value, str) and value and random.random() < 0.5:
            found[name] = session if name == "sessionId" else random.choice(entries)
    return found


def without_places(params: dict[str, Any]) -> dict[str, Any]:
    """Nothing is written or worked in outside the folders of the test."""
    return {name: value for name, value in params.items() if name not in ("outputPath", "cwd")}
