"""The asyncio client against a real process that follows a script."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from rpc_agent_client import (
    CannotStart,
    Client,
    CloseLimits,
    ConnectionClosed,
    FellBehind,
    MessageTooLarge,
    Notification,
    ProtocolViolation,
    RequestTimedOut,
    RpcError,
    ServerExited,
)

from tests.support.fake_server import FakeServer

pytestmark = pytest.mark.anyio

WAIT = 20


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("framing", ["lines", "headers"])
async def test_a_request_gets_its_result_in_either_framing(tmp_path: Path, framing: Any) -> None:
    server = FakeServer(tmp_path, {"prompt": [{"echo": None}]})
    async with asyncio.timeout(WAIT), Client.spawn(server.command, framing=framing) as client:
        result = await client.request("prompt", {"message": "naïve \u2028 \ud800 漢"})
    assert result == {"message": "naïve \u2028 \ud800 漢"}
    assert client.returncode == 0
    assert [message["method"] for message in server.received()] == ["prompt", "shutdown", "exit"]


async def test_typed_methods_send_the_names_of_the_protocol_and_leave_out_what_was_not_given(tmp_path: Path) -> None:
    server = FakeServer(
        tmp_path,
        {"?": [{"answer": {"messages": [], "models": [], "aborted": True, "model": {"id": "m", "provider": "p"}}}]},
    )
    async with asyncio.timeout(WAIT), Client.spawn(server.command) as client:
        await client.new_session(cwd="/w", thinking_level="low")
        await client.open_session(latest=True)
        await client.prompt("hi", wait=True, streaming_behavior="followUp", expected_leaf_id="e")
        assert await client.get_messages() == []
        await client.compact("keep names", keep_recent_tokens=200)
        assert await client.abort_compaction(session_id="s") is True
        await client.navigate_tree(None, summarize=False)
        await client.set_model("p", "m")
    sent = [(message["method"], message.get("params")) for message in server.received()]
    assert sent == [
        ("new_session", {"cwd": "/w", "thinkingLevel": "low"}),
        ("open_session", {"latest": True}),
        ("prompt", {"message": "hi", "wait": True, "streamingBehavior": "followUp", "expectedLeafId": "e"}),
        ("get_messages", {}),
        ("compact", {"customInstructions": "keep names", "keepRecentTokens": 200}),
        ("abort_compaction", {"sessionId": "s"}),
        ("navigate_tree", {"targetId": None, "summarize": False}),
        ("set_model", {"provider": "p", "modelId": "m"}),
        ("shutdown", {}),
        ("exit", {}),
    ]


async def test_initialize_says_which_process_asks_and_learns_the_largest_message(tmp_path: Path) -> None:
    limits = {"maxMessageBytes": 200, "maxInFlight": 8}
    server = FakeServer(tmp_path, {"initialize": [{"answer": {"limits": limits}}], "prompt": [{"echo": None}]})
    async with asyncio.timeout(WAIT), Client.spawn(server.command) as client:
        await client.initialize(name="editor", version="3", capabilities={"ui": True})
        with pytest.raises(MessageTooLarge, match="reads at most 200"):
            await client.prompt("x" * 200)
        assert await client.prompt("short") == {"message": "short"}
    assert server.received()[0]["params"] == {
        "protocolVersion": 1,
        "clientInfo": {"name": "editor", "version": "3"},
        "processId": os.getpid(),
        "capabilities": {"ui": True},
    }


async def test_an_error_answer_carries_code_message_data_and_reason(tmp_path: Path) -> None:
    data = {"reason": "overloaded", "retryAfterMs": 40}
    server = FakeServer(tmp_path, {"prompt": [{"error": [-32050, "too much at once", data]}]})
    async with asyncio.timeout(WAIT), Client.spawn(server.command) as client:
        with pytest.raises(RpcError) as caught:
            await client.prompt("hi")
    error = caught.value
    assert (error.code, error.message, error.data, error.reason, error.retry_after_ms) == (
        -32050,
        "too much at once",
        data,
        "overloaded",
        40,
    )
    assert str(error) == "too much at once (overloaded)"


async def test_an_error_without_id_goes_to_the_only_request_that_waits(tmp_path: Path) -> None:
    error = [-32600, "too large", {"reason": "messageTooLarge"}]
    server = FakeServer(tmp_path, {"prompt": [{"error_without_id": error}]})
    async with asyncio.timeout(WAIT), Client.spawn(server.command) as client:
        with pytest.raises(RpcError, match="messageTooLarge"):
            await client.prompt("hi")


async def test_answers_in_another_order_reach_the_right_caller(tmp_path: Path) -> None:
    script = {"slow": [{"await": "fast"}, {"await": "go"}, {"answer": "slow one"}], "fast": [{"answer": "fast one"}]}
    async with asyncio.timeout(WAIT), Client.spawn(FakeServer(tmp_path, script).command) as client:
        slow, fast = client.start("slow"), client.start("fast")
        assert (await fast, slow.answer.done()) == ("fast one", False)
        client.notify("go")
        assert await slow == "slow one"


async def test_a_message_of_many_megabytes_comes_through_both_ways(tmp_path: Path) -> None:
    size = 20 * 1024 * 1024
    server = FakeServer(tmp_path, {"prompt": [{"big": size}]})
    async with asyncio.timeout(WAIT), Client.spawn(server.command) as client:
        result = await client.prompt("y" * size)
    assert len(result["text"]) == size
    assert len(server.received()[0]["params"]["message"]) == size


async def test_an_iterator_gives_every_notification_in_order_and_ends_with_the_client(tmp_path: Path) -> None:
    script = {
        "prompt": [
            {"answer": {}},
            {"notify": ["agent_start", {"sessionId": "a", "seq": 1}]},
            {"notify": ["turn_start", {"sessionId": "b", "seq": 1}]},
            {"notify": ["turn_start", {"sessionId": "a", "seq": 2}]},
        ],
        "ping": [{"answer": {}}],
    }
    async with asyncio.timeout(WAIT), Client.spawn(FakeServer(tmp_path, script).command) as client:
        everything = client.notifications()
        of_a = client.notifications(session_id="a")
        starts = client.notifications("turn_start")
        await client.prompt("hi")
        await client.ping()
    names = [[(n.method, n.session_id, n.seq) async for n in stream] for stream in (everything, of_a, starts)]
    first, other, second = ("agent_start", "a", 1), ("turn_start", "b", 1), ("turn_start", "a", 2)
    assert names == [[first, other, second], [first, second], [other, second]]


async def test_a_call_can_be_followed_until_its_answer(tmp_path: Path) -> None:
    delta = {"type": "text_delta", "contentIndex": 0, "delta": "hel"}
    script = {
        "prompt": [
            {"notify": ["message_update", {"assistantMessageEvent": delta}]},
            {"notify": ["agent_settled", {}]},
            {"answer": {"text": "hel"}},
        ]
    }
    command = FakeServer(tmp_path, script).command
    async with asyncio.timeout(WAIT), Client.spawn(command) as client, client.notifications() as stream:
        for _ in range(2):
            call = client.start("prompt")
            seen = [(n.method, n.text_delta) async for n in stream.until(call.answer)]
            assert seen == [("message_update", "hel"), ("agent_settled", "")]
            assert await call == {"text": "hel"}


async def test_a_failing_callback_keeps_nobody_else_from_hearing(tmp_path: Path) -> None:
    script = {"prompt": [{"notify": ["turn_start", {"seq": 1}]}, {"notify": ["turn_end", {"seq": 2}]}, {"answer": {}}]}
    heard: list[Notification] = []
    reported: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["message"]))

    def fails(_: Notification) -> None:
        raise RuntimeError("in the user's code")

    async with asyncio.timeout(WAIT), Client.spawn(FakeServer(tmp_path, script).command) as client:
        client.on("turn_start", fails)
        remove = client.on("*", heard.append)
        await client.prompt("hi")
        remove()
        await client.prompt("again")
    assert [n.method for n in heard] == ["turn_start", "turn_end"]
    assert reported == ["rpc_agent_client: a callback for turn_start failed"] * 2


async def test_a_reader_that_falls_behind_is_told_and_costs_no_memory(tmp_path: Path) -> None:
    script = {"prompt": [{"repeat": [11, {"notify": ["turn_start", {}]}]}, {"answer": {}}]}
    async with asyncio.timeout(WAIT), Client.spawn(FakeServer(tmp_path, script).command) as client:
        stream = client.notifications(max_buffered=10)
        await client.prompt("hi")
        for _ in range(10):
            await anext(stream)
        with pytest.raises(FellBehind, match="get_events"):
            await anext(stream)


async def test_requests_of_the_server_are_answered_by_handlers(tmp_path: Path) -> None:
    script = {
        "prompt": [
            {"ask": ["p1", "request_permission", {"toolName": "bash"}], "await": ""},
            {"ask": [7, "ui_select", {}], "await": ""},
            {"ask": [8, "read_file", {}], "await": ""},
            {"ask": [9, "nobody_knows", {}], "await": ""},
            {"answer": {}},
        ]
    }
    server = FakeServer(tmp_path, script)

    async def permit(params: dict[str, Any]) -> dict[str, Any]:
        return {"optionId": f"allow {params['toolName']}"}

    def refuse(params: dict[str, Any]) -> None:
        raise RpcError(-32040, "no screen", {"reason": "notSupportedByClient"})

    def breaks(params: dict[str, Any]) -> None:
        raise KeyError("secret detail")

    asyncio.get_running_loop().set_exception_handler(lambda _, context: None)
    async with asyncio.timeout(WAIT), Client.spawn(server.command) as client:
        client.handle("request_permission", permit)
        client.handle("ui_select", refuse)
        client.handle("read_file", breaks)
        await client.prompt("hi")
    answers = {message["id"]: message for message in server.received() if "method" not in message}
    assert answers["p1"]["result"] == {"optionId": "allow bash"}
    assert answers[7]["error"] == {"code": -32040, "message": "no screen", "data": {"reason": "notSupportedByClient"}}
    assert answers[8]["error"]["code"] == -32603
    assert "secret" not in answers[8]["error"]["message"]
    assert answers[9]["error"]["code"] == -32601


async def test_a_question_that_the_server_takes_back_cancels_its_handler(tmp_path: Path) -> None:
    cancel = {"notify": ["$/cancelRequest", {"id": "p1"}]}
    script = {
        "prompt": [{"ask": ["p1", "request_permission", {}]}, {"await": "asked"}, cancel, {"await": ""}, {"answer": {}}]
    }
    server = FakeServer(tmp_path, script)
    cancelled = asyncio.Event()

    async with asyncio.timeout(WAIT), Client.spawn(server.command) as client:

        async def never(_: dict[str, Any]) -> None:
            client.notify("asked")
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()

        client.handle("request_permission", never)
        await client.prompt("hi")
    assert cancelled.is_set()
    assert [m["error"]["code"] for m in server.received() if m.get("id") == "p1"] == [-32800]


async def test_a_question_taken_back_at_once_is_still_answered_once(tmp_path: Path) -> None:
    both = (
        '{"jsonrpc":"2.0","id":"p1","method":"ui_confirm"}\n'
        '{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"p1"}}\n'
    )
    server = FakeServer(tmp_path, {"prompt": [{"raw": both}, {"await": ""}, {"answer": {}}]})
    async with asyncio.timeout(WAIT), Client.spawn(server.command) as client:
        await client.prompt("hi")
    assert len([m for m in server.received() if m.get("id") == "p1"]) == 1


async def test_cancelling_the_caller_cancels_the_request_at_the_server(tmp_path: Path) -> None:
    script = {"prompt": [{"notify": ["agent_start", {}]}, {"await": "$/cancelRequest"}, {"answer": {"late": True}}]}
    server = FakeServer(tmp_path, {**script, "ping": [{"answer": {}}]})
    async with asyncio.timeout(WAIT), Client.spawn(server.command) as client:
        stream = client.notifications()
        task = asyncio.ensure_future(client.prompt("hi"))
        await anext(stream)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await client.ping()
    assert [(m["method"], m.get("params")) for m in server.received()][:3] == [
        ("prompt", {"message": "hi"}),
        ("$/cancelRequest", {"id": 1}),
        ("ping", {}),
    ]


async def test_a_call_that_is_cancelled_still_gives_its_own_answer(tmp_path: Path) -> None:
    script = {"compact": [{"await": "$/cancelRequest"}, {"error": [-32022, "c", {"reason": "compactionCancelled"}]}]}
    async with asyncio.timeout(WAIT), Client.spawn(FakeServer(tmp_path, script).command) as client:
        call = client.start("compact")
        call.cancel()
        with pytest.raises(RpcError, match="compactionCancelled"):
            await call


async def test_a_time_limit_ends_the_wait_and_the_request(tmp_path: Path) -> None:
    server = FakeServer(tmp_path, {"prompt": [{"forget": None}], "ping": [{"answer": {}}]})
    async with asyncio.timeout(WAIT), Client.spawn(server.command) as client:
        with pytest.raises(RequestTimedOut, match=r"prompt within 0\.01 s"):
            await client.request("prompt", {}, timeout=0.01)
        await client.ping()
    assert server.received()[1]["method"] == "$/cancelRequest"


async def test_a_crash_reaches_everybody_who_waits_with_the_code_and_the_last_words(tmp_path: Path) -> None:
    server = FakeServer(tmp_path, {"prompt": [{"forget": None}], "compact": [{"stderr": "out of luck\n"}, {"exit": 3}]})
    async with asyncio.timeout(WAIT), Client.spawn(server.command) as client:
        stream = client.notifications()
        calls = [client.start("prompt"), client.start("compact")]
        for waiting in (*calls, anext(stream)):
            with pytest.raises(ServerExited) as caught:
                await waiting
            assert (caught.value.code, caught.value.stderr_tail) == (3, "out of luck")
        with pytest.raises(ServerExited):
            await client.ping()
        assert client.returncode == 3


async def test_what_was_said_before_the_crash_is_still_heard(tmp_path: Path) -> None:
    script = {"prompt": [{"repeat": [1000, {"notify": ["turn_start", {}]}]}, {"exit": 0}]}
    async with asyncio.timeout(WAIT), Client.spawn(FakeServer(tmp_path, script).command) as client:
        stream = client.notifications()
        client.start("prompt")
        count = 0
        with pytest.raises(ServerExited, match="exited with code 0"):
            async for _ in stream:
                count += 1
    assert count == 1000


async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match=r"no-such-program serve.*on PATH"):
        await Client.open(["no-such-program", "serve"])
    with pytest.raises(CannotStart, match="no-such-folder"):
        await Client.open([sys.executable], cwd=tmp_path / "no-such-folder")


async def test_a_command_in_one_string_is_told_apart_from_a_program_that_is_not_there() -> None:
    told = r"'rpc-agent serve': give the command as a list of words, \['rpc-agent', 'serve'\]"
    with pytest.raises(CannotStart, match=told):
        await Client.open("rpc-agent serve")


@pytest.mark.parametrize("text", ["hello, I am a shell\n", "42\n"])
async def test_a_program_that_speaks_something_else_is_found_out_at_once(tmp_path: Path, text: str) -> None:
    server = FakeServer(tmp_path, {"": [{"raw": text}]})
    async with asyncio.timeout(WAIT), Client.spawn(server.command) as client:
        with pytest.raises(ProtocolViolation, match="Does the command start an rpc-agent server"):
            await client.ping()


async def test_requests_that_wait_at_the_close_hear_that_it_was_closed(tmp_path: Path) -> None:
    server = FakeServer(tmp_path, {"prompt": [{"forget": None}]})
    async with asyncio.timeout(WAIT):
        client = await Client.open(server.command)
        stream, call = client.notifications(), client.start("prompt")
        await client.aclose()
        await client.aclose()
        with pytest.raises(ConnectionClosed):
            await call
        assert [n async for n in stream] == []
        with pytest.raises(ConnectionClosed):
            await client.ping()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
async def test_a_cancelled_close_leaves_no_process_behind(tmp_path: Path) -> None:
    script = {"": [{"ignore_signals": None}], "ping": [{"answer": {}}], "shutdown": [{"hang": None}]}
    async with asyncio.timeout(WAIT):
        client = await Client.open(FakeServer(tmp_path, script).command)
        await client.ping()
        closing = asyncio.ensure_future(client.aclose())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        assert client.pid is not None and client._process is not None
        assert await client._process.wait(WAIT)
    assert not is_running(client.pid)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
async def test_a_server_that_ignores_everything_is_killed_in_bounded_time(tmp_path: Path) -> None:
    script = {"": [{"ignore_signals": None}], "ping": [{"answer": {}}], "shutdown": [{"hang": None}]}
    async with asyncio.timeout(WAIT):
        limits = CloseLimits(shutdown=0.1, exit=0.1, signal=1)
        client = await Client.open(FakeServer(tmp_path, script).command, close_limits=limits)
        await client.ping()
        await client.aclose()
    assert client.pid is not None
    assert (client.returncode, is_running(client.pid)) == (-9, False)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
async def test_a_server_that_has_lost_its_stdout_is_ended_and_everybody_hears_of_it(tmp_path: Path) -> None:
    server = FakeServer(tmp_path, {"prompt": [{"close_stdout": None}, {"hang": None}]})
    limits = CloseLimits(exit=0.05)
    async with asyncio.timeout(WAIT), Client.spawn(server.command, close_limits=limits) as client:
        with pytest.raises(ServerExited, match="signal 15"):
            await client.prompt("hi")


async def test_a_grandchild_that_holds_the_pipes_open_delays_nothing(tmp_path: Path) -> None:
    server = FakeServer(tmp_path, {"prompt": [{"leave_child": 8}, {"exit": 4}]})
    async with asyncio.timeout(6), Client.spawn(server.command) as client:
        with pytest.raises(ServerExited, match="code 4"):
            await client.prompt("hi")


async def test_a_log_line_without_an_end_comes_in_pieces(tmp_path: Path) -> None:
    server = FakeServer(tmp_path, {"": [{"stderr": "x" * 100_000}], "ping": [{"answer": {}}]})
    pieces: asyncio.Queue[str] = asyncio.Queue()
    async with asyncio.timeout(WAIT), Client.spawn(server.command, on_stderr=pieces.put_nowait) as client:
        assert await pieces.get() == "x" * 65_536
        await client.ping()


async def test_log_lines_and_traffic_can_be_followed(tmp_path: Path) -> None:
    server = FakeServer(tmp_path, {"": [{"stderr": "first\nsecond\n"}], "ping": [{"answer": {}}]})
    lines: list[str] = []
    traffic: list[tuple[str, bytes]] = []
    async with asyncio.timeout(WAIT):
        async with Client.spawn(
            server.command, on_stderr=lines.append, on_traffic=lambda *line: traffic.append(line)
        ) as client:
            await client.ping()
    assert lines == ["first", "second"]
    assert client.stderr_tail == "first\nsecond"
    assert traffic[:2] == [
        ("sent", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}'),
        ("received", b'{"jsonrpc": "2.0", "id": 1, "result": {}}'),
    ]


@pytest.mark.parametrize("result", ["x" * 200, float("nan"), {1, 2}])
async def test_an_answer_that_cannot_be_sent_is_an_error_and_no_silence(tmp_path: Path, result: Any) -> None:
    limits = {"limits": {"maxMessageBytes": 200}}
    server = FakeServer(
        tmp_path,
        {"initialize": [{"answer": limits}], "prompt": [{"ask": [1, "ui_input", {}], "await": ""}, {"answer": {}}]},
    )
    reported: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["message"]))
    async with asyncio.timeout(WAIT), Client.spawn(server.command) as client:
        await client.request("initialize")
        client.handle("ui_input", lambda params: {"text": result})
        await client.prompt("hi")
    answers = [message["error"]["code"] for message in server.received() if "error" in message]
    assert (answers, reported) == ([-32603], ["rpc_agent_client: the answer to ui_input could not be sent"])


async def test_a_listener_to_the_traffic_that_fails_keeps_nobody_from_an_answer(tmp_path: Path) -> None:
    def fails(direction: str, body: bytes) -> None:
        raise OSError(f"{direction}: the disk is full")

    reported: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["message"]))
    server = FakeServer(tmp_path, {"ping": [{"answer": {}}]})
    async with asyncio.timeout(WAIT), Client.spawn(server.command, on_traffic=fails) as client:
        await client.ping()
    assert set(reported) == {"rpc_agent_client: on_traffic failed"}


async def test_what_json_cannot_hold_is_refused_before_it_is_sent(tmp_path: Path) -> None:
    server = FakeServer(tmp_path, {"ping": [{"answer": {}}]})
    async with asyncio.timeout(WAIT), Client.spawn(server.command) as client:
        with pytest.raises(ValueError):
            await client.request("prompt", {"message": float("nan")})
        await client.ping()
    assert [m["method"] for m in server.received()] == ["ping", "shutdown", "exit"]


def test_importing_the_client_imports_only_the_standard_library() -> None:
    import subprocess  # noqa: PLC0415 - only this test

    program = (
        "import sys; before = set(sys.modules); import rpc_agent_client; "
        "print(sorted({m.partition('.')[0] for m in set(sys.modules) - before} - set(sys.stdlib_module_names)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=WAIT, check=True)
    assert done.stdout.strip() == "['rpc_agent_client']"


async def test_a_server_on_another_machine_is_told_of_no_process(tmp_path: Path) -> None:
    server = FakeServer(tmp_path, {})
    async with asyncio.timeout(WAIT), Client.spawn(server.command) as client:
        await client.initialize(name="here")
        await client.initialize(name="there", process_id=0)
    said = [message["params"].get("processId") for message in server.received() if message["method"] == "initialize"]
    assert said == [os.getpid(), None]
