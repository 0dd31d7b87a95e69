"""The blocking client against a real process that follows a script."""

import asyncio
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from rpc_agent_client import CloseLimits, ConnectionClosed, RequestTimedOut, RpcError, ServerExited, SyncClient

from tests.support.fake_server import FakeServer


def test_calls_block_and_return_results_or_raise(tmp_path: Path) -> None:
    script = {"prompt": [{"echo": None}], "compact": [{"error": [-32020, "nothing", {"reason": "nothingToCompact"}]}]}
    with SyncClient.spawn(FakeServer(tmp_path, script).command) as client:
        assert client.prompt("hi", wait=True) == {"message": "hi", "wait": True}
        with pytest.raises(RpcError, match="nothingToCompact"):
            client.compact()
    assert client.returncode == 0
    with pytest.raises(ConnectionClosed):
        client.ping()


def test_a_call_can_be_followed_and_cancelled(tmp_path: Path) -> None:
    script = {
        "compact": [
            {"notify": ["compaction_start", {}]},
            {"await": "$/cancelRequest"},
            {"notify": ["compaction_end", {}]},
            {"error": [-32022, "cancelled", {"reason": "compactionCancelled"}]},
        ]
    }
    seen = []
    with SyncClient.spawn(FakeServer(tmp_path, script).command) as client:
        events = client.notifications()
        call = client.start("compact")
        for event in events.until(call):
            seen.append(event.method)
            call.cancel()
        with pytest.raises(RpcError, match="compactionCancelled"):
            call.result()
    assert seen == ["compaction_start", "compaction_end"]


def test_a_wait_for_a_call_can_be_limited_without_ending_the_call(tmp_path: Path) -> None:
    script = {"slow": [{"await": "go"}, {"answer": 1}]}
    with SyncClient.spawn(FakeServer(tmp_path, script).command) as client:
        call = client.start("slow")
        with pytest.raises(RequestTimedOut):
            call.result(0.01)
        client.notify("go")
        assert call.result() == 1


def test_a_time_limit_on_a_request_raises_the_clients_own_error(tmp_path: Path) -> None:
    command = FakeServer(tmp_path, {"slow": [{"forget": None}]}).command
    with SyncClient.spawn(command) as client, pytest.raises(RequestTimedOut, match="slow"):
        client.request("slow", timeout=0.01)


def test_handlers_may_block_and_callbacks_hear_everything(tmp_path: Path) -> None:
    script = {"prompt": [{"ask": [1, "ui_input", {}]}, {"await": ""}, {"notify": ["turn_end", {}]}, {"answer": {}}]}
    server = FakeServer(tmp_path, script)
    heard: list[str] = []
    go = threading.Event()

    def answer(_: dict[str, Any]) -> dict[str, Any]:
        assert go.wait(10)
        return {"text": "typed"}

    with SyncClient.spawn(server.command) as client:
        client.handle("ui_input", answer)
        remove = client.on("turn_end", lambda n: heard.append(n.method))
        call = client.start("prompt")
        go.set()
        call.result(10)
        remove()
    assert heard == ["turn_end"]
    assert [m["result"] for m in server.received() if "result" in m] == [{"text": "typed"}]


def test_a_callback_that_would_wait_for_itself_is_told_so_and_nobody_hangs(tmp_path: Path) -> None:
    script = {"prompt": [{"notify": ["turn_end", {}]}, {"answer": {}}], "ping": [{"answer": {}}]}
    told: list[str] = []
    with SyncClient.spawn(FakeServer(tmp_path, script).command) as client:

        def asks(_: object) -> None:
            with pytest.raises(RuntimeError, match="post") as refused:
                client.ping()
            told.append(str(refused.value))
            client.post("ping")

        client.on("turn_end", asks)
        client.start("prompt").result(10)
    assert len(told) == 1


def test_a_subscription_is_closed_by_its_block(tmp_path: Path) -> None:
    script = {"ping": [{"notify": ["turn_end", {}]}, {"answer": {}}]}
    with SyncClient.spawn(FakeServer(tmp_path, script).command) as client:
        with client.notifications() as events:
            client.ping()
        client.ping()
        assert [event.method for event in events] == ["turn_end"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_server_that_ignores_everything_is_killed_within_the_limits_given(tmp_path: Path) -> None:
    script: dict[str, list[dict[str, Any]]] = {
        "": [{"ignore_signals": None}],
        "ping": [{"answer": {}}],
        "shutdown": [{"hang": None}],
    }
    limits = CloseLimits(shutdown=0.1, exit=0.1, signal=1.0)
    with SyncClient.spawn(FakeServer(tmp_path, script).command, close_limits=limits) as client:
        client.ping()
    assert client.returncode == -signal.SIGKILL


def test_a_crash_raises_where_the_program_waits(tmp_path: Path) -> None:
    command = FakeServer(tmp_path, {"prompt": [{"exit": 9}]}).command
    with SyncClient.spawn(command) as client, pytest.raises(ServerExited, match="code 9"):
        client.prompt("hi")


def test_nothing_of_the_client_is_left_running(tmp_path: Path) -> None:
    with SyncClient.spawn(FakeServer(tmp_path, {}).command) as client:
        pass
    assert client.returncode == 0
    assert [t.name for t in threading.enumerate() if t.name == "rpc-agent-client loop"] == []


def test_a_handler_on_the_loop_is_cancelled_when_the_server_takes_its_question_back(tmp_path: Path) -> None:
    script = {
        "prompt": [
            {"ask": [1, "request_permission", {"title": "bash"}]},
            {"await": "asked"},
            {"notify": ["$/cancelRequest", {"id": 1}]},
            {"await": ""},
            {"answer": {}},
        ]
    }
    ended: list[str] = []
    with SyncClient.spawn(FakeServer(tmp_path, script).command) as client:

        async def answer(params: dict[str, Any]) -> dict[str, Any]:
            client.client.notify("asked")
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                ended.append(params["title"])
            return {}

        client.handle("request_permission", answer)
        client.start("prompt").result(10)
    assert ended == ["bash"]


@pytest.mark.parametrize("end", [{"answer": 1}, {"exit": 3}])
def test_a_call_says_when_its_answer_is_there_or_will_never_be(tmp_path: Path, end: dict[str, Any]) -> None:
    done = threading.Event()
    with SyncClient.spawn(FakeServer(tmp_path, {"slow": [{"await": "go"}, end]}).command) as client:
        call = client.start("slow")
        call.when_done(done.set)
        assert not done.wait(0.01)
        client.notify("go")
        assert done.wait(10)
        assert call.done
