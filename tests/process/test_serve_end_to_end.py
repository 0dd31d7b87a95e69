"""`rpc-agent serve` as a user meets it: spawned, on pipes, in both framings, with and without a service behind it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.agent_server import PATIENCE, Home
from tests.support.chat_server import call_reply, serve_in_thread, text_reply
from tests.support.example_conversations import Conversation, bytes_to_send, conversations, fits
from tests.support.hooks import extension
from tests.support.serve_process import Framing, ServeProcess, serve_process

PROMPT = {"message": "What files are here?", "wait": True}


def one_prompt(home: Home) -> subprocess.CompletedProcess[bytes]:
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "prompt", "params": PROMPT}).encode() + b"\n"
    command = [sys.executable, "-m", "rpc_agent", "serve"]
    environment = {**os.environ, **home.environment, "PATH": os.environ["PATH"]}
    return subprocess.run(
        command, input=line, capture_output=True, cwd=home.project, env=environment, timeout=PATIENCE, check=False
    )


def test_a_prompt_from_a_shell_pipe_does_a_tool_turn_and_answers_with_no_key_and_no_handshake(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (home.project / "notes.txt").write_text("x")
    done = one_prompt(home)
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    methods = [message.get("method") for message in messages]
    assert done.returncode == 0
    assert methods.count("tool_execution_end") == 1
    assert methods[-2:] == ["agent_settled", None]
    assert "notes.txt" in messages[-1]["result"]["text"]
    # Chosen because there was nothing else, the offline model says what it is, everywhere.
    assert messages[-1]["result"]["model"] == "offline/offline"
    assert "offline model" in messages[-1]["result"]["text"].splitlines()[0]
    assert b"OPENAI_API_KEY" in done.stderr


def test_a_stray_print_or_a_tools_output_never_reaches_stdout(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(permissions={"mode": "allow"})
    home.script(
        {"toolCalls": [{"name": "bash", "arguments": {"command": "echo loud; echo louder >&2"}}]}, {"text": "ok"}
    )
    code = 'print("astray")\n@api.on("turn_end")\ndef stray(event):\n    print("astray again", flush=True)'
    extension(home.config / "extensions", code)
    done = one_prompt(home)
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    assert {message["jsonrpc"] for message in messages} == {"2.0"}
    assert (messages[-1]["result"]["text"], done.returncode) == ("ok", 0)
    assert b"\r" not in done.stdout
    assert (done.stderr.count(b"astray"), b"astray" in done.stdout) == (3, False)


@pytest.mark.parametrize("framing", ["lines", "headers"])
@pytest.mark.parametrize("cut", [1, 7, 0])
def test_the_same_through_a_real_http_service_whatever_the_pieces(tmp_path: Path, framing: Framing, cut: int) -> None:
    home = Home(tmp_path)
    (home.project / "notes.txt").write_text("x")
    replies = [call_reply(("ls", {}), cut=cut), text_reply("There is notes.txt, 你好 🌍.", cut=cut)]
    with serve_in_thread(replies) as service:
        provider = {"baseUrl": service.base_url, "api": "openai-completions", "apiKey": "sk-0123456789abcdef-secret"}
        home.models({"mine": {**provider, "models": [{"id": "m", "contextWindow": 100_000, "maxTokens": 1000}]}})
        with serve_process(home, "--model", "mine/m", framing=framing) as server:
            server.request(1, "prompt", PROMPT)
            result = server.answer(1)
            assert (result["text"], result["stopReason"], result["model"]) == (
                "There is notes.txt, 你好 🌍.",
                "stop",
                "mine/m",
            )
            assert server.finish() == 0
        assert service.faults == []
        assert [message["role"] for message in service.requests[1]["messages"]] == [
            "system",
            "user",
            "assistant",
            "tool",
        ]
        assert service.requests[1]["messages"][-1]["content"] == "notes.txt\n"
    assert "sk-0123456789abcdef-secret" not in server.stderr
    assert not any("sk-0123456789" in file.read_text() for file in home.sessions.rglob("*.jsonl"))


_PROBE = """
import os, select, sys
from rpc_agent.__main__ import main

stdin, to_server = os.pipe()
from_server, stdout = os.pipe()
os.write(to_server, sys.argv[1].encode())
os.dup2(stdin, 0), os.dup2(stdout, 1)

class Watch:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("asyncio", "logging"):
            answered = bool(select.select([from_server], [], [], 0)[0])
            os.write(2, os.read(from_server, 9999) if answered else b"nothing before " + name.encode())
            os._exit(0)

sys.meta_path.insert(0, Watch())
sys.exit(main(["serve"]))
"""
"""Looks, when asyncio or logging is first asked for, what has been answered until then."""


def first_answer(*messages: str) -> bytes:
    command = [sys.executable, "-c", _PROBE, "".join(f"{message}\n" for message in messages)]
    return subprocess.run(command, capture_output=True, timeout=PATIENCE, check=True).stderr


def test_before_the_first_answer_nothing_heavy_is_imported() -> None:
    ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    assert first_answer(ping) == b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
    assert first_answer('{"jsonrpc":"2.0","id":1,"method":"get_state"}') == b"nothing before logging"
    initialize = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}'
    assert json.loads(first_answer(initialize))["result"]["protocolVersion"] == 1


@pytest.mark.parametrize("framing", ["lines", "headers"])
def test_initialize_tells_what_the_server_can_do_and_exit_ends_it(tmp_path: Path, framing: Framing) -> None:
    with serve_process(Home(tmp_path), framing=framing) as server:
        client = {"name": "test", "version": "1"}
        server.request(1, "initialize", {"protocolVersion": 99, "clientInfo": client, "capabilities": {"future": [1]}})
        result = server.answer(1)
        assert (result["protocolVersion"], result["serverInfo"]["name"]) == (1, "rpc-agent")
        assert result["limits"] == {"maxMessageBytes": 64 << 20, "maxInFlight": 1024}
        server.send({"jsonrpc": "2.0", "method": "initialized"})
        server.request(2, "shutdown")
        assert server.answer(2) is None
        server.send({"jsonrpc": "2.0", "method": "exit"})
        assert server.wait() == 0


def test_exit_without_shutdown_is_told_by_the_exit_code(tmp_path: Path) -> None:
    with serve_process(Home(tmp_path)) as server:
        server.send({"jsonrpc": "2.0", "method": "exit"})
        assert server.wait() == 1


def test_a_wrong_option_is_a_usage_error(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "rpc_agent", "serve", "--permisions", "allow"]
    done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"--permisions" in done.stderr


@pytest.mark.parametrize("framing", ["lines", "headers"])
@pytest.mark.parametrize("conversation", conversations(), ids=[each.name for each in conversations()])
def test_the_conversations_of_the_contract_happen_so(
    tmp_path: Path, conversation: Conversation, framing: Framing
) -> None:
    home = Home(tmp_path)
    for path, text in conversation.files.items():
        file = home.project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    known: dict[str, str] = {}
    with serve_process(home, framing=framing) as server:
        if framing == "headers":
            server.request(0, "ping")
            server.answer(0)
        for step in conversation.steps:
            if "receive" in step:
                known = _receive(server, step["receive"], known)
            elif "exit" in step:
                assert server.finish() == step["exit"]
            elif step.get("end") and framing == "headers":
                return  # How an input ends in the middle of a message differs by framing; tests/rpc has both.
            else:
                _send(server, bytes_to_send(step, known), framing, ends=bool(step.get("end")))


def _send(server: ServeProcess, data: bytes, framing: Framing, *, ends: bool) -> None:
    if framing == "headers":
        server.send_bytes(data.removesuffix(b"\n").removesuffix(b"\r").removeprefix(b"\xef\xbb\xbf"))
        return
    assert server.process.stdin is not None
    server.process.stdin.write(data)
    server.process.stdin.flush()
    if ends:
        server.close_stdin()


def _receive(server: ServeProcess, pattern: object, known: dict[str, str]) -> dict[str, str]:
    while (message := server.receive()) is not None:
        now = fits(pattern, message, known)
        if now is not None:
            return now
    raise AssertionError(f"the server ended before {pattern}: {server.stderr}")


def test_a_trace_holds_both_directions_good_messages_and_bad(tmp_path: Path) -> None:
    home, trace = Home(tmp_path), tmp_path / "trace.jsonl"
    with serve_process(home, "--trace", str(trace)) as server:
        server.request(1, "ping")
        server.answer(1)
        server.send_bytes(b"not json")
        server.receive()
        assert server.finish() == 0
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    assert [(line["direction"], line.get("message", {}).get("id"), line.get("text")) for line in lines] == [
        ("in", 1, None),
        ("out", 1, None),
        ("in", None, "not json"),
        ("out", None, None),
    ]


def test_a_trace_that_cannot_be_written_is_a_usage_error(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "rpc_agent", "serve", "--trace", str(tmp_path / "no" / "folder")]
    done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"folder" in done.stderr
