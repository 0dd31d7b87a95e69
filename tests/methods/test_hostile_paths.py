"""Paths that a client or a session file names: devices, pipes, what belongs to others, and folders claimed as one's own."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from rpc_agent.rpc.errors import RpcError
from tests.support.agent_server import PATIENCE, CheckingClient, Home, serving
from tests.support.hooks import initialize

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="devices, pipes and links of POSIX"),
]


def session_file(path: Path, **header: Any) -> Path:
    head = {
        "type": "session",
        "version": 3,
        "id": f"id-{path.stem}",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "cwd": "/",
    }
    message = {"role": "user", "content": "hello", "timestamp": 1}
    entry = {"type": "message", "id": "aaaaaaaa", "parentId": None, "timestamp": head["timestamp"], "message": message}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in ({**head, **header}, entry)))
    return path


def odd_files(root: Path) -> dict[str, str]:
    os.mkfifo(root / "pipe.jsonl")
    (root / "link.jsonl").symlink_to("/dev/zero")
    (root / "loop.jsonl").symlink_to("loop.jsonl")
    (root / "folder.jsonl").mkdir()
    (root / "other.jsonl").write_text("precious\n")
    names = ("pipe", "link", "loop", "folder", "other")
    return {
        **{name: str(root / f"{name}.jsonl") for name in names},
        "device": "/dev/zero",
        "system": "/proc/self/environ",
    }


async def outcome(client: CheckingClient, method: str, params: Any) -> int | str:
    """The code of the refusal."""
    with anyio.fail_after(PATIENCE):
        try:
            await client.request(method, params)
        except RpcError as error:
            return error.code
    return "done"


async def test_no_device_pipe_or_file_of_others_is_opened_or_deleted_as_a_session(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.sessions.mkdir()
    outside, inside = odd_files(tmp_path), odd_files(home.sessions)
    async with serving(home) as client:
        for read_only in (True, False):
            found = {
                n: await outcome(client, "open_session", {"path": p, "readOnly": read_only}) for n, p in outside.items()
            }
            assert found == {**dict.fromkeys(outside, -32013), "loop": -32602}
        found = {name: await outcome(client, "delete_session", {"path": path}) for name, path in outside.items()}
        assert found == dict.fromkeys(outside, -32602)
        found = {name: await outcome(client, "delete_session", {"path": path}) for name, path in inside.items()}
        links_out = {"link": -32602, "loop": -32602, "device": -32602, "system": -32602}
        assert found == {**links_out, "pipe": -32010, "folder": -32010, "other": -32013}
        assert (await client.request("list_sessions", {"all": True}))["sessions"] == []
    assert (tmp_path / "other.jsonl").read_text() == (home.sessions / "other.jsonl").read_text() == "precious\n"


@pytest.mark.parametrize("way", ["..", "link to a file", "link to a folder", "another case", "hard link"])
async def test_a_session_outside_is_not_deleted_by_any_way_in(tmp_path: Path, way: str) -> None:
    home = Home(tmp_path)
    home.sessions.mkdir()
    outside = session_file(tmp_path / "outside" / "a.jsonl")
    path = {
        "..": home.sessions / ".." / "outside" / "a.jsonl",
        "link to a file": home.sessions / "a.jsonl",
        "link to a folder": home.sessions / "folder" / "a.jsonl",
        "another case": Path(str(home.sessions).upper()) / "a.jsonl",
        "hard link": home.sessions / "a.jsonl",
    }[way]
    match way:
        case "link to a file":
            path.symlink_to(outside)
        case "link to a folder":
            path.parent.symlink_to(outside.parent)
        case "hard link":
            path.hardlink_to(outside)
        case _:
            pass
    async with serving(home) as client:
        # A hard link is a file of its own: its name goes, and what it named stays.
        assert await outcome(client, "delete_session", {"path": str(path)}) == (
            "done" if way == "hard link" else -32602
        )
    assert outside.exists()


async def test_a_page_takes_the_place_of_no_session_and_no_configuration(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "an answer"})
    elsewhere = session_file(tmp_path / "elsewhere.jsonl", cwd=str(home.project))
    (tmp_path / "link.html").symlink_to(elsewhere)
    async with serving(home) as client:
        await client.request("prompt", {"message": "hi", "wait": True})
        own = (await client.request("get_state"))["sessionFile"]
        await client.request("open_session", {"path": str(elsewhere)})
        before = {path: path.read_bytes() for path in (Path(own), elsewhere, home.config / "settings.json")}
        for place in (*before, home.sessions / "new.html", home.config / "trust.json", tmp_path / "link.html"):
            params = {"format": "html", "outputPath": str(place)}
            assert await outcome(client, "export_session", params) == -32602, place
        for odd in ("/dev/full", "/proc/self/mem", str(tmp_path)):
            assert await outcome(client, "export_session", {"format": "html", "outputPath": odd}) == -32019
    assert {path: path.read_bytes() for path in before} == before
    assert not (home.config / "trust.json").exists()


@pytest.mark.parametrize("claimed", ["/", "above the project", "the config's parent"])
async def test_a_foreign_file_that_claims_a_workspace_is_asked_for_each_edit(tmp_path: Path, claimed: str) -> None:
    home = Home(tmp_path)
    cwd = {"/": "/", "above the project": str(tmp_path), "the config's parent": str(home.config.parent)}[claimed]
    file = session_file(home.project / "evil.jsonl", cwd=cwd)
    victim = tmp_path / "victim"
    home.script(
        *[{"toolCalls": [{"name": "write", "arguments": {"path": str(victim), "content": "x"}}]}, {"text": "ok"}] * 2
    )
    home.settings(permissions={"mode": "workspace"})
    async with serving(home) as client:
        await initialize(client)
        state = await client.request("open_session", {"path": str(file)})
        assert (state["cwd"], state["permissions"]) == (cwd, "ask")
        await client.request("prompt", {"message": "go", "wait": True})
        assert not victim.exists()
        await client.request("close_session")
        # The person's own word for the folder is another matter.
        state = await client.request("open_session", {"path": str(file), "cwd": cwd})
        assert state["permissions"] == "workspace"
        await client.request("prompt", {"message": "go", "wait": True})
        assert victim.exists()


async def test_a_session_of_ours_keeps_its_workspace_and_so_does_one_of_this_folder(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(permissions={"mode": "workspace"})
    (tmp_path / "second").mkdir()
    ours = session_file(home.sessions / "--x--" / "a.jsonl", cwd=str(tmp_path / "second"))
    here = session_file(tmp_path / "b.jsonl", cwd=str(home.project))
    async with serving(home) as client:
        for file in (ours, here):
            assert (await client.request("open_session", {"path": str(file)}))["permissions"] == "workspace"


async def test_the_parent_that_a_session_names_is_never_opened(tmp_path: Path) -> None:
    home = Home(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    home.script({"text": "ok"})
    file = session_file(
        home.sessions / "--x--" / "a.jsonl", parentSession=str(tmp_path / "pipe"), cwd=str(home.project)
    )
    async with serving(home) as client:
        await client.request("open_session", {"path": str(file)})
        await client.request("prompt", {"message": "hi", "wait": True})
        for method in ("get_tree", "get_session_stats", "list_sessions", "clone_session"):
            assert await outcome(client, method, {}) == "done"
        assert await outcome(client, "export_session", {"format": "html"}) == "done"
