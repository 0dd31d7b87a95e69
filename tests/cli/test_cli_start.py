"""The way in: which command runs, what a wrong one is told, and how little is imported before serve."""

import subprocess
import sys
from pathlib import Path

import pytest

from rpc_agent import __version__
from rpc_agent.__main__ import main
from rpc_agent.cli.option_values import TOOLS
from rpc_agent.tools.builtin import builtin_tools

SECONDS = 30


def start(*arguments: str, program: str | None = None) -> "subprocess.CompletedProcess[str]":
    command = (
        [sys.executable, "-c", program, *arguments] if program else [sys.executable, "-m", "rpc_agent", *arguments]
    )
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert (main(["--version"]), capsys.readouterr().out) == (0, f"rpc-agent {__version__}\n")


def test_help_names_every_command_that_has_a_module(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    told = capsys.readouterr().out
    folder = Path(__file__).resolve().parents[2] / "rpc_agent" / "cli"
    commands = {path.stem for path in folder.glob("*.py") if "\ndef main(" in path.read_text(encoding="utf-8")}
    assert commands, folder
    assert [command for command in sorted(commands) if f"\n  {command} " not in told] == []


def test_an_unknown_command_is_a_usage_error_with_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chatt"]) == 2
    assert capsys.readouterr().err == "rpc-agent: there is no command 'chatt'. Did you mean 'chat'?\n"


def test_an_unknown_command_like_no_other_points_to_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["xyzzy"]) == 2
    assert "rpc-agent --help" in capsys.readouterr().err


def test_a_question_in_the_place_of_a_command_points_to_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["What files are here?"]) == 2
    assert capsys.readouterr().err.endswith('To ask one thing: rpc-agent run "..."\n')


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")
@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        ([], 0, "usage: rpc-agent"),
        (["--model", "a/b"], 2, "serve --model a/b"),
        (["run"], 2, "what to ask is missing"),
    ],
)
def test_at_a_terminal_without_a_command_it_explains_itself(arguments: list[str], code: int, told: str) -> None:
    import pty  # noqa: PLC0415 - not on Windows

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "rpc_agent", *arguments]
    with open(ours, "rb", buffering=0), open(theirs, "rb", buffering=0) as terminal:
        done = subprocess.run(command, stdin=terminal, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (done.returncode, told in done.stdout + done.stderr) == (code, True)


@pytest.mark.parametrize("command", ["run", "chat", "demo", "doctor", "schema"])
def test_each_command_explains_its_options(command: str) -> None:
    done = start(command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: rpc-agent {command}")


@pytest.mark.parametrize("arguments", [["run"], ["run", "a", "b"], ["demo", "--jsn"], ["schema", "--format", "yaml"]])
def test_a_wrong_command_line_exits_with_two(arguments: list[str]) -> None:
    done = start(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"Try: rpc-agent {arguments[0]} --help" in done.stderr


@pytest.mark.parametrize("arguments", [["run", "-"], ["run"], ["run", ""]])
def test_an_empty_prompt_is_refused_before_a_server_is_started(arguments: list[str]) -> None:
    done = start(*arguments)
    assert done.returncode == 2
    assert "the prompt is empty" in done.stderr


def test_tools_may_be_named_and_one_that_is_none_is_refused_with_those_there_are() -> None:
    assert [tool.spec.name for tool in builtin_tools()] == list(TOOLS)
    done = start("serve", "--tools", "read,nope")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[0] == (
        "rpc-agent serve: --tools: there is no tool 'nope'; there are read, write, edit, bash, grep, find, ls"
    )


def test_the_way_to_serve_imports_nothing_that_costs_time() -> None:
    program = (
        "import sys; import rpc_agent.__main__; "
        "print([m for m in ('argparse', 'asyncio', 'difflib', 'pydantic', 'httpx', 'anyio', 'json') if m in sys.modules])"
    )
    assert start(program=program).stdout == "[]\n"
