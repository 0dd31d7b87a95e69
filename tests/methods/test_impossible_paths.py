"""Paths that no file can have, in a call of the model: the call fails, the run goes on."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_server import Home, serving

pytestmark = pytest.mark.anyio

IMPOSSIBLE = {
    "a NUL": ("a\0b", "The path holds a NUL character"),
    "too long": ("x" * 5000, "File name too long"),
    "too deep": ("x/" * 5000, "File name too long"),
    "the home of nobody": ("~nobody/x", "~nobody"),
}


async def answer(home: Home, name: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """How the run ended, and the notification of what the call came to."""
    home.script({"toolCalls": [{"name": name, "arguments": arguments}]}, {"text": "done"})
    home.settings(permissions={"mode": "workspace"})
    async with serving(home) as client:
        ended = await client.request("prompt", {"message": "go", "wait": True})
        (call,) = [dict(n.params) for n in client.notifications if n.method == "tool_execution_end"]
    return f"{ended['stopReason']}: {ended['text']}", call


@pytest.mark.skipif(sys.platform == "win32", reason="its own limits")
@pytest.mark.parametrize("tool", ["read", "ls", "find", "grep"])
@pytest.mark.parametrize("kind", IMPOSSIBLE)
async def test_an_impossible_path_is_an_error_of_its_call_alone(tmp_path: Path, kind: str, tool: str) -> None:
    path, said = IMPOSSIBLE[kind]
    pattern = {"pattern": "a"} if tool in ("find", "grep") else {}
    ended, call = await answer(Home(tmp_path), tool, {"path": path, **pattern})
    assert (ended, call["isError"]) == ("stop: done", True)
    assert said in call["result"]["content"][0]["text"]


async def test_the_home_of_another_is_a_name_in_the_working_directory_for_gate_and_tool_alike(tmp_path: Path) -> None:
    home = Home(tmp_path)
    ended, call = await answer(home, "write", {"path": "~root/x", "content": "y"})
    assert (ended, call["isError"]) == ("stop: done", False)
    assert (home.project / "~root" / "x").read_text() == "y"


async def test_the_users_home_is_the_one_of_the_servers_environment(tmp_path: Path) -> None:
    home = Home(tmp_path / "work")
    home.root = home.project
    ended, call = await answer(home, "write", {"path": "~/x", "content": "y"})
    assert (ended, call["isError"]) == ("stop: done", False)
    assert (home.project / "x").read_text() == "y"
