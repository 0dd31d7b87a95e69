"""Every way a server process can end: within 5 s, with its work on disk and nothing left behind."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.agent_server import PATIENCE, Home
from tests.support.processes import living, needs_proc, new_tag, wait_until_gone, wait_until_idle
from tests.support.serve_process import ServeProcess, serve_process, unread_process

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
PROMISED_SECONDS = 5.0


def sleeper(home: Home) -> None:
    """A run that is in a tool which would take minutes; through `pid` comes the sleeping child's process id."""
    home.settings(permissions={"mode": "allow"})
    os.mkfifo(home.project / "pid")
    command = "sleep 300 & echo $! > pid; wait"
    home.script({"toolCalls": [{"name": "bash", "arguments": {"command": command}}]}, {"text": "never"})


def start_sleeping(server: ServeProcess, home: Home, *, wait: bool = False) -> int:
    server.request(1, "prompt", {"message": "sleep", "wait": wait})
    server.until(method="tool_execution_start")
    return wait_for_pid(home)


def wait_for_pid(home: Home) -> int:
    # Open for writing too, so that it does not end before somebody has written.
    pipe = os.open(home.project / "pid", os.O_RDWR)
    try:
        assert select.select([pipe], [], [], PATIENCE)[0]
        return int(os.read(pipe, 100))
    finally:
        os.close(pipe)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")


def check_end(server: ServeProcess, home: Home, child: int, end: Callable[[], None], code: int = 0) -> None:
    started = time.monotonic()
    end()
    assert server.wait() == code
    assert time.monotonic() - started < PROMISED_SECONDS
    assert not is_alive(child)
    (file,) = home.sessions.rglob("*.jsonl")
    lines = file.read_text().splitlines()
    assert json.loads(lines[-1])["message"]["role"] == "toolResult", "the run was ended, and its end is on disk"
    assert not list(home.sessions.rglob("*.lock"))


@posix_only
def test_the_end_of_input_aborts_a_run_that_nobody_waits_for(tmp_path: Path) -> None:
    home = Home(tmp_path)
    sleeper(home)
    with serve_process(home) as server:
        child = start_sleeping(server, home)
        check_end(server, home, child, server.close_stdin)


@posix_only
def test_the_end_of_input_lets_a_waiting_prompt_finish(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "slow but sure", "delayMs": 300})
    with serve_process(home) as server:
        server.request(1, "prompt", {"message": "hi", "wait": True})
        server.until(method="agent_start")
        server.close_stdin()
        assert server.answer(1)["text"] == "slow but sure"
        assert server.wait() == 0


@posix_only
def test_a_client_may_want_the_end_of_input_to_stop_everything(tmp_path: Path) -> None:
    home = Home(tmp_path)
    sleeper(home)
    with serve_process(home) as server:
        server.request(0, "initialize", {"protocolVersion": 1, "capabilities": {"abortOnEof": True}})
        server.answer(0)
        child = start_sleeping(server, home, wait=True)
        check_end(server, home, child, server.close_stdin)


@posix_only
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_stops_everything_answers_and_exits(tmp_path: Path, number: int) -> None:
    home = Home(tmp_path)
    sleeper(home)
    with serve_process(home) as server:
        child = start_sleeping(server, home, wait=True)
        check_end(server, home, child, lambda: os.kill(server.process.pid, number))
        assert server.answer(1)["stopReason"] == "aborted"


@posix_only
def test_a_hang_up_that_was_ignored_when_it_was_started_stays_ignored(tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            server = stack.enter_context(serve_process(Home(tmp_path)))
        finally:
            signal.signal(signal.SIGHUP, before)
        server.ask("get_state")
        os.kill(server.process.pid, signal.SIGHUP)
        # The first may have been read before a signal that came before it.
        assert all(server.ask("new_session")["sessionId"] for _ in range(3))
        assert server.finish() == 0


@posix_only
def test_a_client_that_wants_the_end_of_input_to_stop_everything_means_its_own_commands_too(tmp_path: Path) -> None:
    home = Home(tmp_path)
    os.mkfifo(home.project / "pid")
    with serve_process(home) as server:
        server.request(0, "initialize", {"protocolVersion": 1, "capabilities": {"abortOnEof": True}})
        server.request(1, "bash", {"command": "echo ready > ready; sleep 300 & echo $! > pid; wait"})
        child = wait_for_pid(home)
        server.close_stdin()
        assert server.answer(1)["cancelled"] is True
        assert server.wait(PROMISED_SECONDS) == 0
        assert not is_alive(child)


@posix_only
def test_the_end_of_input_stops_what_is_still_in_line(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "never", "hang": True})
    with serve_process(home) as server:
        server.request(1, "new_session")
        server.request(2, "prompt", {"message": "x", "wait": True})
        server.request(3, "initialize", {"protocolVersion": 1, "capabilities": {"abortOnEof": True}})
        server.close_stdin()
        answered = {message["id"] for message in iter(server.receive, None) if "id" in message}
        assert answered == {1, 2, 3}
        assert server.wait(PROMISED_SECONDS) == 0


@posix_only
@pytest.mark.parametrize("after_requests", [1, 50])
def test_what_was_read_before_a_signal_is_answered(tmp_path: Path, after_requests: int) -> None:
    home = Home(tmp_path)
    with serve_process(home) as server:
        # The first is answered at once, and shows that the rest, which came with it, has been read too.
        batch = [{"jsonrpc": "2.0", "id": id, "method": "get_state"} for id in range(2, 300)]
        requests = [{"jsonrpc": "2.0", "id": 1, "method": "ping"}, *batch]
        server.send_bytes(b"\n".join(json.dumps(request).encode() for request in requests))
        for id in range(1, after_requests + 1):
            server.until(id=id)
        os.kill(server.process.pid, signal.SIGTERM)
        answered = [message["id"] for message in iter(server.receive, None) if "id" in message]
        assert sorted(answered) == list(range(after_requests + 1, 300))
        assert server.wait() == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
def test_a_log_that_cannot_be_written_is_told_once_and_the_server_goes_on(tmp_path: Path) -> None:
    with serve_process(Home(tmp_path), "--log-level", "debug", "--log-file", "/dev/full") as server:
        server.request(1, "get_state")
        assert server.answer(1)["thinkingLevel"]
        assert server.finish() == 0
        assert (server.stderr.count("\n"), "the log ends here" in server.stderr) == (1, True)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
def test_a_trace_that_cannot_be_written_ends_the_trace_only(tmp_path: Path) -> None:
    with serve_process(Home(tmp_path), "--trace", "/dev/full") as server:
        server.request(1, "ping")
        server.answer(1)
        assert server.finish() == 0
        assert "the trace ends here" in server.stderr


@needs_proc
@pytest.mark.parametrize("signals", [(signal.SIGTERM, signal.SIGINT), (signal.SIGINT, signal.SIGTERM)])
def test_a_second_signal_exits_at_once(tmp_path: Path, signals: tuple[int, int]) -> None:
    home = Home(tmp_path)
    os.mkfifo(home.project / "pid")
    home.script({"text": "x" * 2_000_000, "chunk": 1000})
    with unread_process(home) as process:
        assert process.stdin is not None
        stubborn = {"command": "trap '' TERM INT; echo $$ > pid; while true; do sleep 1; done"}
        for id, method, params in ((1, "bash", stubborn), (2, "prompt", {"message": "go"})):
            request = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
            process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        child = wait_for_pid(home)
        assert select.select([process.stdout], [], [], PATIENCE)[0]
        wait_until_idle(process.pid)
        # After the first alone it would wait for its reader, and only give up after 4.5 s.
        for number in signals:
            process.send_signal(number)
        assert process.wait(3) == 0
    wait_until_gone(child, seconds=PROMISED_SECONDS)


@needs_proc
def test_a_reader_that_is_gone_ends_the_server(tmp_path: Path) -> None:
    home = Home(tmp_path)
    sleeper(home)
    with unread_process(home) as process:
        assert process.stdin is not None and process.stdout is not None
        prompt = {"jsonrpc": "2.0", "id": 1, "method": "prompt", "params": {"message": "go", "wait": True}}
        process.stdin.write(json.dumps(prompt).encode() + b"\n")
        process.stdin.flush()
        child = wait_for_pid(home)
        process.stdout.close()
        assert process.wait(PROMISED_SECONDS) == 0
    wait_until_gone(child, seconds=PROMISED_SECONDS)


@posix_only
def test_the_death_of_the_parent_ends_the_server_although_its_pipes_stay_open(tmp_path: Path) -> None:
    home = Home(tmp_path)
    sleeper(home)
    parent = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with serve_process(home) as server:
        server.request(0, "initialize", {"protocolVersion": 1, "processId": parent.pid})
        server.answer(0)
        child = start_sleeping(server, home)
        check_end(server, home, child, lambda: (parent.kill(), parent.communicate(), None)[-1])


@posix_only
@pytest.mark.parametrize("second", ["another", "none"])
def test_only_the_death_of_the_process_named_last_ends_the_server(tmp_path: Path, second: str) -> None:
    first, later = (subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) for _ in range(2))
    with serve_process(Home(tmp_path)) as server:
        for number, pid in enumerate((first.pid, later.pid if second == "another" else 0)):
            server.request(number, "initialize", {"protocolVersion": 1, "processId": pid})
            server.answer(number)
        first.kill()
        first.communicate()
        # Long enough for a death to be noticed; a server that ends would cut it short.
        server.request(2, "bash", {"command": "sleep 0.5; echo still here"})
        assert server.answer(2)["output"] == "still here\n"
        later.kill()
        later.communicate()
        if second == "another":
            server.wait()


@needs_proc
def test_a_kill_of_the_server_kills_what_its_tools_started(tmp_path: Path) -> None:
    home = Home(tmp_path)
    sleeper(home)
    with serve_process(home) as server:
        child = start_sleeping(server, home)
        server.process.kill()
        server.wait()
        deadline = time.monotonic() + PATIENCE
        while is_alive(child):
            assert time.monotonic() < deadline
            time.sleep(0.01)


@needs_proc
def test_a_kill_of_the_server_kills_a_search_that_would_never_end(tmp_path: Path) -> None:
    home = Home(tmp_path)
    os.mkfifo(home.project / ".gitignore")
    word = new_tag()
    home.script({"toolCalls": [{"name": "grep", "arguments": {"pattern": word}}]}, {"text": "never"})
    with serve_process(home) as server:
        server.request(1, "prompt", {"message": "search"})
        server.until(method="tool_execution_start")
        deadline = time.monotonic() + PATIENCE
        while not living(word):
            assert time.monotonic() < deadline
        server.process.kill()
        server.wait()
        while living(word):
            assert time.monotonic() < deadline
            time.sleep(0.01)


@posix_only
def test_shutdown_and_exit_stop_what_runs(tmp_path: Path) -> None:
    home = Home(tmp_path)
    sleeper(home)
    with serve_process(home) as server:
        child = start_sleeping(server, home)

        def end() -> None:
            server.request(2, "shutdown")
            server.until(id=2)
            server.request(3, "prompt", {"message": "too late"})
            assert server.until(id=3)["error"]["code"] == -32051
            server.send({"jsonrpc": "2.0", "method": "exit"})

        check_end(server, home, child, end)


def test_several_sessions_of_one_process_do_not_wait_for_each_other(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "half", "hang": True})
    with serve_process(home) as server:
        server.request(1, "new_session", {"name": "stuck"})
        stuck = server.answer(1)["sessionId"]
        server.request(2, "prompt", {"message": "hang", "sessionId": stuck})
        server.until(method="message_update")
        server.request(3, "new_session", {"name": "free", "model": "offline/offline"})
        free = server.answer(3)["sessionId"]
        server.request(4, "prompt", {"message": "What files are here?", "wait": True, "sessionId": free})
        assert server.answer(4)["stopReason"] == "stop"
        server.request(5, "get_state", {"sessionId": stuck})
        assert server.answer(5)["isStreaming"] is True
        assert server.finish() == 0
