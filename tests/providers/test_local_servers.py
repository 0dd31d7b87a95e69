"""Servers of this machine are found on the ports they are asked on, with the context size that they really serve."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

import anyio
import pytest

from rpc_agent.conversation.models import Model
from rpc_agent.providers.local_models import LocalKind, ollama_model
from rpc_agent.providers.local_servers import USUAL_PORTS, LocalServer, find_local_servers
from rpc_agent.providers.thinking import available_thinking_levels
from tests.support.json_server import HANG, JsonServer

pytestmark = pytest.mark.anyio

_SHOWN = {
    "set": {
        "parameters": 'stop "<|im_end|>"\nnum_ctx                        8192',
        "model_info": {"general.architecture": "llama", "llama.context_length": 131_072},
        "capabilities": ["completion", "tools", "vision", "thinking"],
    },
    "plain": {
        "parameters": f"num_ctx {'9' * 5000}",
        "model_info": {"qwen3.context_length": 40_960},
        "capabilities": ["completion"],
    },
    "embedder": {"model_info": {"bert.context_length": 512}, "capabilities": ["embedding"]},
}
OLLAMA = {
    "/api/tags": {"models": [{"name": name} for name in _SHOWN]},
    "/api/ps": {"models": []},
    "/api/show": lambda asked: _SHOWN[asked["model"]],
}
LLAMACPP = {
    "/props": {"default_generation_settings": {"n_ctx": 4096}, "total_slots": 4, "modalities": {"vision": True}},
    "/v1/models": {"data": [{"id": "smol", "meta": {"n_ctx_train": 8192}}]},
}
LMSTUDIO = {
    "/api/v0/models": {
        "data": [
            {
                "id": "loaded",
                "type": "llm",
                "state": "loaded",
                "max_context_length": 32_768,
                "loaded_context_length": 8192,
            },
            {"id": "seeing", "type": "vlm", "state": "not-loaded", "max_context_length": 16_384},
            {"id": "embed", "type": "embeddings", "max_context_length": 512},
        ]
    }
}
VLLM = {"/v1/models": {"data": [{"id": "org/model", "owned_by": "vllm", "max_model_len": 65_536}]}}


async def found(answers: dict[LocalKind, Any], seconds: float = 5.0) -> tuple[list[LocalServer], dict[str, JsonServer]]:
    async with AsyncExitStack() as stack:
        servers = {kind: await stack.enter_async_context(JsonServer(answer)) for kind, answer in answers.items()}
        with anyio.fail_after(20):
            ports = {kind: server.port for kind, server in servers.items()}
            return await find_local_servers(ports, seconds=seconds), {str(kind): servers[kind] for kind in servers}


def facts(servers: Sequence[LocalServer]) -> list[tuple[str, int, bool]]:
    return [(model.ref, model.context_window, "image" in model.input) for server in servers for model in server.models]


async def test_all_four_kinds_are_found_with_the_size_they_serve() -> None:
    servers, asked = await found({"ollama": OLLAMA, "llamacpp": LLAMACPP, "lmstudio": LMSTUDIO, "vllm": VLLM})
    assert facts(servers) == [
        ("ollama/set", 8192, True),
        ("ollama/plain", 40_960, False),
        ("llamacpp/smol", 4096, True),
        ("lmstudio/loaded", 8192, False),
        ("lmstudio/seeing", 16_384, True),
        ("vllm/org/model", 65_536, False),
    ]
    assert [server.base_url for server in servers] == [f"{asked[server.kind].root}/v1" for server in servers]
    set_up = servers[0].models[0]
    assert (set_up.api, set_up.base_url, set_up.cost) == ("openai-completions", servers[0].base_url, {})
    assert available_thinking_levels(set_up) == ("off", "low", "medium", "high")


@pytest.mark.parametrize("proxy", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
async def test_no_proxy_is_asked_for_what_runs_here(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv(proxy, "http://127.0.0.1:9")
    servers, _ = await found({"vllm": VLLM})
    assert facts(servers) == [("vllm/org/model", 65_536, False)]


async def test_a_port_where_nobody_or_somebody_else_is_finds_nothing() -> None:
    other: dict[LocalKind, Any] = {
        "ollama": {"/api/tags": b"<html>hello</html>"},
        "llamacpp": {"/props": {"something": 1}, "/v1/models": {"data": [{"id": "x"}]}},
        "lmstudio": {"/api/v0/models": ["no object"]},
        "vllm": {"/v1/models": {"data": [{"id": "gpt", "owned_by": "openai"}, 7]}},
    }
    servers, asked = await found(other)
    assert servers == []
    assert all(server.paths for server in asked.values())
    gone = {kind: server.port for kind, server in asked.items()}
    assert await find_local_servers({"ollama": gone["ollama"], "vllm": gone["vllm"]}) == []


async def test_a_server_that_hangs_costs_no_more_than_the_limit_and_hides_no_other() -> None:
    with anyio.fail_after(10):
        servers, _ = await found({"ollama": {"/api/tags": HANG}, "vllm": VLLM}, seconds=0.5)
    assert [server.kind for server in servers] == ["vllm"]


async def test_a_model_that_is_slow_to_be_told_of_hides_no_other() -> None:
    answers = {**OLLAMA, "/api/show": lambda asked: HANG if asked["model"] == "set" else _SHOWN[asked["model"]]}
    servers, _ = await found({"ollama": answers}, seconds=1)
    assert facts(servers) == [("ollama/set", 0, False), ("ollama/plain", 40_960, False)]


def test_a_loaded_model_counts_as_it_is_loaded_and_never_beyond_what_it_was_made_for() -> None:
    def window(shown: Any, running: Any) -> int:
        model = ollama_model("u", "m", shown, running)
        assert isinstance(model, Model)
        return model.context_window

    loaded = {"models": [{"name": "other", "context_length": 1}, {"name": "m", "context_length": 2048}]}
    assert window(_SHOWN["set"], loaded) == 2048
    assert window({**_SHOWN["set"], "model_info": {"llama.context_length": 4096}}, None) == 4096
    assert window({}, None) == 0


def test_only_the_usual_ports_are_asked_when_nobody_says_otherwise() -> None:
    assert USUAL_PORTS == {"ollama": 11434, "llamacpp": 8080, "lmstudio": 1234, "vllm": 8000}
