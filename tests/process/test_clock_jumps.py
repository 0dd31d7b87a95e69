"""The wall clock goes back or forward by years while a server runs: order, waits and locks do not follow it.

The clock that jumps is the C library's own, in the server's process alone; a compiler makes it for the test.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_server import Home
from tests.support.serve_process import serve_process

SOURCE = Path(__file__).parent.parent / "support" / "wall_clock.c"
YEAR = 365 * 86_400
JUMPS = [-30 * YEAR, -1, 1, 30 * YEAR]

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("cc") is None,
    reason="a library loaded before the C library's, and made here",
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("clock") / "wall_clock.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(made), str(SOURCE), "-ldl"], check=True)
    return made


Clock = Callable[[int], None]


@pytest.fixture
def clock(tmp_path: Path) -> Clock:
    file = tmp_path / "clock"
    file.write_text("0")

    def jump(seconds: int) -> None:
        # Whoever reads at this moment must find a number.
        beside = tmp_path / "clock.new"
        beside.write_text(str(seconds))
        os.replace(beside, file)

    return jump


def with_clock(library: Path, tmp_path: Path) -> dict[str, str]:
    return {"LD_PRELOAD": str(library), "WALL_CLOCK": str(tmp_path / "clock")}


def entries_in(home: Home) -> list[Any]:
    (file,) = home.sessions.rglob("*.jsonl")
    return [json.loads(line) for line in file.read_bytes().splitlines()]


def test_the_clock_of_the_server_jumps_indeed(tmp_path: Path, library: Path, clock: Clock) -> None:
    program = "import time, datetime; print(time.time(), datetime.datetime.now().year, time.monotonic())"
    clock(30 * YEAR)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **with_clock(library, tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, year, monotonic = done.stdout.split()
    assert float(seconds) - time.time() > 29 * YEAR
    assert int(year) - time.gmtime().tm_year in (29, 30)
    assert abs(float(monotonic) - time.monotonic()) < 60


def test_a_session_keeps_its_order_and_its_context_through_jumps(tmp_path: Path, library: Path, clock: Clock) -> None:
    home = Home(tmp_path / "home")
    home.script(
        *[{"text": f"Answer {n}. " + "word " * 400} for n in range(5)], summaries=[{"text": "## Goal\nGo on."}] * 4
    )
    home.settings(compaction={"keepRecentTokens": 600, "reserveTokens": 1000})
    with serve_process(home, **with_clock(library, tmp_path)) as server:
        for number, jump in enumerate([0, *JUMPS]):
            clock(jump)
            result = server.ask("prompt", message=f"Question {number}", wait=True)
            assert (result["stopReason"], result["text"][:9]) == ("stop", f"Answer {number}.")
            if jump == -30 * YEAR:
                # Stamped years before what it stands for; its place in the file is what counts.
                server.ask("compact")
        messages = server.ask("get_messages")["messages"]
        leaf = server.ask("get_state")["leafId"]
        assert server.finish() == 0
    years = {int(entry["timestamp"][:4]) for entry in entries_in(home)}
    assert max(years) - min(years) >= 59
    spoken = [
        m["content"] if isinstance(m["content"], str) else m["content"][0]["text"]
        for m in messages
        if m["role"] == "user"
    ]
    assert [text for text in spoken if text.startswith("Question")][-3:] == [f"Question {n}" for n in (2, 3, 4)]
    with serve_process(home) as server:
        state = server.ask("open_session", latest=True)
        assert (state["leafId"], state["warnings"]) == (leaf, [])
        assert server.ask("get_messages")["messages"] == messages
        assert server.finish() == 0


@pytest.mark.parametrize("years", [-1, 1], ids=["back", "on"])
def test_compactions_come_when_they_are_due_though_each_prompt_is_a_year_away(
    tmp_path: Path, library: Path, clock: Clock, years: int
) -> None:
    def entries_after(place: Path, step: int) -> list[str]:
        home = Home(place)
        home.script(*[{"text": "word " * 400}] * 12, summaries=[{"text": "## Goal\nGo on."}] * 40, contextWindow=5_000)
        home.settings(compaction={"keepRecentTokens": 600, "reserveTokens": 1000})
        with serve_process(home, **with_clock(library, tmp_path)) as server:
            for number in range(12):
                clock(number * step)
                assert server.ask("prompt", message="go on", wait=True)["stopReason"] == "stop"
            assert server.finish() == 0
        return [entry["type"] for entry in entries_in(home)]

    expected = entries_after(tmp_path / "still", 0)
    assert expected.count("compaction") >= 2
    assert entries_after(tmp_path / "jumping", years * YEAR) == expected


@pytest.mark.parametrize("jump", [-30 * YEAR, 30 * YEAR])
def test_a_retry_waits_as_long_as_it_said_whatever_the_clock_says(
    tmp_path: Path, library: Path, clock: Clock, jump: int
) -> None:
    home = Home(tmp_path / "home")
    home.script({"error": {"kind": "overloaded", "message": "busy"}}, {"text": "Now."})
    home.settings(retry={"baseDelayMs": 600})
    with serve_process(home, **with_clock(library, tmp_path)) as server:
        server.request(1, "prompt", {"message": "go", "wait": True})
        server.until(method="auto_retry_start")
        begun = time.monotonic()
        clock(jump)
        assert server.answer(1)["text"] == "Now."
        assert 0.4 < time.monotonic() - begun < 5
        assert server.finish() == 0


@pytest.mark.parametrize("jump", [-30 * YEAR, 30 * YEAR])
def test_time_limits_of_commands_and_runs_hold_whatever_the_clock_says(
    tmp_path: Path, library: Path, clock: Clock, jump: int
) -> None:
    home = Home(tmp_path / "home")
    home.script({"text": "never", "hang": True})
    with serve_process(home, **with_clock(library, tmp_path)) as server:
        server.request(1, "bash", {"command": "sleep 60", "timeout": 0.6})
        server.request(2, "prompt", {"message": "hang", "wait": True, "timeoutMs": 700})
        server.until(method="turn_start")
        begun = time.monotonic()
        clock(jump)
        results: dict[int, Any] = {}
        while len(results) < 2:
            message = server.receive()
            if "id" in message:
                results[message["id"]] = message["result"]
        assert (results[1]["exitCode"], results[2]["stopReason"]) == (None, "aborted")
        assert time.monotonic() - begun < 8
        assert server.finish() == 0


def test_a_lock_and_a_list_of_sessions_do_not_mind_a_clock_that_went_back(
    tmp_path: Path, library: Path, clock: Clock
) -> None:
    home = Home(tmp_path / "home")
    home.script({"text": "one"}, {"text": "two"})
    with serve_process(home, **with_clock(library, tmp_path)) as first, serve_process(home) as second:
        first.ask("prompt", message="here", wait=True)
        path = first.ask("get_state")["sessionFile"]
        clock(-30 * YEAR)
        second.request(1, "open_session", {"path": path})
        assert second.until(id=1)["error"]["data"]["reason"] == "sessionLocked"
        first.ask("new_session")
        first.ask("prompt", message="in the past", wait=True)
        listed = first.ask("list_sessions")["sessions"]
        assert {session["firstMessage"] for session in listed} == {"here", "in the past"}
        assert first.finish() == second.finish() == 0
