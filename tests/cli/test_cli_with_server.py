"""The commands of a person against the real server, on the offline model."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rpc_agent.cli.demo import PACE_VARIABLE
from rpc_agent.providers.catalog import OFFLINE_PACE_VARIABLE

SECONDS = 60
on_posix = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "README.md").write_text("# Herons\n\n" + "Herons stand still for a long time.\n" * 40)
    return folder


def environment(folder: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_BASE_URL"))}
    places = {"RPC_AGENT_CONFIG_DIR": str(folder / "config"), "RPC_AGENT_SESSION_DIR": str(folder / "sessions")}
    return {**kept, **places, "TERM": "xterm", "PYTHONUTF8": "1", **more}


def rpc_agent(work: Path, *arguments: str, typed: str = "", **more: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "rpc_agent", *arguments],
        cwd=work,
        env=environment(work.parent, **more),
        input=typed,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )


def test_run_answers_on_stdout_and_tells_of_its_tools_on_stderr(work: Path) -> None:
    done = rpc_agent(work, "run", "What files are here?")
    assert (done.returncode, "README.md" in done.stdout) == (0, True), done.stderr
    assert "ls(" in done.stderr
    assert "ls(" not in done.stdout


@pytest.mark.parametrize("given", [["-"], []])
def test_run_reads_its_prompt_from_a_pipe(work: Path, given: list[str]) -> None:
    done = rpc_agent(work, "run", *given, "--model", "offline/offline", typed="Read README.md\n")
    assert (done.returncode, "Herons" in done.stdout) == (0, True), done.stderr


def test_run_goes_on_with_the_latest_session(work: Path) -> None:
    for arguments in ((), ("--continue",)):
        assert rpc_agent(work, "run", "What files are here?", *arguments).returncode == 0
    assert len(list((work.parent / "sessions").rglob("*.jsonl"))) == 1


def test_run_without_a_model_says_what_to_do(work: Path) -> None:
    done = rpc_agent(work, "run", "hello", "--no-offline")
    assert (done.returncode, done.stdout) == (1, "")
    assert "rpc-agent doctor" in done.stderr


def test_run_with_an_unknown_model_fails_with_a_word(work: Path) -> None:
    done = rpc_agent(work, "run", "hello", "--model", "nobody/nothing")
    assert (done.returncode, done.stdout) == (1, "")
    assert "nobody/nothing" in done.stderr
    assert "Traceback" not in done.stderr


def test_run_prints_raw_traffic_when_asked(work: Path) -> None:
    done = rpc_agent(work, "run", "What files are here?", "--json")
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    assert [message["method"] for message in messages if "id" in message and "method" in message] == [
        "initialize",
        "prompt",
        "shutdown",
    ]
    assert "agent_settled" in [message.get("method") for message in messages]


def test_chat_works_through_a_pipe(work: Path) -> None:
    done = rpc_agent(work, "chat", typed="What files are here?\n/tree\n/nonsense\n")
    assert done.returncode == 0, done.stderr
    assert "README.md" in done.stdout
    assert "user: What files are here?" in done.stdout
    assert "There is no command /nonsense" in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize("typed", [b"What \xff is here?\n/quit\n", None])
def test_chat_minds_neither_bytes_that_are_no_text_nor_a_closed_input(work: Path, typed: bytes | None) -> None:
    command = [sys.executable, "-m", "rpc_agent", "chat", "--model", "offline/offline"]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *command] if typed is None else command,
        cwd=work,
        env=environment(work.parent, PYTHONIOENCODING="utf-8:strict"),
        input=typed,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr
    assert typed is None or "What \ufffd is here?" in done.stdout.decode()


def test_doctor_finds_the_server_well(work: Path) -> None:
    done = rpc_agent(work, "doctor", OPENAI_API_KEY="sk-this-must-never-be-shown")
    assert done.returncode == 0, done.stdout
    assert "the server starts, and answered" in done.stdout
    assert "sk-this" not in done.stdout + done.stderr


def test_the_demo_shows_its_four_steps_in_a_pipe_of_80_columns(work: Path) -> None:
    done = rpc_agent(work, "demo")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert [line[:3] for line in lines if line[1:3] == "/4"] == ["1/4", "2/4", "3/4", "4/4"]
    assert "All 4 steps did what they say." in lines
    assert [line for line in lines if len(line) > 80] == []
    assert "\r" not in done.stdout
    assert "\x1b" not in done.stdout
    assert done.stderr == ""


def test_the_demo_prints_raw_traffic_and_nothing_else(work: Path) -> None:
    done = rpc_agent(work, "demo", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    messages: list[Any] = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    calls = [message["method"] for message in messages if "id" in message and "method" in message]
    assert [name for name in calls if name in ("compact", "abort_compaction", "navigate_tree")] == [
        "compact",
        "abort_compaction",
        "compact",
        "navigate_tree",
    ]
    ends = [m["params"]["status"] for m in messages if m.get("method") == "compaction_end"]
    assert ends == ["cancelled", "completed"]


def test_the_demo_paces_the_offline_model_by_the_variable_it_reads() -> None:
    assert PACE_VARIABLE == OFFLINE_PACE_VARIABLE


@on_posix
def test_the_demo_is_told_in_ascii_where_the_terminal_knows_no_more(work: Path) -> None:
    done = rpc_agent(work, "demo", PYTHONUTF8="0", PYTHONIOENCODING="ascii", LC_ALL="C")
    assert done.returncode == 0
    assert done.stdout.isascii()


@on_posix
def test_ctrl_c_stops_the_run_and_the_talk_goes_on_and_a_second_one_leaves(work: Path) -> None:
    from tests.support.terminal_program import TerminalProgram  # noqa: PLC0415 - not on Windows

    command = [sys.executable, "-m", "rpc_agent", "chat", "--model", "offline/offline"]
    env = environment(work.parent, **{OFFLINE_PACE_VARIABLE: "300", "NO_COLOR": "1"})
    with TerminalProgram(command, cwd=work, env=env) as chat:
        chat.wait_for("> ")
        chat.press("Read README.md\r")
        chat.wait_for("read(path=README.md) gave")
        chat.press("\x03")
        chat.wait_for("Stopped.")
        chat.wait_for("> ")
        chat.press("\x03")
        chat.wait_for("Ctrl-C again leaves.")
        chat.press("\x03")
        assert chat.wait_for_exit() == 0


@on_posix
def test_ctrl_c_ends_a_run_with_the_exit_code_that_shells_expect(work: Path) -> None:
    from tests.support.terminal_program import TerminalProgram  # noqa: PLC0415 - not on Windows

    command = [sys.executable, "-m", "rpc_agent", "run", "Read README.md", "--model", "offline/offline"]
    env = environment(work.parent, **{OFFLINE_PACE_VARIABLE: "500", "NO_COLOR": "1"})
    with TerminalProgram(command, cwd=work, env=env) as run:
        run.wait_for("read(")
        run.press("\x03")
        assert run.wait_for_exit() == 130
    assert "Traceback" not in run.shown


@on_posix
def test_a_reader_that_has_heard_enough_ends_the_program_without_a_traceback(work: Path) -> None:
    code = f'"{sys.executable}" -m rpc_agent demo --json | head -n 1'
    done = subprocess.run(
        ["sh", "-c", code],
        cwd=work,
        env=environment(work.parent),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (len(done.stdout.splitlines()), done.stderr) == (1, "")
