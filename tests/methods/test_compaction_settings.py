"""Settings of compaction as a session at work follows them: per model, in percent, in small windows, self-contained."""

import json
from pathlib import Path
from typing import Any

import pytest

from rpc_agent.rpc.errors import RpcError
from tests.support.agent_server import Home, serving
from tests.support.compactions import SUMMARY, chatty, talk

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("compaction", "window", "threshold"),
    [
        ({}, 100_000, 83_616),
        ({"reserveTokens": 1_000}, 100_000, 99_000),
        ({"reserveTokens": 1_000, "thresholdPercent": 60}, 100_000, 60_000),
        ({"reserveTokens": 1_000, "modelOverrides": {"scripted/m": {"reserveTokens": 5_000}}}, 100_000, 95_000),
        ({"reserveTokens": 1_000, "modelOverrides": {"scripted/other": {"reserveTokens": 5_000}}}, 100_000, 99_000),
        ({"thresholdPercent": 60, "modelOverrides": {"scripted/m": {"thresholdPercent": 70}}}, 100_000, 70_000),
        ({}, 8_000, 6_000),
    ],
)
async def test_the_threshold_is_that_of_the_model_and_its_window(
    tmp_path: Path, compaction: dict[str, Any], window: int, threshold: int
) -> None:
    home = Home(tmp_path)
    home.script({"text": "hello"}, contextWindow=window)
    home.settings(compaction=compaction)
    async with serving(home) as client:
        await talk(client, 1)
        assert (await client.request("get_context"))["thresholdTokens"] == threshold


async def test_the_threshold_is_0_where_none_is_known_and_where_nothing_is_compacted_by_itself(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "hello"}, contextWindow=0)
    async with serving(home) as client:
        assert (await client.request("get_context"))["thresholdTokens"] == 0
    home.script({"text": "hello"}, contextWindow=100_000)
    async with serving(home) as client:
        assert (await client.request("get_context"))["thresholdTokens"] > 0
        await client.request("set_auto_compaction", {"enabled": False})
        assert (await client.request("get_context"))["thresholdTokens"] == 0


async def test_a_bad_value_for_one_model_names_it_and_the_file(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(compaction={"modelOverrides": {"scripted/m": {"thresholdPercent": 0}}})
    async with serving(home) as client:
        with pytest.raises(RpcError) as refused:
            await client.request("new_session")
        assert "compaction.modelOverrides.scripted/m.thresholdPercent" in refused.value.message
        assert str(home.config / "settings.json") in refused.value.message


async def test_a_self_contained_compaction_is_the_context_without_anything_before_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home, SUMMARY)
    home.settings(compaction={"keepRecentTokens": 600, "selfContained": True})
    async with serving(home) as client:
        await talk(client)
        await client.request("compact")
        whole = (await client.request("get_messages"))["messages"]
        lines = Path((await client.request("get_state"))["sessionFile"]).read_text(encoding="utf-8").splitlines()
    # As somebody sends it on: the header, and all from the compaction on.
    at = next(n for n, line in enumerate(lines) if json.loads(line)["type"] == "compaction")
    header = {**json.loads(lines[0]), "id": "sent-on"}
    file = home.sessions / "sent-on.jsonl"
    file.write_text("\n".join([json.dumps(header), *lines[at:]]) + "\n", encoding="utf-8")
    async with serving(home) as client:
        await client.request("open_session", {"path": str(file)})
        assert (await client.request("get_messages"))["messages"] == whole
