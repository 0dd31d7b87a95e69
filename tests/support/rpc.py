"""A program that serves a few plain methods over stdio, and ways to drive it with raw bytes."""

import asyncio
import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any

from rpc_agent.rpc.calls import Call, Handler, Params
from rpc_agent.rpc.descriptors import claim_stdio
from rpc_agent.rpc.envelopes import Encoded
from rpc_agent.rpc.errors import RpcError
from rpc_agent.rpc.framing import Framing
from rpc_agent.rpc.peer import Peer
from rpc_agent.rpc.stdio import StdioTransport

LIMIT = 40 << 20


async def echo(call: Call, params: Params) -> Any:
    return params


async def measure(call: Call, params: Params) -> Any:
    return len(str(params))


async def flood(call: Call, params: Params) -> Any:
    assert isinstance(params, dict)
    for index in range(params["count"]):
        await call.peer.drained()
        call.peer.notify("flood", {"index": index, "filler": "x" * 1000})
    return params["count"]


async def wait_for_ever(call: Call, params: Params) -> Any:
    await asyncio.Event().wait()


async def finish_later(call: Call, params: Params) -> Any:
    """Long enough for the input to end first."""
    await asyncio.sleep(0.2)
    return "finished"


async def fail(call: Call, params: Params) -> Any:
    raise ValueError("a secret of our insides")


async def refuse(call: Call, params: Params) -> Any:
    raise RpcError(-32099, "Refused", {"reason": "refused"})


async def give_a_set(call: Call, params: Params) -> Any:
    return {1, 2}


async def give_encoded(call: Call, params: Params) -> Any:
    return Encoded(b'{"big":\r\n[1,2]}')


async def print_much(call: Call, params: Params) -> Any:
    print("a stray print")
    program = "import sys; print('a child read', repr(sys.stdin.read()))"
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", program)
    return await child.wait()


async def leave_a_child(call: Call, params: Params) -> Any:
    """Start a process that nobody waits for: its id."""
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", "import time; time.sleep(60)")
    return child.pid


async def heavy_modules(call: Call, params: Params) -> Any:
    return loaded_heavy_modules()


HEAVY = (
    "anyio", "dataclasses", "http.server", "httpx", "inspect", "jsonrpcserver.dispatcher", "jsonschema", "msgspec", "orjson",
    "pydantic",
)  # fmt: skip


def loaded_heavy_modules() -> list[str]:
    return [name for name in HEAVY if name in sys.modules]


def methods() -> Mapping[str, Handler]:
    return {
        "echo": echo,
        "measure": measure,
        "flood": flood,
        "wait_for_ever": wait_for_ever,
        "finish_later": finish_later,
        "fail": fail,
        "refuse": refuse,
        "give_a_set": give_a_set,
        "give_encoded": give_encoded,
        "print_much": print_much,
        "leave_a_child": leave_a_child,
        "heavy_modules": heavy_modules,
        "get_state": echo,  # The cases ask for it; any answer will do.
    }


def early_methods() -> Mapping[str, Any]:
    return {"initialize": lambda params: {"loaded": loaded_heavy_modules()}, "ping": lambda params: {}}


async def serve(input_fd: int, output_fd: int) -> None:
    """Serve two descriptors; on stderr a last line says how it ended."""
    chosen = sys.argv[1] if len(sys.argv) > 1 else "auto"
    framing: Framing | None = None if chosen == "auto" else "headers" if chosen == "headers" else "lines"
    transport = StdioTransport(input_fd, output_fd, framing=framing, max_message_bytes=LIMIT)
    ending = await Peer(transport, load=methods, early=early_methods()).run()
    print(f"ended: {ending}")


class Answers(list[Any]):
    """The messages that came back, decoded."""

    def of(self, id: Any) -> Any:
        return next(message for message in self if isinstance(message, dict) and message.get("id") == id)


def start(framing: str = "auto", **options: Any) -> "subprocess.Popen[bytes]":
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen([sys.executable, "-m", "tests.support.rpc", framing], **pipes)


def finish(process: "subprocess.Popen[bytes]") -> None:
    """End the program, whatever it does, and close the pipes."""
    process.kill()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
    process.wait()


def talk(data: bytes, framing: str = "auto", timeout: float = 60) -> tuple[bytes, str]:
    """Give the program `data` and the end of input: its output, and its stderr. It has to exit with 0."""
    process = start(framing)
    try:
        output, log = process.communicate(data, timeout=timeout)
    finally:
        process.kill()
    assert process.returncode == 0, log.decode()
    return output, log.decode()


def with_headers(*messages: bytes) -> bytes:
    return b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(message), message) for message in messages)


def split_lines(output: bytes) -> Answers:
    assert b"\r" not in output and (output.endswith(b"\n") or not output)
    return Answers(json.loads(line) for line in output.split(b"\n")[:-1])


def split_headers(output: bytes) -> Answers:
    answers = Answers()
    while output:
        head, _, rest = output.partition(b"\r\n\r\n")
        length = int(head.removeprefix(b"Content-Length: "))
        answers.append(json.loads(rest[:length]))
        output = rest[length:]
    return answers


class StderrLines:
    """Collects stderr in a thread, so that a full pipe never blocks the program."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self.text = ""
        self._thread = threading.Thread(target=self._collect, daemon=True)
        self._thread.start()

    def _collect(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as stream:
            self.text = stream.read().decode()

    def finished(self, timeout: float = 20) -> str:
        self._thread.join(timeout)
        return self.text


if __name__ == "__main__":
    asyncio.run(serve(*claim_stdio()))
