"""What other people of the machine may see: files that the server writes by itself are its owner's alone, whatever the
umask, and no socket of it listens."""

import contextlib
import os
import socket
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.agent_server import Home
from tests.support.chat_server import serve_in_thread, text_reply
from tests.support.serve_process import serve_process


def modes_below(*folders: Path) -> dict[str, int]:
    places = [place for folder in folders for place in (folder, *folder.rglob("*"))]
    return {str(place): stat.S_IMODE(place.lstat().st_mode) for place in places}


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
@pytest.mark.usefixtures("open_umask")
def test_what_the_server_writes_by_itself_is_its_owners_alone(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script(
        {"toolCalls": [{"name": "bash", "arguments": {"command": "seq 100000"}}]},
        *[{"text": f"answer {n} " + "word " * 400} for n in range(4)],
        summaries=[{"text": "## Goal\nsummary"}] * 4,
    )
    home.settings(permissions={"mode": "allow"}, compaction={"keepRecentTokens": 100})
    written, temporary = tmp_path / "written", tmp_path / "temporary"
    for folder in (written, temporary):
        folder.mkdir()
    options = ["--trace", str(written / "trace"), "--log-level", "debug", "--log-file", str(written / "log")]
    with serve_process(home, *options, TMPDIR=str(temporary)) as server:
        server.ask("prompt", message="go", wait=True)
        server.ask("prompt", message="go on " + "word " * 400, wait=True)
        server.ask("compact")
        server.ask("clone_session")
        files = modes_below(home.sessions, temporary)
        assert server.finish() == 0
    made = tmp_path / "new config"
    with serve_process(home, RPC_AGENT_CONFIG_DIR=str(made)) as server:
        server.ask("trust_project", cwd=str(home.project), trusted=False)
        assert server.finish() == 0
    files |= modes_below(home.sessions, temporary, written, made)
    assert [name for name in files if name.endswith(".lock")], "the locks were seen"
    assert [name for name in files if "rpc-agent-bash-" in name], "the whole output was seen"
    # We made these; and trust.json lies in a folder that nobody else may enter.
    theirs = {str(temporary), str(written), str(made / "trust.json")}
    wanted = {path: 0o700 if Path(path).is_dir() else 0o600 for path in files}
    assert {path: oct(mode) for path, mode in files.items() if path not in theirs and mode != wanted[path]} == {}


def listening(pid: int) -> list[str]:
    """The sockets of a process at which somebody could knock."""
    sockets = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        target = ""
        # The one that lists the folder is gone by then.
        with contextlib.suppress(FileNotFoundError):
            target = os.readlink(descriptor)
        if target.startswith("socket:["):
            sockets.add(target[len("socket:[") : -1])
    assert sockets, "the loop has a pair of them"
    found = []
    for table, inode_at, is_open in (
        # State 0A is LISTEN; a UDP socket takes from anybody in whatever state.
        *((name, 9, lambda fields: fields[3] == "0A") for name in ("tcp", "tcp6")),
        *((name, 9, lambda fields: True) for name in ("udp", "udp6")),
        ("unix", 6, lambda fields: int(fields[3], 16) & 0x10000),
    ):
        lines = Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]
        rows = [line.split() for line in lines]
        found += [f"{table} {row[1]}" for row in rows if row[inode_at] in sockets and is_open(row)]
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_nothing_of_the_server_listens(tmp_path: Path) -> None:
    with serve_in_thread([text_reply("hello")]) as service:
        home = Home(tmp_path)
        model = {"api": "openai-completions", "apiKey": "none", "models": [{"id": "m"}]}
        home.models({"mine": {**model, "baseUrl": service.base_url}})
        home.settings(defaultModel="mine/m", permissions={"mode": "allow"})
        with serve_process(home) as server:
            server.ask("prompt", message="go", wait=True)
            server.ask("get_available_models")
            assert listening(server.process.pid) == []
            assert server.finish() == 0
    with socket.create_server(("127.0.0.1", 0)):
        assert [each.partition(" ")[0] for each in listening(os.getpid())] == ["tcp"], "one would be seen"
