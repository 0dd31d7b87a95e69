"""get_available_models and set_model."""

import json
from pathlib import Path

import pytest

from rpc_agent.rpc.errors import RpcError
from tests.support.agent_server import Home, serving

pytestmark = pytest.mark.anyio


async def test_the_models_that_could_answer_are_listed_without_any_key(tmp_path: Path) -> None:
    home = Home(tmp_path)
    provider = {"baseUrl": "http://127.0.0.1:9/v1", "api": "openai-completions", "apiKey": "sk-very-secret-value"}
    home.models({"mine": {**provider, "models": [{"id": "big", "contextWindow": 1000, "maxTokens": 100}]}})
    async with serving(home) as client:
        result = await client.request("get_available_models")
        refs = [f"{model['provider']}/{model['id']}" for model in result["models"]]
        assert refs == ["mine/big", "offline/offline"]
        assert "sk-very-secret-value" not in str(client.received)


async def test_set_model_is_announced_stored_and_found_again(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "hello"})
    provider = json.loads((home.config / "models.json").read_text())["providers"]["scripted"]
    home.models({"scripted": {**provider, "models": [*provider["models"], {"id": "other"}]}})
    async with serving(home) as client:
        await client.request("prompt", {"message": "hi", "wait": True})
        result = await client.request("set_model", {"provider": "scripted", "modelId": "other"})
        assert result["model"]["id"] == "other"
        assert [n.method for n in client.notifications][-2:] == ["entry_appended", "model_changed"]
        file = (await client.request("get_state"))["sessionFile"]
    async with serving(home) as client:
        opened = await client.request("open_session", {"path": file})
        assert (opened["model"]["provider"], opened["model"]["id"]) == ("scripted", "other")


async def test_an_unknown_model_is_refused_with_near_names(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with serving(home) as client:
        with pytest.raises(RpcError) as refused:
            await client.request("set_model", {"provider": "offline", "modelId": "offlin"})
        assert refused.value.code == -32030
        assert "offline/offline" in refused.value.message
