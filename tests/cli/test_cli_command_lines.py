"""What a person is told about a command line, a folder or an output that is wrong: one sentence, and no traceback."""

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rpc_agent_client import RpcError

from rpc_agent.__main__ import main
from rpc_agent.cli.advice import explain
from rpc_agent.cli.doctor import examine
from rpc_agent.cli.serve import parse

SECONDS = 60
COMMAND = [sys.executable, "-m", "rpc_agent"]
not_on_windows = pytest.mark.skipif(sys.platform == "win32", reason="a POSIX way of going wrong")


def wrong(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    told = capsys.readouterr().err
    assert left.value.code == 2
    assert told.count("\n") == 1, told
    return told


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", "what", "is", "here"], "rpc-agent run: only one text is asked; put it in quotes"),
        (["run", "--modle", "x", "hi"], "there is no option --modle; did you mean --model?"),
        (["run", "--modle=x", "hi"], "there is no option --modle; did you mean --model?"),
        (["run", "--xyzzy", "hi"], "there is no option --xyzzy. Try: rpc-agent run --help"),
        (["sessions", "list", "--limit", "0"], "argument --limit: a number above 0 is expected, not '0'. Try"),
        (["sessions", "list", "--al"], "there is no option --al; did you mean --all?"),
        (["doctor", "please"], "nothing is known of 'please'"),
        (["run", "--thinking", "hard", "hi"], "rpc-agent run: argument --thinking: invalid choice: 'hard'"),
        (["run", "--permissions=root", "hi"], "argument --permissions: invalid choice: 'root'"),
        (["chat", "--log-level", "loud"], "rpc-agent chat: argument --log-level: invalid choice: 'loud'"),
        (["run", "--tools", "read,nope", "hi"], "--tools: there is no tool 'nope'; there are read, write, edit, bash"),
        (["run", "--model", "gpt", "hi"], "argument --model: a model is named PROVIDER/ID, not 'gpt'"),
        (["run", "--cwd", "not-there", "hi"], "argument --cwd: there is no folder 'not-there'"),
        (["run", "--session", "not/there.jsonl", "hi"], "argument --session: there is no file 'not/there.jsonl'"),
        (["chat", "--extension", "not-there.py"], "argument --extension: there is no file 'not-there.py'"),
    ],
)
def test_a_wrong_command_line_is_one_line(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert told in wrong(arguments, capsys)


@pytest.mark.parametrize(
    ("message", "advice"),
    [
        (
            "/c/settings.json: defaultThinkingLevel: must be one of off",
            ["Correct that field in the file, or take it out."],
        ),
        ("/c/models.json: providers: must be an object", ["Correct that field in the file, or take it out."]),
        (
            "/c/models.json: line 2 column 1: is not JSON: Expecting ',' delimiter",
            ["Correct the file there: a comma, a quote or a bracket is missing or too many."],
        ),
        (
            "/c/settings.json: file: cannot be read: Permission denied",
            ["Give access to the file, or name another folder: --config-dir DIR."],
        ),
        (
            "/c/trust.json: /home/me: must be true or false",
            ["Correct that line of the file, or take it out; until then no session begins."],
        ),
        ("id: 5 sessions begin with '01a'; give more of the id", ["rpc-agent sessions list --all tells them apart."]),
        ("cwd: /x is not a directory", ["Give a folder that exists."]),
        ("message: must be a string", []),
    ],
)
def test_a_refused_value_is_told_how_to_correct_it(message: str, advice: list[str]) -> None:
    assert explain(RpcError(-32602, message, {"reason": "invalidParams"})) == [message, *advice]


def test_a_locked_session_is_told_with_what_a_person_can_do() -> None:
    said = "The session 2026.jsonl is being written by process 7. Close it there, or clone_session."
    fact, advice = explain(RpcError(-32012, said, {"reason": "sessionLocked"}))
    assert (fact, "clone_session" in advice) == ("The session 2026.jsonl is being written by process 7.", False)
    assert "rpc-agent sessions export ID " in advice
    said = said.replace("2026.jsonl", "2026-01-01T00-00-00-000Z_0198bb00-1111.jsonl")
    assert "sessions export 0198bb00-1111 -" in explain(RpcError(-32012, said, {"reason": "sessionLocked"}))[1]


def test_only_an_unknown_method_is_a_matter_of_versions() -> None:
    assert "versions" in explain(RpcError(-32601, "no", {"reason": "methodNotFound"}))[1]


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("--modle=x", "there is no option --modle; did you mean --model?"),
        ("--xyzzy", "there is no option --xyzzy"),
        ("--model=gpt", "--model: a model is named PROVIDER/ID, not 'gpt'"),
        ("--cwd=not-there", "--cwd: there is no folder 'not-there'"),
        ("--session=not-there.jsonl", "--session: there is no file 'not-there.jsonl'"),
        ("--extension=not-there.py", "--extension: there is no file 'not-there.py'"),
        ("--tools=nope", "--tools: there is no tool 'nope'"),
        ("--max-message-bytes=\u00b2", "--max-message-bytes is a number of bytes above 0, not"),
        (f"--max-message-bytes={'9' * 5000}", "--max-message-bytes is a number of bytes above 0, not"),
    ],
)
def test_serve_refuses_at_its_start_what_no_request_could_use(
    option: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", option]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"rpc-agent serve: {told}"), said
    assert said.endswith("\nTry: rpc-agent serve --help\n")


def test_a_session_is_named_by_its_file_or_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text("")
    assert [parse(["--session", named]) for named in (str(file), "0197a")] == [
        {"session": str(file)},
        {"session": "0197a"},
    ]


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Ours, but for the folders of configuration and sessions."""
    own = {"RPC_AGENT_CONFIG_DIR": str(folder / "config"), "RPC_AGENT_SESSION_DIR": str(folder / "sessions")}
    return {**os.environ, **own, **more}


def run_in(folder: Path, *arguments: str, stdout: int = subprocess.PIPE) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )


@not_on_windows
@pytest.mark.parametrize("command", [["run", "hi"], ["chat"], ["doctor"], ["models"], ["sessions", "list"]])
def test_in_a_folder_that_was_deleted_one_sentence_is_told(tmp_path: Path, command: list[str]) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
    done = subprocess.run(
        ["sh", "-c", script, "sh", str(gone), *COMMAND, *command],
        env=environment(tmp_path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("rpc-agent: the folder you are in no longer exists; cd somewhere"), done.stderr
    assert done.stderr.count("\n") == 1


@not_on_windows
def test_a_server_in_a_folder_that_was_deleted_serves_another(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
    options = ["serve", "--cwd", str(tmp_path)]
    done = subprocess.run(
        ["sh", "-c", script, "sh", str(gone), *COMMAND, *options],
        input='{"jsonrpc": "2.0", "id": 1, "method": "get_state"}\n',
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    answer = json.loads(done.stdout.splitlines()[0])
    assert answer["result"]["cwd"] == str(tmp_path.resolve())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["schema"], "rpc-agent schema"),
        (["run", "hi"], "rpc-agent run"),
        (["--help"], "rpc-agent"),
        (["--version"], "rpc-agent"),
    ],
)
def test_output_that_cannot_be_written_is_one_sentence(tmp_path: Path, command: list[str], name: str) -> None:
    with open("/dev/full", "wb") as full:
        done = run_in(tmp_path, *command, stdout=full.fileno())
    assert done.returncode == 1
    assert f"{name}: the output could not be written: No space left on device\n" in done.stderr
    assert "Traceback" not in done.stderr


@not_on_windows
@pytest.mark.parametrize("arguments", [["--version"], ["run", "hi"], ["sessions"]])
def test_a_closed_output_is_one_sentence(tmp_path: Path, arguments: list[str]) -> None:
    done = run_without("1", tmp_path, *arguments)
    told = "rpc-agent: the output is closed, so nothing was done\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", told)


@not_on_windows
def test_who_wants_to_hear_of_no_fault_gets_the_answer_all_the_same(tmp_path: Path) -> None:
    done = run_without("2", tmp_path, "run", "--model", "offline/offline", "hi")
    assert (done.returncode, "offline model" in done.stdout) == (0, True)


def run_without(descriptor: str, folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    script = f'exec "$@" {descriptor}>&-'
    return subprocess.run(
        ["sh", "-c", script, "sh", *COMMAND, *arguments],
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@not_on_windows
def test_run_says_that_ctrl_c_stopped_it(tmp_path: Path) -> None:
    running = subprocess.Popen(
        [*COMMAND, "run", "--model", "offline/offline", "hi"],
        cwd=tmp_path,
        env=environment(tmp_path, RPC_AGENT_OFFLINE_PACE_MS="300"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert running.stdout and select.select([running.stdout], [], [], SECONDS)[0]
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=SECONDS)
    finally:
        running.kill()
        running.communicate()
    assert running.returncode == 130
    assert told.decode().endswith("rpc-agent run: stopped\n")


def test_sessions_alone_lists_them(tmp_path: Path) -> None:
    for arguments in ([], ["--session-dir", str(tmp_path / "none")]):
        done = run_in(tmp_path, "sessions", *arguments)
        assert (done.returncode, done.stderr) == (0, "No session of this folder; try --all.\n")


@not_on_windows
def test_serve_at_a_terminal_tells_what_it_waits_for(tmp_path: Path) -> None:
    import pty  # noqa: PLC0415 - not on Windows

    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        [*COMMAND, "serve"],
        env=environment(tmp_path),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert running.stderr and select.select([running.stderr], [], [], SECONDS)[0]
        told = running.stderr.readline().decode()
        assert told == "This waits for JSON-RPC on stdin; to talk to the agent yourself: rpc-agent chat\n"
    finally:
        running.terminate()
        running.communicate(timeout=SECONDS)
        os.close(ours)
        os.close(theirs)


def test_doctor_sees_folders_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folders = {
        "RPC_AGENT_CONFIG_DIR": str(tmp_path / "file" / "config"),
        "RPC_AGENT_SESSION_DIR": str(tmp_path / "file" / "sessions"),
    }
    bad = [finding.text for finding in examine(folders, tmp_path) if finding.kind == "bad"]
    assert any("cannot be made one" in text for text in bad)
    assert any("sessions cannot be written" in text for text in bad)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_doctor_knows_that_proc_takes_no_sessions(tmp_path: Path) -> None:
    folders = {"RPC_AGENT_CONFIG_DIR": str(tmp_path), "RPC_AGENT_SESSION_DIR": "/proc/nope"}
    assert any(finding.kind == "bad" for finding in examine(folders, tmp_path))


def test_the_name_that_is_told_to_be_typed_can_be_typed(tmp_path: Path) -> None:
    code = "import shutil; from rpc_agent.cli.arguments import program; print(shutil.which(program().split(' -m ')[0]))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**environment(tmp_path), "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    assert done.stdout.strip() not in ("", "None")
