"""`run`: the answer on stdout, the rest on stderr. Against a scripted server."""

import argparse
import asyncio
import errno
import io
import subprocess
from pathlib import Path
from typing import Any

import pytest
from rpc_agent_client import CannotStart, Client, RpcError, ServerExited

from rpc_agent.cli.advice import explain, next_step
from rpc_agent.cli.run import Answer, _parser, _verdict, ask
from rpc_agent.cli.server_options import server_command
from rpc_agent.cli.terminal import Terminal, raw_messages
from tests.support.fake_server import FakeServer

pytestmark = pytest.mark.anyio

TURN = [
    {"notify": ["message_update", {"assistantMessageEvent": {"type": "thinking_delta", "delta": "hm"}}]},
    {"notify": ["message_update", {"assistantMessageEvent": {"type": "text_delta", "delta": "I will "}}]},
    {"notify": ["message_update", {"assistantMessageEvent": {"type": "text_delta", "delta": "look."}}]},
    {"notify": ["message_end", {"message": {"role": "assistant"}}]},
    {"notify": ["tool_execution_start", {"toolName": "ls", "args": {"path": "."}}]},
    {
        "notify": [
            "tool_execution_end",
            {"toolName": "ls", "isError": True, "result": {"content": [{"type": "text", "text": "\n gone"}]}},
        ]
    },
    {"notify": ["message_update", {"assistantMessageEvent": {"type": "text_delta", "delta": "Nothing\x1b[2J here."}}]},
    {"notify": ["message_end", {"message": {"role": "assistant"}}]},
]


async def run(folder: Path, *actions: dict[str, Any]) -> tuple[str, str, Any]:
    stdout, stderr = io.StringIO(), io.StringIO()
    out, err = Terminal(stdout, {}), Terminal(stderr, {})
    server = FakeServer(folder, {"prompt": list(actions)})
    async with asyncio.timeout(20), Client.spawn(server.command) as client:
        result = await ask(client, "hi", Answer(out, err))
        assert server.received()[0]["params"] == {"message": "hi", "wait": True}
        code = _verdict(result, err)
    return stdout.getvalue(), stderr.getvalue(), code


async def test_the_answer_is_plain_text_and_tools_are_told_beside_it(tmp_path: Path) -> None:
    out, err, code = await run(tmp_path, *TURN, {"answer": {"stopReason": "stop", "text": "Nothing here."}})
    assert out == "I will look.\nNothing\ufffd[2J here.\n"
    assert err == "ls(path=.)\nls failed: gone\n"
    assert code == 0


async def test_a_failed_run_says_what_and_what_next(tmp_path: Path) -> None:
    failed = {
        "stopReason": "error",
        "text": "",
        "errorMessage": "the service refused the key",
        "error": {"code": -32033, "reason": "providerFailed"},
    }
    out, err, code = await run(tmp_path, {"answer": failed})
    assert (out, code) == ("", 1)
    assert err == f"rpc-agent run: the service refused the key\n  {next_step('providerFailed')}\n"


class SmallDisk(io.StringIO):
    """Room for a few lines."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor, self._left = descriptor, 3

    def fileno(self) -> int:
        return self._descriptor

    def write(self, text: str) -> int:
        self._left -= 1
        if self._left < 0:
            raise OSError(errno.ENOSPC, "full")
        return super().write(text)


async def test_raw_messages_that_cannot_be_written_end_the_run_with_the_fault(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        out = Terminal(SmallDisk(file.fileno()), {})
        server = FakeServer(tmp_path, {"prompt": [*TURN, {"answer": {"stopReason": "stop"}}]})
        async with asyncio.timeout(20), Client.spawn(server.command, on_traffic=raw_messages(out)) as client:
            with pytest.raises(OSError, match="full"):
                await ask(client, "hi", Answer(out, Terminal(io.StringIO(), {}), quiet=True))


@pytest.mark.parametrize(("reason", "code", "told"), [("aborted", 1, "was aborted"), ("length", 0, "was cut off")])
async def test_an_incomplete_answer_is_said_to_be_incomplete(tmp_path: Path, reason: str, code: int, told: str) -> None:
    _, err, got = await run(tmp_path, {"answer": {"stopReason": reason, "text": ""}})
    assert (got, told in err) == (code, True)


async def test_an_error_before_the_run_reaches_the_caller_with_advice(tmp_path: Path) -> None:
    refusal = {"error": [-32032, "no key: set OPENAI_API_KEY", {"reason": "authMissing"}]}
    with pytest.raises(RpcError) as caught:
        await run(tmp_path, refusal)
    assert explain(caught.value) == ["no key: set OPENAI_API_KEY", next_step("authMissing")]


async def test_other_failures_are_explained_too() -> None:
    assert explain(ServerExited(2, "tail"))[0] == "The server ended before it answered (exit code 2)."
    assert explain(CannotStart("could not start"))[0] == "could not start"


async def test_options_of_serve_are_handed_on_and_nothing_else(tmp_path: Path) -> None:
    options = _parser().parse_args(["hi", "--json", "--model", "a/b", "--continue", "--cwd", str(tmp_path)])
    command = server_command(options)
    assert command[1:5] == ["-P", "-m", "rpc_agent", "serve"]
    assert command[5:] == ["--model", "a/b", "--cwd", str(tmp_path), "--continue"]


def test_every_option_that_is_handed_on_is_one_that_serve_takes() -> None:
    options = _parser().parse_args(["hi", "--no-session", "--no-offline", "--no-context-files", "--continue"])
    every = argparse.Namespace(**{name: "x" if value is None else value for name, value in vars(options).items()})
    serve = subprocess.run([*server_command(every), "--help"], capture_output=True, text=True, timeout=30, check=True)
    taken = {word for line in serve.stdout.splitlines() for word in line.split()[:1]}
    assert {word for word in server_command(every) if word.startswith("--")} <= taken
