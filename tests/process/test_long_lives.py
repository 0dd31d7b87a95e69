"""A server that lives long and has much to do: many sessions at once, one after another, and one that never ends.

SOAK_TURNS is how many turns the long session has (`make soak`: 5,000); it prints what it measured.
"""

import json
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rpc_agent.session.replay import read_session
from tests.support.agent_server import Home
from tests.support.processes import resident_mebibytes
from tests.support.serve_process import ServeProcess, serve_process
from tests.support.sessions import raw_entry, write_session

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

TURNS = int(os.environ.get("SOAK_TURNS", "200"))
SESSIONS = 50
REPLY = "It is as the file says. " * 20
"""A tenth of what is kept of a context; a summary has to be made every dozen prompts."""
NOTES = "## Goal\nTo see the session through.\n## Next Steps\nGo on."


def forever(home: Home, *replies: Any, **model: Any) -> None:
    """A scripted model that begins anew when its replies are used up."""
    home.script(*replies, **model)
    script = {"replies": list(replies), "summaries": [{"text": NOTES}], "repeat": True}
    (home.config / "replies.json").write_text(json.dumps(script), encoding="utf-8")
    home.settings(permissions={"mode": "allow"})


def by_session(messages: Iterator[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for message in messages:
        if "method" in message:
            found.setdefault(message["params"]["sessionId"], []).append(message)
    return found


def test_fifty_sessions_at_once_all_settle_and_none_hears_of_another(tmp_path: Path) -> None:
    home = Home(tmp_path)
    look = {"toolCalls": [{"name": "bash", "arguments": {"command": "cat name.txt; sleep 0.2"}}]}
    forever(home, look, {"text": "Seen."})
    folders = {f"session-{number:02}": tmp_path / f"folder {number}" for number in range(SESSIONS)}
    for name, folder in folders.items():
        folder.mkdir()
        (folder / "name.txt").write_text(name)
    with serve_process(home) as server:
        sessions = dict(opened(server, folders))
        for number, session in enumerate(sessions):
            server.request(100 + number, "prompt", {"message": sessions[session], "sessionId": session, "wait": True})
        heard, results = until_answered(server, range(100, 100 + SESSIONS))
        memory = resident_mebibytes(server.process.pid)
        assert server.finish() == 0
    assert [result["stopReason"] for result in results.values()] == ["stop"] * SESSIONS
    of_sessions = by_session(iter(heard))
    assert of_sessions.keys() == sessions.keys()
    for session, notifications in of_sessions.items():
        assert names_in(notifications) == {sessions[session]}
        assert [n["params"]["seq"] for n in notifications] == list(
            range(first_seq(notifications), last_seq(notifications) + 1)
        )
        assert notifications[-1]["method"] == "agent_settled"
    files = sorted(home.sessions.rglob("*.jsonl"))
    assert sorted(only(names_in([file.read_text()])) for file in files) == sorted(folders)
    assert memory < 250, "fifty sessions, all at work"


def opened(server: ServeProcess, folders: dict[str, Path]) -> Iterator[tuple[str, str]]:
    for number, (name, folder) in enumerate(folders.items()):
        server.request(number, "new_session", {"cwd": str(folder)})
        yield server.answer(number)["sessionId"], name


def until_answered(server: ServeProcess, ids: range) -> tuple[list[Any], dict[int, Any]]:
    """Everything that comes until all of these requests are answered, and their results."""
    heard: list[Any] = []
    results: dict[int, Any] = {}
    while len(results) < len(ids):
        message = server.receive()
        heard.append(message)
        if message.get("id") in ids:
            results[message["id"]] = message["result"]
    return heard, results


def names_in(values: list[Any]) -> set[str]:
    """The sessions whose names stand somewhere in there."""
    return set(re.findall(r"session-\d\d", json.dumps(values)))


def only(names: set[str]) -> str:
    (name,) = names
    return name


def first_seq(notifications: list[Any]) -> int:
    return int(notifications[0]["params"]["seq"])


def last_seq(notifications: list[Any]) -> int:
    return int(notifications[-1]["params"]["seq"])


def test_what_a_closed_session_took_is_free_again(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "x"})
    entries = [raw_entry(f"e{n}", f"e{n - 1}" if n else None, "word " * 4000) for n in range(100)]
    path = write_session(tmp_path / "s.jsonl", *entries)
    with serve_process(home) as server:
        memory = []
        for number in range(0, 80, 2):
            server.request(number, "open_session", {"path": str(path)})
            server.answer(number)
            server.request(number + 1, "close_session")
            server.answer(number + 1)
            memory.append(resident_mebibytes(server.process.pid))
        assert server.finish() == 0
    # Two megabytes are opened forty times. What is left of a few may wait to be freed (5 MiB each), and not of all.
    assert memory[-1] - memory[15] < 60


def test_a_session_of_many_turns_and_compactions_stays_quick_and_can_be_replayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = Home(tmp_path)
    (home.project / "notes.txt").write_text("as it says")
    read = {"toolCalls": [{"name": "read", "arguments": {"path": "notes.txt"}}]}
    forever(home, read, {"text": REPLY}, contextWindow=8_000, maxTokens=1_000)
    home.settings(compaction={"reserveTokens": 1_000, "keepRecentTokens": 1_000})
    started = time.monotonic()
    with serve_process(home) as server:
        memory, seconds = [], []
        for number in range(TURNS // 2):
            begun = time.monotonic()
            server.request(number, "prompt", {"message": f"Question {number}? {REPLY}", "wait": True})
            assert server.answer(number)["stopReason"] == "stop"
            seconds.append(time.monotonic() - begun)
            memory.append(resident_mebibytes(server.process.pid))
        server.request(TURNS, "get_session_stats")
        stats = server.answer(TURNS)
        server.request(TURNS + 1, "get_messages")
        context = server.answer(TURNS + 1)["messages"]
        assert server.finish() == 0
    (file,) = home.sessions.rglob("*.jsonl")
    data = file.read_bytes()
    loaded = read_session(data, draw_id=lambda: "")
    assert (loaded.warnings, len(loaded.tree)) == ([], stats["entries"])
    assert stats["compactions"] >= TURNS // 40
    assert context_in_another_server(home, file) == context
    quarter = len(memory) // 4
    with capsys.disabled():
        print(
            f"\n{TURNS} turns, {stats['compactions']} compactions, {len(data) / 1e6:.1f} MB in {time.monotonic() - started:.0f} s: "
            f"memory {memory[quarter]:.0f} MiB after a quarter, {memory[-1]:.0f} at the end; a prompt took "
            f"{median(seconds[:quarter]) * 1000:.0f} ms in the first quarter, {median(seconds[-quarter:]) * 1000:.0f} in the last"
        )
    # The entries themselves are in memory; nothing else may add up.
    assert memory[-1] - memory[quarter] < 10 + 3 * len(data) / (1 << 20)
    assert median(seconds[-quarter:]) < 3 * median(seconds[:quarter]) + 0.02


def context_in_another_server(home: Home, file: Path) -> Any:
    with serve_process(home) as server:
        server.request(1, "open_session", {"path": str(file)})
        assert server.answer(1)["warnings"] == []
        server.request(2, "get_messages")
        return server.answer(2)["messages"]


def median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
