"""export_session: a session for people and for other programs."""

import json
import sys
from pathlib import Path

import pytest

from rpc_agent.rpc.errors import RpcError
from tests.support.agent_server import CheckingClient, Home, serving

pytestmark = pytest.mark.anyio


async def talk(client: CheckingClient) -> None:
    await client.request("prompt", {"message": "<script>alert(1)</script>", "wait": True})


async def test_html_is_one_file_in_which_everything_is_escaped(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "An answer & more."})
    async with serving(home) as client:
        await talk(client)
        written = await client.request("export_session", {"format": "html", "outputPath": "out.html"})
        page = Path(written["path"]).read_text()
        assert Path(written["path"]) == home.project.resolve() / "out.html"
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
        assert "An answer &amp; more." in page


async def test_markdown_comes_as_a_text_and_jsonl_is_the_file_itself(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "An answer."})
    async with serving(home) as client:
        await talk(client)
        assert "An answer." in (await client.request("export_session", {"format": "markdown"}))["text"]
        lines = (await client.request("export_session", {"format": "jsonl"}))["text"]
        file = Path((await client.request("get_state"))["sessionFile"])
        assert lines == file.read_text()
        assert json.loads(lines.splitlines()[0])["type"] == "session"


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be taken away")
async def test_only_jsonl_reads_the_file_again(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "An answer."})
    async with serving(home) as client:
        await talk(client)
        Path((await client.request("get_state"))["sessionFile"]).unlink()
        assert "An answer." in (await client.request("export_session", {"format": "markdown"}))["text"]
        with pytest.raises(RpcError) as refused:
            await client.request("export_session", {"format": "jsonl"})
        assert refused.value.code == -32019


async def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "An answer."})
    async with serving(home) as client:
        await talk(client)
        with pytest.raises(RpcError) as refused:
            await client.request("export_session", {"format": "html", "outputPath": "no/such/folder/x.html"})
        assert (refused.value.code, (refused.value.data or {})["path"].endswith("x.html")) == (-32019, True)
