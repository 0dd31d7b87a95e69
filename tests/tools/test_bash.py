import json
import os
import sys
import time
from pathlib import Path

import anyio
import pytest

from rpc_agent.conversation.blocks import blocks_text
from rpc_agent.tools.base import ToolResult, error_result, text_result
from rpc_agent.tools.command import CommandNotStarted, run_command
from rpc_agent.tools.failure import ToolFailure
from tests.support.processes import living, needs_proc, new_tag
from tests.support.tools import Workbench

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="bash and its signals")]

CASES = Path(__file__).parent.parent / "golden" / "tools"
RAN = {"exitCode": 0, "timedOut": False, "truncated": False}


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    for name in ("tmp", "work"):
        (tmp_path / name).mkdir()
    # Output files go where the test can count them.
    return Workbench(tmp_path / "work", environment={**os.environ, "TMPDIR": str(tmp_path / "tmp")})


def output_files(bench: Workbench) -> list[Path]:
    return sorted((bench.cwd.parent / "tmp").iterdir())


async def test_case_a_background_child_does_not_hold_the_answer(bench: Workbench):
    case = json.loads((CASES / "bash_background.json").read_bytes())
    with anyio.fail_after(5):
        assert await bench.run("bash", **case) == text_result("hi\n", details=RAN)


async def test_output_and_errors_come_together_from_the_working_directory(bench: Workbench):
    with anyio.fail_after(10):
        result = await bench.run("bash", command="echo out; echo err >&2; echo again; pwd")
    assert result == text_result(f"out\nerr\nagain\n{bench.cwd}\n", details=RAN)
    assert output_files(bench) == []


async def test_a_command_that_begins_like_an_option_is_a_command_all_the_same(bench: Workbench):
    with anyio.fail_after(10):
        for command in ("--version", "-n", "+x"):
            assert (await bench.run("bash", command=command)).details == {**RAN, "exitCode": 127}


async def test_a_failing_command_is_an_error_with_its_exit_code(bench: Workbench):
    with anyio.fail_after(10):
        result = await bench.run("bash", command="echo no; exit 3")
    assert result == error_result("no\n\n[Exit code 3]", details={**RAN, "exitCode": 3})


async def test_a_silent_command_says_something_all_the_same(bench: Workbench):
    with anyio.fail_after(10):
        assert await bench.run("bash", command="true") == text_result("(no output)", details=RAN)


async def test_who_reads_stdin_gets_nothing(bench: Workbench):
    with anyio.fail_after(10):
        assert await bench.text("bash", command="cat; read x || echo empty") == "empty\n"


async def test_the_environment_is_exactly_the_one_given(bench: Workbench):
    bench.environment = {"PATH": os.environ["PATH"], "ONLY": "this"}
    with anyio.fail_after(10):
        names = (await bench.text("bash", command="env -0 | cut -z -d= -f1 | tr '\\0' '\\n'")).split()
    assert sorted(set(names) - {"PWD", "SHLVL", "_", "OLDPWD", "RPC_AGENT_PROCESS_TREE"}) == ["ONLY", "PATH"]


@needs_proc
async def test_a_command_that_ignores_every_request_is_killed_at_its_timeout(bench: Workbench):
    tag = new_tag()
    command = f"trap '' TERM INT HUP; echo begun; setsid {sys.executable} -c 'input()' {tag} < <(sleep 600) & sleep 600; sleep 600"
    with anyio.fail_after(15):
        result = await bench.run("bash", command=command, timeout=0.5)
    note = "[Stopped: the command took longer than the 0.5 s it was given. A larger timeout lets it finish.]"
    assert result == error_result(f"begun\n\n{note}", details={"exitCode": None, "timedOut": True, "truncated": False})
    assert living(tag) == []


@needs_proc
async def test_cancelling_a_call_kills_the_tree_and_leaves_no_file(bench: Workbench):
    tag = new_tag()
    shown = anyio.Event()
    bench.update = lambda partial: shown.set()
    command = f"seq 100000; setsid {sys.executable} -c 'import time; time.sleep(600)' {tag} & wait"
    with anyio.fail_after(15):
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: bench.run("bash", command=command))
            await shown.wait()
            group.cancel_scope.cancel()
    assert living(tag) == []
    assert output_files(bench) == []


@needs_proc
async def test_nothing_that_was_put_into_the_background_outlives_the_command(bench: Workbench):
    tag = new_tag()
    command = f"(setsid {sys.executable} -c 'import time; time.sleep(600)' {tag} &) ; echo done"
    with anyio.fail_after(15):
        assert await bench.text("bash", command=command) == "done\n"
    assert living(tag) == []


async def test_what_a_child_writes_right_after_the_shell_is_not_lost(bench: Workbench):
    with anyio.fail_after(10):
        assert await bench.text("bash", command="exec > >(sleep 0.1; sed s/^/x/); echo late") == "xlate\n"


async def test_a_child_that_never_stops_writing_does_not_hold_the_answer(bench: Workbench):
    before = time.monotonic()
    with anyio.fail_after(15):
        await bench.run("bash", command="(while :; do echo x; sleep 0.05; done) & echo hi")
    assert time.monotonic() - before < 5


async def test_of_long_output_the_end_is_shown_and_all_of_it_is_in_a_file(bench: Workbench):
    with anyio.fail_after(20):
        result = await bench.run("bash", command="seq 3000")
    [file] = output_files(bench)
    lines = "".join(f"{n}\n" for n in range(1001, 3001))
    note = f"[Cut: this is the last 2000 of 3000 lines, 13.6 KiB; all of it is in {file}]"
    details = {"exitCode": 0, "timedOut": False, "truncated": True, "fullOutputPath": str(file)}
    assert result == text_result(f"{lines}\n{note}", details=details)
    assert file.read_text() == "".join(f"{n}\n" for n in range(1, 3001))
    assert file.stat().st_mode & 0o777 == 0o600


async def test_one_giant_line_is_cut_inside(bench: Workbench):
    with anyio.fail_after(20):
        text = await bench.text("bash", command="head -c 300000 /dev/zero | tr '\\0' x")
    assert text.startswith("x" * 51200 + "\n\n[Cut: this is the end of line 1 of 1 lines, 293.0 KiB; all of it is in ")


async def test_a_flood_is_survived_in_bounded_memory(bench: Workbench):
    partials: list[ToolResult] = []
    bench.update = partials.append
    with anyio.fail_after(30):
        await bench.run("bash", command="yes", timeout=1)
    assert 1 <= len(partials) <= 30
    assert all(len(blocks_text(partial.content)) <= 51200 for partial in partials)


async def test_binary_output_and_colours_become_plain_text(bench: Workbench):
    with anyio.fail_after(10):
        text = await bench.text("bash", command=r"printf 'a\0b\xff\xc3\xa9\033[31mred\033[0m\033]0;title\007\r\n'")
    assert text == "ab\ufffdéred\n"


async def test_output_is_shown_while_the_command_runs(bench: Workbench):
    shown: list[str] = []
    go = bench.cwd / "go"

    def update(partial: ToolResult) -> None:
        shown.append(blocks_text(partial.content))
        go.touch()

    bench.update = update
    with anyio.fail_after(15):
        # The command ends only after its first line was shown.
        text = await bench.text("bash", command="echo one; until [ -e go ]; do sleep 0.05; done; echo two")
    assert text == "one\ntwo\n"
    assert shown[0] == "one\n"
    assert shown[-1] == "one\ntwo\n"


async def test_many_commands_at_once_keep_their_outputs_apart(bench: Workbench):
    results: dict[int, str] = {}

    async def one(number: int) -> None:
        results[number] = await bench.text("bash", command=f"sleep 0.1; echo {number}")

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(one, number)
    assert results == {number: f"{number}\n" for number in range(20)}


async def test_a_command_that_cannot_be_started_is_an_error(bench: Workbench, tmp_path: Path):
    assert "NUL" in await bench.error("bash", command="echo \0")
    assert "U+D800" in await bench.error("bash", command="echo \ud800")
    assert "Argument list too long" in await bench.error("bash", command=": " + "x" * 3_000_000)
    bench.cwd = tmp_path / "missing"
    assert "missing: No such file or directory" in await bench.error("bash", command="true")


async def test_what_kept_a_command_from_starting_is_named(tmp_path: Path):
    (tmp_path / "file").touch()
    faults = {}
    for name, command, cwd, shell in (
        ("a NUL", "echo \0", tmp_path, None),
        ("half a character", "echo \ud800", tmp_path, None),
        ("too long", ": " + "x" * 3_000_000, tmp_path, None),
        ("no folder", "true", tmp_path / "missing", None),
        ("a file for a folder", "true", tmp_path / "file", None),
        ("no shell", "true", tmp_path, str(tmp_path / "no-shell")),
        ("a NUL in the shell", "true", tmp_path, "/bin/\0sh"),
    ):
        with pytest.raises(CommandNotStarted) as refusal:
            await run_command(command, cwd=cwd, environment={}, shell=shell)
        faults[name] = refusal.value.fault
    assert faults == {
        "a NUL": "command",
        "half a character": "command",
        "too long": "command",
        "no folder": "cwd",
        "a file for a folder": "cwd",
        "no shell": "shell.path",
        "a NUL in the shell": "shell.path",
    }


async def test_another_shell_may_run_the_commands(tmp_path: Path):
    outcome = await run_command("echo $0", cwd=tmp_path, environment={}, shell="/bin/sh")
    assert (outcome.output, outcome.exit_code) == ("/bin/sh\n", 0)
    with pytest.raises(ToolFailure, match="could not be started: /no/shell: No such file"):
        await run_command("true", cwd=tmp_path, environment={}, shell="/no/shell")


async def test_a_command_can_be_stopped_from_outside_and_says_what_it_wrote(tmp_path: Path):
    stop = anyio.Event()
    with anyio.fail_after(15):
        outcome = await run_command(
            "echo begun; sleep 600",
            cwd=tmp_path,
            environment=dict(os.environ),
            on_output=lambda new: stop.set(),
            stop=stop,
        )
    assert (outcome.output, outcome.exit_code, outcome.cancelled, outcome.timed_out) == ("begun\n", None, True, False)


async def test_output_given_in_pieces_adds_up_to_the_whole(tmp_path: Path):
    pieces: list[str] = []
    command = r"for i in 1 2 3; do printf '\xc3'; sleep 0.12; printf '\xa9\033['; sleep 0.12; printf '1mx\n'; done"
    with anyio.fail_after(15):
        outcome = await run_command(command, cwd=tmp_path, environment=dict(os.environ), on_output=pieces.append)
    assert outcome.output == "".join(pieces) == "éx\n" * 3
    assert len(pieces) > 1
