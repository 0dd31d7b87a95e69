"""Files that are open in the client: unsaved text wins, writes go through it, and bytes it cannot know stay as they are."""

from pathlib import Path
from typing import Any

import pytest

from rpc_agent.rpc.errors import RpcError
from tests.support.agent_server import CheckingClient, Home, serving
from tests.support.hooks import initialize

pytestmark = pytest.mark.anyio


class Editor:
    """Buffers by path; what is not among them it does not have."""

    def __init__(self, **buffers: str) -> None:
        self.buffers = buffers
        self.asked: list[tuple[str, str]] = []
        self.takes_writes = True

    def read(self, params: Any) -> Any:
        name = Path(params["path"]).name
        assert Path(params["path"]).is_absolute()
        self.asked.append(("read", name))
        if name not in self.buffers:
            raise RpcError(-32000, "not open")
        return {"content": self.buffers[name]}

    def write(self, params: Any) -> Any:
        name = Path(params["path"]).name
        self.asked.append(("write", name))
        if not self.takes_writes:
            raise RpcError(-32000, "read-only")
        self.buffers[name] = params["content"]
        return {}

    async def attach(self, client: CheckingClient, *, read: bool = True, write: bool = True) -> None:
        client.on_request["read_file"] = self.read
        client.on_request["write_file"] = self.write
        await initialize(client, fileSystem={"read": read, "write": write})


def calls(home: Home, *tools: tuple[str, dict[str, Any]]) -> None:
    home.settings(permissions={"mode": "allow"})
    home.script(*[{"toolCalls": [{"name": name, "arguments": args}]} for name, args in tools], {"text": "done"})


def edit(path: str, old: str, new: str) -> tuple[str, dict[str, Any]]:
    return "edit", {"path": path, "edits": [{"oldText": old, "newText": new}]}


async def run(client: CheckingClient) -> list[tuple[bool, str]]:
    await client.request("prompt", {"message": "go", "wait": True})
    ends = [n.params for n in client.notifications if n.method == "tool_execution_end"]
    return [(end["isError"], end["result"]["content"][0]["text"]) for end in ends]


async def test_unsaved_text_is_what_is_read(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (home.project / "a.txt").write_text("saved")
    calls(home, ("read", {"path": "a.txt"}), ("read", {"path": "new.txt"}), ("read", {"path": "b.txt"}))
    (home.project / "b.txt").write_text("only on disk")
    async with serving(home) as client:
        await Editor(**{"a.txt": "one\ntwo\n", "new.txt": "not saved yet"}).attach(client)
        assert await run(client) == [(False, "one\ntwo\n"), (False, "not saved yet"), (False, "only on disk")]


async def test_without_the_capability_nobody_is_asked(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (home.project / "a.txt").write_text("saved")
    calls(home, ("read", {"path": "a.txt"}), ("write", {"path": "b.txt", "content": "x"}), edit("b.txt", "x", "y"))
    editor = Editor(**{"a.txt": "unsaved"})
    async with serving(home) as client:
        await editor.attach(client, read=False, write=False)
        assert next(text for _, text in await run(client)) == "saved"
    assert (editor.asked, (home.project / "b.txt").read_text()) == ([], "y")


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n....", b"caf\xe9 au lait", b"\0binary", "wide".encode("utf-32")])
async def test_bytes_that_an_editor_cannot_know_are_the_disks(tmp_path: Path, data: bytes) -> None:
    home = Home(tmp_path)
    (home.project / "a.bin").write_bytes(data)
    calls(home, ("read", {"path": "a.bin"}))
    editor = Editor(**{"a.bin": "something else"})
    async with serving(home) as client:
        await editor.attach(client)
        assert "something else" not in (await run(client))[0][1]
    assert editor.asked == []


async def test_a_write_goes_through_the_editor_and_without_it_to_the_disk(tmp_path: Path) -> None:
    home = Home(tmp_path)
    calls(home, ("write", {"path": "sub/a.txt", "content": "héron"}), ("write", {"path": "b.txt", "content": "b"}))
    editor = Editor()
    async with serving(home) as client:
        await editor.attach(client)
        assert [is_error for is_error, _ in await run(client)] == [False, False]
    assert editor.buffers == {"a.txt": "héron", "b.txt": "b"}
    assert not (home.project / "b.txt").exists(), "the editor saves when its person wants to"
    editor.takes_writes = False
    calls(home, ("write", {"path": "sub/a.txt", "content": "héron"}))
    async with serving(home) as client:
        await editor.attach(client)
        assert (await run(client))[0][0] is False
    assert (home.project / "sub" / "a.txt").read_bytes() == "héron".encode()


async def test_an_edit_is_made_to_unsaved_text(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (home.project / "a.txt").write_text("one\n")
    calls(home, edit("a.txt", "two", "2"), edit("new.txt", "draft", "text"))
    editor = Editor(**{"a.txt": "one\ntwo\n", "new.txt": "a draft"})
    async with serving(home) as client:
        await editor.attach(client)
        assert [is_error for is_error, _ in await run(client)] == [False, False]
    assert editor.buffers == {"a.txt": "one\n2\n", "new.txt": "a text"}
    assert (home.project / "a.txt").read_text() == "one\n"


@pytest.mark.parametrize("takes_writes", [True, False])
async def test_unsaved_text_survives_an_edit_that_the_editor_does_not_take(tmp_path: Path, takes_writes: bool) -> None:
    home = Home(tmp_path)
    (home.project / "a.txt").write_bytes("één\r\n".encode("utf-16"))
    calls(home, edit("a.txt", "two", "2"))
    editor = Editor(**{"a.txt": "één\r\ntwo\r\n"})
    editor.takes_writes = False
    async with serving(home) as client:
        await editor.attach(client, write=takes_writes)
        assert (await run(client))[0][0] is False
    assert (home.project / "a.txt").read_bytes() == "één\r\n2\r\n".encode("utf-16")


async def test_line_ends_in_memory_are_no_change_and_bytes_outside_an_edit_stay(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (home.project / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\nthree\r\n")
    calls(home, edit("a.txt", "two", "2"))
    editor = Editor(**{"a.txt": "one\ntwo\nthree\n"})
    editor.takes_writes = False
    async with serving(home) as client:
        await editor.attach(client)
        assert (await run(client))[0][0] is False
    assert (home.project / "a.txt").read_bytes() == b"\xef\xbb\xbfone\r\n2\nthree\r\n"


@pytest.mark.parametrize("answer", ["text", {"content": 5}, {}, None])
async def test_nonsense_leaves_the_disk_in_charge(tmp_path: Path, answer: Any) -> None:
    home = Home(tmp_path)
    (home.project / "a.txt").write_text("saved")
    calls(home, ("read", {"path": "a.txt"}))
    async with serving(home) as client:
        await Editor().attach(client)
        client.on_request["read_file"] = lambda params: answer
        assert await run(client) == [(False, "saved")]


async def test_permissions_hold_for_files_of_an_editor_too(tmp_path: Path) -> None:
    home = Home(tmp_path)
    calls(home, ("write", {"path": "a.txt", "content": "x"}), ("read", {"path": str(home.config / "models.json")}))
    home.settings(permissions={"mode": "read-only"})
    editor = Editor(**{"models.json": "keys"})
    async with serving(home) as client:
        await editor.attach(client)
        assert [is_error for is_error, _ in await run(client)] == [True, True]
    assert editor.asked == []
