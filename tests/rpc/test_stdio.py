"""Real pipes, files, sockets and processes: who owns stdin and stdout, slow and vanished readers, the two-phase start."""

import asyncio
import contextlib
import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest

from rpc_agent.rpc.calls import Call, Params, Quick
from rpc_agent.rpc.peer import Peer
from rpc_agent.rpc.stdio import StdioTransport
from rpc_agent.rpc.transport import HungUp
from tests.support.processes import resident_mebibytes, wait_until_idle
from tests.support.rpc import StderrLines, early_methods, echo, finish, methods, split_lines, start, talk

on_unix = pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot tell")


def request(id: int, method: str, **params: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode() + b"\n"


def test_the_first_answer_needs_no_heavy_module_and_the_second_phase_follows() -> None:
    answers = split_lines(talk(request(1, "initialize") + request(2, "heavy_modules"))[0])
    first = set(answers.of(1)["result"]["loaded"])
    # Some versions of asyncio bring inspect along; nothing else may.
    assert first <= {"inspect"}
    second = set(answers.of(2)["result"])
    assert {"jsonrpcserver.dispatcher", "orjson"} <= second
    # What jsonrpcserver has beside its dispatch.
    assert second.isdisjoint({"jsonschema", "http.server"})


def test_prints_and_children_write_to_stderr_and_children_read_nothing() -> None:
    output, log = talk(request(1, "print_much"))
    assert split_lines(output) == [{"jsonrpc": "2.0", "id": 1, "result": 0}]
    assert "a stray print" in log and "a child read ''" in log


def test_after_the_end_of_input_open_requests_are_still_answered() -> None:
    output, log = talk(request(1, "finish_later"))
    assert split_lines(output) == [{"jsonrpc": "2.0", "id": 1, "result": "finished"}]
    assert "ended: input-ended" in log


def test_an_empty_input_ends_at_once() -> None:
    assert talk(b"")[0] == b""


def test_files_and_the_null_device_serve_as_stdin_and_stdout(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(request(1, "echo", a=1) * 3000)
    with (tmp_path / "in").open("rb") as given, (tmp_path / "out").open("wb") as taken:
        process = start(stdin=given, stdout=taken, stderr=subprocess.DEVNULL)
        assert process.wait(30) == 0
    assert len(split_lines((tmp_path / "out").read_bytes())) == 3000
    process = start(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert process.wait(30) == 0
    with (tmp_path / "in").open("rb") as given:
        process = start(stdin=given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert process.wait(30) == 0


@on_unix
def test_descriptors_that_were_closed_from_the_start_are_an_empty_input_and_nobody() -> None:
    command = [sys.executable, "-m", "tests.support.rpc"]
    for closed in ("<&-", ">&-", "<&- >&- 2>&-"):
        shell = ["sh", "-c", f'"$0" "$@" {closed}', *command]
        result = subprocess.run(shell, input=request(1, "echo"), capture_output=True, timeout=30)
        assert (closed, result.returncode) == (closed, 0)


@on_unix
def test_sockets_serve_as_stdin_and_stdout() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = start(stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL)
        theirs.close()
        ours.settimeout(30)
        ours.sendall(request(1, "echo", text="x" * 1_000_000) + request(2, "ping"))
        with ours.makefile("rb") as stream:
            ids = [json.loads(stream.readline())["id"], json.loads(stream.readline())["id"]]
            assert sorted(ids) == [1, 2]
        ours.shutdown(socket.SHUT_WR)
        assert process.wait(30) == 0


@on_unix
def test_a_terminal_serves_as_stdin_and_stdout() -> None:
    ours, theirs = os.openpty()
    process = start(stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    try:
        os.write(ours, request(1, "ping"))
        shown = b""
        while b'"result"' not in shown:
            assert select.select([ours], [], [], 20)[0]
            shown += os.read(ours, 4096)
        os.close(ours)  # The terminal is gone: nobody reads, and nothing more can come.
        assert process.wait(20) == 0
    finally:
        finish(process)


@on_unix
def test_descriptors_that_do_not_block_serve_too() -> None:
    (their_input, our_output), (our_input, their_output) = os.pipe(), os.pipe()
    os.set_blocking(their_input, False)
    os.set_blocking(their_output, False)
    process = start(stdin=their_input, stdout=their_output, stderr=subprocess.DEVNULL)
    os.close(their_input)
    os.close(their_output)
    with open(our_output, "wb") as to, open(our_input, "rb") as back:
        to.write(request(1, "echo", text="x" * 1_000_000))
        to.close()
        assert len(split_lines(back.read())) == 1
    assert process.wait(30) == 0


@on_unix
def test_a_vanished_reader_is_noticed_while_nothing_is_written() -> None:
    process = start()
    log = StderrLines(process)
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(request(1, "wait_for_ever") + request(2, "echo"))
    process.stdin.flush()
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(20) == 0
    assert "ended: hung-up" in log.finished()
    finish(process)


def test_a_vanished_reader_ends_a_flood() -> None:
    process = start()
    log = StderrLines(process)
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(request(1, "flood", count=10_000_000))
    process.stdin.flush()
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(20) == 0
    assert "ended: hung-up" in log.finished()
    finish(process)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_reader_that_stops_costs_bounded_memory_and_loses_nothing() -> None:
    process = start(stderr=subprocess.DEVNULL)
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(request(1, "ping") + request(2, "flood", count=40_000))
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 1
    first = json.loads(process.stdout.readline())
    wait_until_idle(process.pid)
    assert resident_mebibytes(process.pid) < 100  # 40,000 notifications of a kilobyte were asked for.
    indices = [first["params"]["index"]]
    while "params" in (message := json.loads(process.stdout.readline())):
        indices.append(message["params"]["index"])
    assert (message["result"], indices) == (40_000, list(range(40_000)))
    process.stdin.close()
    assert process.wait(20) == 0
    finish(process)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_client_that_only_writes_is_made_to_wait_and_then_gets_every_answer() -> None:
    process = start(stderr=subprocess.DEVNULL)
    assert process.stdin is not None and process.stdout is not None
    count = 20_000
    data = b"".join(request(id, "echo", filler="x" * 1000) for id in range(count))
    stdin = process.stdin

    def write_all() -> None:
        stdin.write(data)
        stdin.close()

    writing = threading.Thread(target=write_all, daemon=True)
    writing.start()
    assert select.select([process.stdout], [], [], 30)[0]
    wait_until_idle(process.pid)
    assert writing.is_alive()
    assert resident_mebibytes(process.pid) < 100
    answers = split_lines(process.stdout.read())
    assert [answer["id"] for answer in answers] == list(range(count))
    assert all("result" in answer for answer in answers)
    assert process.wait(20) == 0
    finish(process)


@on_unix
def test_a_child_that_outlives_the_server_does_not_keep_its_stdout_open() -> None:
    process = start(stderr=subprocess.DEVNULL)
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(request(1, "leave_a_child"))
    process.stdin.flush()
    child = json.loads(process.stdout.readline())["result"]
    try:
        process.stdin.close()
        assert select.select([process.stdout], [], [], 20)[0]
        assert process.stdout.read() == b""
        assert process.wait(20) == 0
    finally:
        os.kill(child, signal.SIGKILL)
        finish(process)


@pytest.mark.anyio
async def test_a_transport_over_pipes_in_this_process_reads_writes_and_hangs_up() -> None:
    (input_fd, to), (back, output_fd) = os.pipe(), os.pipe()
    transport = StdioTransport(input_fd, output_fd)
    with anyio.fail_after(20):
        os.write(to, b"[1]\n[2]\n[")
        assert await transport.receive() == [b"[1]", b"[2]"]
        os.close(to)
        assert await transport.receive() == [b"["]
        assert await transport.receive() == []
        assert await transport.receive() == []
        await transport.send([b"{}", b"[]"])
        assert os.read(back, 100) == b"{}\n[]\n"
        os.close(back)
        await transport.hung_up()
        with pytest.raises(HungUp):
            await transport.send([b"{}"])
    os.close(input_fd)
    os.close(output_fd)


@on_unix
@pytest.mark.anyio
async def test_a_request_that_comes_alone_is_answered_without_a_turn_of_the_reader() -> None:
    """The others go on as before: those that wait, those with company, and those that nobody knows."""
    tasks: list[asyncio.Task[Any] | None] = []

    def look(call: Call, params: Params) -> Any:
        tasks.append(asyncio.current_task())
        return {}

    (input_fd, to), (back, output_fd) = os.pipe(), os.pipe()
    table = {**methods(), "look": Quick(look, echo)}
    peer = Peer(StdioTransport(input_fd, output_fd), load=lambda: table, early=early_methods())
    with anyio.fail_after(20), io.FileIO(back) as answers, contextlib.ExitStack() as later:
        for fd in (input_fd, to, output_fd):
            later.callback(os.close, fd)
        async with anyio.create_task_group() as group:
            group.start_soon(peer.run)
            for id, method in enumerate(("echo", "look", "echo", "ping", "unknown", "look")):
                os.write(to, request(id, method))
                answer = json.loads(await anyio.to_thread.run_sync(answers.readline))
                assert (answer["id"], "result" in answer) == (id, method != "unknown")
            assert tasks == [None, None]
            os.write(to, request(8, "look") + request(9, "look"))
            both = [json.loads(await anyio.to_thread.run_sync(answers.readline)) for _ in range(2)]
            assert [answer["id"] for answer in both] == [8, 9]
            assert None not in tasks[2:]
            peer.end_input()
