"""A session file that is removed, swapped or cut while it is open, and a folder that takes none: said, and survived.

A full disk is in test_durability_of_runs.py.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.agent_server import Home
from tests.support.serve_process import ServeProcess, serve_process
from tests.support.sessions import HEADER, raw_entry, session_bytes

pytestmark = pytest.mark.skipif(os.name != "posix", reason="an open file cannot be removed on Windows")

FAILED = ("error", "storageFailed")
OTHER = session_bytes(raw_entry("other", None, "another's"), header={**HEADER, "id": "another"})


def prompted(server: ServeProcess, text: str) -> tuple[str, str | None]:
    result = server.ask("prompt", message=text, wait=True)
    return result["stopReason"], result.get("error", {}).get("reason")


def swap(path: Path) -> None:
    beside = path.with_name("beside")
    beside.write_bytes(OTHER)
    os.replace(beside, path)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def make_a_folder_of_it(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("harm", [Path.unlink, swap, cut, make_a_folder_of_it])
def test_a_file_that_is_taken_away_is_said_and_the_conversation_can_be_saved(
    tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    home = Home(tmp_path)
    home.script({"text": "one"}, {"text": "two"}, {"text": "three"})
    with serve_process(home) as server:
        assert prompted(server, "first") == ("stop", None)
        path = Path(server.ask("get_state")["sessionFile"])
        before = server.ask("get_messages")["messages"]
        harm(path)
        left = content_of(path)
        assert prompted(server, "lost") == FAILED
        assert content_of(path) == left, "nothing is written into what is not ours"
        # All of it is in memory still, and goes on in a file of its own.
        copy = server.ask("clone_session")
        assert Path(copy["sessionFile"]) != path
        assert server.ask("get_messages")["messages"][: len(before)] == before
        assert prompted(server, "saved") == ("stop", None)
        assert server.finish() == 0
    assert "saved" in Path(copy["sessionFile"]).read_text()
    with serve_process(home) as server:
        assert server.ask("open_session", path=copy["sessionFile"])["warnings"] == []
        assert server.finish() == 0


def content_of(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def test_a_file_that_is_swapped_in_the_middle_of_a_run_ends_the_run(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"toolCalls": [{"name": "ls", "arguments": {}}]})
    script = {"replies": [{"toolCalls": [{"name": "ls", "arguments": {}}]}], "repeat": True}
    (home.config / "replies.json").write_text(json.dumps(script))
    with serve_process(home) as server:
        path = Path(server.ask("get_state")["sessionFile"])
        server.request(2, "prompt", {"message": "for ever", "wait": True})
        for _ in range(3):
            server.until(method="turn_end")
        swap(path)
        result = server.answer(2)
        assert (result["stopReason"], result["error"]["reason"]) == FAILED
        assert path.read_bytes() == OTHER
        assert server.ask("get_state")["isStreaming"] is False
        assert server.finish() == 0


def test_a_folder_that_takes_no_file_ends_the_run_and_not_the_server(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "one"}, {"text": "two"})
    if os.geteuid() == 0:
        # To root every folder is writable, save those of the kernel.
        sessions = "/proc/sessions"
    else:
        sessions = str(tmp_path / "sealed")
        Path(sessions).mkdir(mode=0o500)
    with serve_process(home, "--session-dir", sessions) as server:
        assert prompted(server, "hi") == FAILED
        server.ask("new_session", ephemeral=True)
        assert prompted(server, "in memory") == ("stop", None)
        assert server.finish() == 0


def test_a_session_folder_that_is_removed_is_made_again_for_the_next_session(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "one"}, {"text": "two"})
    with serve_process(home) as server:
        assert prompted(server, "first") == ("stop", None)
        path = Path(server.ask("get_state")["sessionFile"])
        for file in path.parent.iterdir():
            file.unlink()
        path.parent.rmdir()
        assert server.ask("list_sessions")["sessions"] == []
        server.ask("new_session")
        assert prompted(server, "second") == ("stop", None)
        assert len(server.ask("list_sessions")["sessions"]) == 1
        assert server.finish() == 0
