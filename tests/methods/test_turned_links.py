"""A link that is turned between the permission and the deed: nothing behind it is read, changed or made."""

import sys
from pathlib import Path
from typing import Any

import pytest

from rpc_agent.rpc.errors import RpcError
from tests.support.agent_server import Home, serving
from tests.support.hooks import initialize

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="links need rights there"),
]

CALLS: dict[str, dict[str, Any]] = {
    "write": {"path": "dir/a.txt", "content": "broken in"},
    "edit": {"path": "dir/a.txt", "edits": [{"oldText": "mine", "newText": "broken in"}]},
    "read": {"path": "dir/a.txt"},
}


@pytest.mark.parametrize("turned", ["the folder", "the file"])
@pytest.mark.parametrize(
    ("tool", "when"), [("write", "write_file"), ("edit", "read_file"), ("edit", "write_file"), ("read", "read_file")]
)
async def test_a_link_turned_behind_the_permission_leads_nowhere(
    tmp_path: Path, tool: str, when: str, turned: str
) -> None:
    """The moment in between is the one in which the client is asked about its open files."""
    home = Home(tmp_path)
    inside, outside = home.project / "dir", tmp_path / "outside"
    for folder, text in ((inside, "mine"), (outside, "mine and secret")):
        folder.mkdir()
        (folder / "a.txt").write_text(text)

    def turn(params: Any) -> Any:
        if turned == "the folder" and not inside.is_symlink():
            inside.rename(home.project / "kept")
            inside.symlink_to(outside)
        elif turned == "the file" and not (inside / "a.txt").is_symlink():
            (inside / "a.txt").unlink()
            (inside / "a.txt").symlink_to(outside / "a.txt")
        raise RpcError(-32000, "not open")

    home.script({"toolCalls": [{"name": tool, "arguments": CALLS[tool]}]}, {"text": "done"})
    home.settings(permissions={"mode": "workspace"})
    async with serving(home) as client:
        client.on_request[when] = turn
        await initialize(client, fileSystem={"read": when == "read_file", "write": when == "write_file"})
        await client.request("prompt", {"message": "go", "wait": True})
        (end,) = [n.params for n in client.notifications if n.method == "tool_execution_end"]
    assert end["isError"], end["result"]
    assert "secret" not in str(end["result"])
    assert [(path.name, path.read_text()) for path in outside.iterdir()] == [("a.txt", "mine and secret")]


@pytest.mark.parametrize("tool", ["write", "edit"])
async def test_a_file_outside_that_has_a_second_name_inside_is_not_changed(tmp_path: Path, tool: str) -> None:
    home = Home(tmp_path)
    (tmp_path / "outside").write_text("mine")
    (home.project / "dir").mkdir()
    (home.project / "dir" / "a.txt").hardlink_to(tmp_path / "outside")
    home.script({"toolCalls": [{"name": tool, "arguments": CALLS[tool]}]}, {"text": "done"})
    home.settings(permissions={"mode": "workspace"})
    async with serving(home) as client:
        await initialize(client)
        await client.request("prompt", {"message": "go", "wait": True})
    assert (home.project / "dir" / "a.txt").read_text() == "broken in"
    assert (tmp_path / "outside").read_text() == "mine"
