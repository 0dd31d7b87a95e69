"""Finds the model servers that run on this machine. Asks only 127.0.0.1, only when called, and not for long."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import orjson
from msgspec import Struct

from rpc_agent.conversation.models import Model
from rpc_agent.providers.local_models import (
    LocalKind,
    llamacpp_models,
    lmstudio_models,
    ollama_model,
    ollama_names,
    vllm_models,
)
from rpc_agent.providers.timeouts import Timeouts

if TYPE_CHECKING:
    from rpc_agent.providers.http import Http

USUAL_PORTS: Mapping[LocalKind, int] = {"ollama": 11434, "llamacpp": 8080, "lmstudio": 1234, "vllm": 8000}

_SECONDS = 1.5
"""For everything: a server of this machine answers in milliseconds, and a person waits for the list."""
_MAX_ANSWER = 8 * 1024 * 1024
"""/api/show quotes a model's licence and vocabulary; more than this is no such answer."""
_MAX_MODELS = 100
"""Each model of an Ollama costs a question."""


class LocalServer(Struct, frozen=True):
    """`base_url` is that of its chat-completions API."""

    kind: LocalKind
    base_url: str
    models: tuple[Model, ...]


async def find_local_servers(
    ports: Mapping[LocalKind, int] = USUAL_PORTS, *, seconds: float = _SECONDS
) -> list[LocalServer]:
    """The servers that answered within `seconds` and have a model, in the order of `ports`. Never raises for a server
    that is not there, answers something else, or hangs."""
    http = await anyio.to_thread.run_sync(_make_http)
    found: dict[LocalKind, LocalServer] = {}
    try:
        with anyio.move_on_after(seconds):
            async with anyio.create_task_group() as tasks:
                for kind, port in ports.items():
                    tasks.start_soon(_look, _Port(http, port, seconds), kind, found)
    finally:
        await http.aclose()
    return [found[kind] for kind in ports if kind in found]


class _Port:
    """Questions to one port of this machine."""

    def __init__(self, http: "Http", port: int, seconds: float) -> None:
        self._http = http
        self.seconds = seconds
        self._root = f"http://127.0.0.1:{port}"
        self.base_url = self._root + "/v1"

    async def ask(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The JSON of a 200 answer, else None."""
        from rpc_agent.providers.http import HttpFailed  # noqa: PLC0415 - httpx loads when first needed

        limits = Timeouts(connect=self.seconds, idle=self.seconds, write=self.seconds)
        content = orjson.dumps(body) if body is not None else None
        headers = {"content-type": "application/json"} if body is not None else {}
        try:
            status, answer = await self._http.read(
                self._root + path, headers=headers, timeouts=limits, body=content, most=_MAX_ANSWER
            )
            return orjson.loads(answer) if status == 200 else None
        except (HttpFailed, orjson.JSONDecodeError):
            return None


async def _look(port: _Port, kind: LocalKind, found: dict[LocalKind, LocalServer]) -> None:
    models = await _LOOKS[kind](port)
    if models:
        found[kind] = LocalServer(kind, port.base_url, tuple(models))


async def _ollama(port: _Port) -> list[Model]:
    names = ollama_names(await port.ask("/api/tags"))[:_MAX_MODELS]
    if not names:
        return []
    running = await port.ask("/api/ps")
    # One model that is slow to be told of, as from a sleeping disk, must not hide the others.
    shown: dict[str, object] = {}

    async def show(name: str) -> None:
        shown[name] = await port.ask("/api/show", {"model": name})

    with anyio.move_on_after(port.seconds / 2):
        async with anyio.create_task_group() as tasks:
            for name in names:
                tasks.start_soon(show, name)
    models = (ollama_model(port.base_url, name, shown.get(name), running) for name in names)
    return [model for model in models if model is not None]


async def _llamacpp(port: _Port) -> list[Model]:
    props = await port.ask("/props")
    return llamacpp_models(port.base_url, props, await port.ask("/v1/models")) if props else []


async def _lmstudio(port: _Port) -> list[Model]:
    return lmstudio_models(port.base_url, await port.ask("/api/v0/models"))


async def _vllm(port: _Port) -> list[Model]:
    return vllm_models(port.base_url, await port.ask("/v1/models"))


_LOOKS: Mapping[LocalKind, Callable[[_Port], Awaitable[list[Model]]]] = {
    "ollama": _ollama,
    "llamacpp": _llamacpp,
    "lmstudio": _lmstudio,
    "vllm": _vllm,
}


def _make_http() -> "Http":
    from rpc_agent.providers.http import Http  # noqa: PLC0415 - httpx costs 20 ms of the start

    return Http(direct=True)
