"""get_settings, update_settings, set_permissions, trust_project, thinking levels, cycle_model."""

import json
from pathlib import Path

import pytest

from rpc_agent.rpc.errors import RpcError
from tests.support.agent_server import Home, serving

pytestmark = pytest.mark.anyio


async def test_effective_values_come_with_where_they_came_from(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(compaction={"reserveTokens": 5000})
    async with serving(home) as client:
        result = await client.request("get_settings")
        assert result["settings"]["compaction"]["reserveTokens"] == 5000
        assert result["settings"]["compaction"]["keepRecentTokens"] == 20_000
        sources = result["sources"]
        assert (sources["compaction.reserveTokens"], sources["compaction.keepRecentTokens"]) == ("user", "default")


async def test_an_update_for_the_session_touches_no_file_and_takes_effect(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with serving(home) as client:
        patch = {"steeringMode": "all", "retry": {"enabled": False}}
        await client.request("update_settings", {"patch": patch, "scope": "session"})
        state = await client.request("get_state")
        assert (state["steeringMode"], state["autoRetryEnabled"]) == ("all", False)
        assert not (home.config / "settings.json").exists()


async def test_an_update_for_the_user_is_written_and_keeps_what_was_there(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(defaultThinkingLevel="low", unknownToUs={"x": 1})
    async with serving(home) as client:
        patch = {"compaction": {"keepRecentTokens": 7}, "defaultThinkingLevel": None}
        await client.request("update_settings", {"patch": patch, "scope": "user"})
        written = json.loads((home.config / "settings.json").read_text())
        assert written == {"unknownToUs": {"x": 1}, "compaction": {"keepRecentTokens": 7}}


async def test_a_bad_value_is_refused_naming_the_field_and_nothing_is_written(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with serving(home) as client:
        with pytest.raises(RpcError) as refused:
            patch = {"compaction": {"reserveTokens": -1}}
            await client.request("update_settings", {"patch": patch, "scope": "user"})
        assert [e["path"] for e in (refused.value.data or {})["errors"]] == ["patch.compaction.reserveTokens"]
        assert not (home.config / "settings.json").exists()


@pytest.mark.parametrize("scope", ["session", "user"])
async def test_a_dotted_name_is_the_field_in_its_section(tmp_path: Path, scope: str) -> None:
    home = Home(tmp_path)
    async with serving(home) as client:

        async def kept(patch: object) -> object:
            result = await client.request("update_settings", {"patch": patch, "scope": scope})
            return result["settings"]["compaction"]["keepRecentTokens"]

        assert await kept({"compaction.keepRecentTokens": 7}) == 7
        assert await kept({"compaction": {"keepRecentTokens": 8}}) == 8
        with pytest.raises(RpcError, match=r"patch\.compaction\.keepRecentTokens"):
            await kept({"compaction": {"keepRecentTokens": "many"}})
        assert await kept({"compaction.keepRecentTokens": None}) == 20_000


async def test_an_update_finds_a_dotted_name_in_the_file(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(**{"compaction.keepRecentTokens": 7, "compaction": {"reserveTokens": 5000}})
    async with serving(home) as client:
        patch = {"compaction": {"keepRecentTokens": 8}}
        await client.request("update_settings", {"patch": patch, "scope": "user"})
        written = json.loads((home.config / "settings.json").read_text())
        assert written == {"compaction": {"reserveTokens": 5000, "keepRecentTokens": 8}}


async def test_permissions_can_be_changed_at_work(tmp_path: Path) -> None:
    home = Home(tmp_path)
    write = {"toolCalls": [{"name": "write", "arguments": {"path": "x.txt", "content": "y"}}]}
    home.script(write, {"text": "no"}, write, {"text": "yes"})
    async with serving(home) as client:
        await client.request("prompt", {"message": "a", "wait": True})
        assert not (home.project / "x.txt").exists()
        await client.request("set_permissions", {"mode": "allow"})
        assert (await client.request("get_state"))["permissions"] == "allow"
        await client.request("prompt", {"message": "b", "wait": True})
        assert (home.project / "x.txt").read_text() == "y"


async def test_a_projects_settings_count_only_once_it_is_trusted(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (home.project / ".rpc-agent").mkdir()
    (home.project / ".rpc-agent" / "settings.json").write_text('{"followUpMode": "all"}')
    async with serving(home) as client:
        assert (await client.request("new_session"))["followUpMode"] == "one-at-a-time"
        assert await client.request("trust_project", {"cwd": str(home.project), "trusted": True}) == {}
        assert (await client.request("new_session"))["followUpMode"] == "all"
        await client.request("trust_project", {"cwd": str(home.project), "trusted": False})
        assert (await client.request("new_session"))["followUpMode"] == "one-at-a-time"


async def test_thinking_levels_are_those_of_the_model(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "a"}, reasoning=True)
    async with serving(home) as client:
        levels = (await client.request("get_available_thinking_levels"))["levels"]
        assert levels[:2] == ["off", "minimal"]
        assert (await client.request("set_thinking_level", {"level": "high"}))["level"] == "high"
        assert client.notifications[-1].params["level"] == "high"
        assert (await client.request("get_state"))["thinkingLevel"] == "high"
        await client.request("set_thinking_level", {"level": levels[-1]})
        assert (await client.request("cycle_thinking_level"))["level"] == "off"
        await client.request("set_model", {"provider": "offline", "modelId": "offline"})
        assert (await client.request("set_thinking_level", {"level": "high"}))["level"] == "off"
        assert (await client.request("cycle_thinking_level"))["level"] is None


async def test_cycle_model_goes_round(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "a"})
    async with serving(home) as client:
        models = (await client.request("get_available_models"))["models"]
        seen = [(await client.request("get_state"))["model"]["id"]]
        for _ in models:
            seen.append((await client.request("cycle_model"))["model"]["id"])
        assert (seen[0], sorted(seen[1:])) == (seen[-1], sorted(model["id"] for model in models))
