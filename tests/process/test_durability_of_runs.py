"""Real servers that are killed, run out of disk, meet a second writer: what was announced is in the file, always."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_server import Home
from tests.support.serve_process import ServeProcess, serve_process
from tests.support.sessions import HEADER, line, raw_entry, write_session

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals, limits and locks as POSIX has them")

TURN = {"text": "I look. " * 40, "toolCalls": [{"name": "ls", "arguments": {}}, {"name": "ls", "arguments": {}}]}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    (home.project / "notes.txt").write_text("x")
    return home


def busy(home: Home) -> None:
    """A model that calls tools for ever."""
    home.script(TURN)
    script = home.config / "replies.json"
    script.write_text(json.dumps({"replies": [TURN], "repeat": True}), encoding="utf-8")


def entries_in(path: Path) -> list[Any]:
    """The complete lines of the file behind its header; a torn one can only be the last."""
    *lines, rest = path.read_bytes().split(b"\n")
    entries = [json.loads(each) for each in lines[1:]]
    assert rest == b"" or not _is_json(rest), rest
    return entries


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def announced(messages: list[Any]) -> list[Any]:
    return [m["params"]["entry"] for m in messages if m.get("method") == "entry_appended"]


def heard(server: ServeProcess, count: int) -> list[Any]:
    """The next `count` messages."""
    return [server.receive() for _ in range(count)]


def rest_of(server: ServeProcess) -> list[Any]:
    """Everything that still comes out of a server that was killed."""
    messages = []
    while (message := server.receive()) is not None:
        messages.append(message)
    return messages


def reopened(server: ServeProcess, path: Path) -> tuple[list[Any], list[str]]:
    """The entries and warnings of a file that this server opens."""
    server.request(1, "open_session", {"path": str(path)})
    warnings = [warning["kind"] for warning in server.answer(1)["warnings"]]
    server.request(2, "get_entries")
    return server.answer(2)["entries"], warnings


def test_a_kill_at_any_moment_of_a_busy_run_loses_nothing_that_was_announced(home: Home, tmp_path: Path) -> None:
    busy(home)
    path = write_session(tmp_path / "s.jsonl", header={**HEADER, "cwd": str(home.project)})
    known: list[Any] = []
    for life in range(12):
        with serve_process(home) as server:
            entries, warnings = reopened(server, path)
            # Nothing that was announced is missing, and what a kill left half written is all that is reported.
            assert [entry for entry in known if entry not in entries] == []
            assert entries == entries_in(path)
            assert set(warnings) <= {"tornTail"}
            server.request(3, "prompt", {"message": f"life {life}"})
            messages = heard(server, 4 + life * life * 3)
            server.process.send_signal(signal.SIGKILL)
            known = [*entries, *announced(messages + rest_of(server))]
        assert [entry for entry in known if entry not in entries_in(path)] == []
    # The run was busy: turns ended, with both of their results on the disk.
    roles = [entry["message"]["role"] for entry in known if entry["type"] == "message"]
    assert roles.count("toolResult") > 24


def test_a_turn_whose_end_was_announced_is_whole_in_the_file(home: Home, tmp_path: Path) -> None:
    busy(home)
    path = write_session(tmp_path / "s.jsonl", header={**HEADER, "cwd": str(home.project)})
    with serve_process(home) as server:
        reopened(server, path)
        server.request(3, "prompt", {"message": "go"})
        ends = [server.until(method="turn_end")["params"] for _ in range(3)]
        server.process.send_signal(signal.SIGKILL)
        rest_of(server)
    stored = [entry["message"] for entry in entries_in(path) if entry["type"] == "message"]
    for end in ends:
        assert end["message"] in stored
        assert [result for result in end["toolResults"] if result not in stored] == []


def limit_files(server: ServeProcess, size: int) -> None:
    import resource  # noqa: PLC0415 - POSIX only

    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="prlimit is Linux")
def test_a_full_disk_ends_the_run_and_the_session_goes_on_once_there_is_room(home: Home) -> None:
    import resource  # noqa: PLC0415 - POSIX only

    busy(home)
    with serve_process(home) as server:
        server.request(1, "get_state")
        path = Path(server.answer(1)["sessionFile"])
        known: list[Any] = []
        # First not even the beginning fits, then the end comes at many bytes of many lines.
        for number, room in enumerate((100, 9_000, 9_001, 9_301, 10_700, 12_345, 20_000), start=2):
            limit_files(server, room)
            server.request(number, "prompt", {"message": f"prompt {number}", "wait": True})
            messages = []
            while (message := server.receive()).get("id") != number:
                messages.append(message)
            result = message["result"]
            assert (result["stopReason"], result["error"]) == ("error", {"code": -32019, "reason": "storageFailed"})
            assert messages[-1]["method"] == "agent_settled"
            if room == 100:
                assert not path.exists()
                continue
            # Cut back to whole lines, and only what is stored was ever announced.
            assert path.read_bytes().endswith(b"}\n")
            known += announced(messages)
            stored = entries_in(path)
            assert [entry for entry in known if entry not in stored] == []
        limit_files(server, resource.RLIM_INFINITY)
        server.request(50, "prompt", {"message": "room again", "wait": True, "maxTurns": 2})
        assert server.answer(50)["stopReason"] == "toolUse"
        server.request(51, "get_entries")
        entries = server.answer(51)["entries"]
        assert server.finish() == 0
    assert entries == entries_in(path)
    with serve_process(home) as server:
        assert reopened(server, path) == (entries, [])


def test_a_second_server_is_told_who_writes_and_may_read_or_fork(home: Home, tmp_path: Path) -> None:
    home.script({"text": "one"}, {"text": "two"})
    path = write_session(tmp_path / "s.jsonl", raw_entry("a1", None))
    with serve_process(home) as second:
        with serve_process(home) as first:
            reopened(first, path)
            second.request(1, "open_session", {"path": str(path)})
            refusal = second.until(id=1)["error"]
            assert (refusal["code"], refusal["data"]) == (
                -32012,
                {"reason": "sessionLocked", "pid": first.process.pid},
            )
            second.request(2, "open_session", {"path": str(path), "readOnly": True})
            assert second.answer(2)["readOnly"] is True
            second.request(3, "prompt", {"message": "no"})
            assert second.until(id=3)["error"]["data"]["reason"] == "sessionReadOnly"
            second.request(4, "clone_session")
            clone = second.answer(4)
            assert (clone["readOnly"], clone["messageCount"]) == (False, 1)
            second.request(5, "prompt", {"message": "in the copy", "wait": True})
            assert second.answer(5)["stopReason"] == "stop"
            first.request(3, "prompt", {"message": "in the file", "wait": True})
            assert first.answer(3)["stopReason"] == "stop"
            first.process.send_signal(signal.SIGKILL)
            rest_of(first)
        texts = [entry["message"]["content"] for entry in entries_in(path) if entry["message"]["role"] == "user"]
        assert texts == ["x", "in the file"]
        # The lock of the dead is free.
        with serve_process(home) as third:
            assert reopened(third, path) == (entries_in(path), [])


def test_what_another_program_appends_is_read_and_our_branch_goes_on(home: Home, tmp_path: Path) -> None:
    home.script({"text": "one"}, {"text": "two"})
    path = write_session(tmp_path / "s.jsonl", raw_entry("a1", None))
    with serve_process(home) as server:
        reopened(server, path)
        foreign = raw_entry("f1", "a1", "by another hand")
        with path.open("ab") as file:
            # A whole entry, and one whose writer was stopped in the middle.
            file.write(line(foreign) + line(raw_entry("f2", "f1"))[:40])
        server.request(3, "prompt", {"message": "go on", "wait": True})
        assert server.answer(3)["stopReason"] == "stop"
        server.request(4, "get_entries")
        entries = server.answer(4)["entries"]
        server.request(5, "open_session", {"path": str(path)})
        kinds = [warning["kind"] for warning in server.answer(5)["warnings"]]
        assert server.finish() == 0
    assert ([entry["id"] for entry in entries[:2]], entries[2]["parentId"]) == (["a1", "f1"], "a1")
    assert kinds.count("foreignAppend") == 1
    # On a line of its own, for readers that do not look for entries behind a torn one.
    assert b"\n" + line(entries[2]) in path.read_bytes()
    with serve_process(home) as server:
        again, _ = reopened(server, path)
    assert again == entries
