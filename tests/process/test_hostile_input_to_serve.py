"""Everything a client can do wrong, said to `rpc-agent serve` itself: each has its answer, and the next works."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_server import Home
from tests.support.hostile_messages import HOSTILE, brief
from tests.support.rpc import LIMIT
from tests.support.serve_process import Framing, ServeProcess, serve_process

NEXT = "the next one"
METHODS = ("ping", "get_available_models", "get_commands", "list_sessions")


def answers_to(server: ServeProcess, message: bytes) -> list[Any]:
    """What comes back before the answer to a good request that follows."""
    server.send_bytes(message)
    server.send({"jsonrpc": "2.0", "id": NEXT, "method": "get_available_thinking_levels"})
    answers = []
    while (answer := server.receive()) is None or isinstance(answer, list) or answer.get("id") != NEXT:
        assert answer is not None, server.stderr
        if isinstance(answer, list) or "method" not in answer:
            answers.append(brief(answer))
    assert "result" in answer
    return answers


@pytest.mark.parametrize("framing", ["lines", "headers"])
def test_each_hostile_message_gets_its_answer_from_the_server_itself(tmp_path: Path, framing: Framing) -> None:
    # `ping` takes no parameters: what came through to it as parameters is refused by it, and not by the wire.
    expected = {
        name: [(1, -32602)] if wanted == [(1, "ok")] and b'"params"' in message else wanted
        for name, message, wanted in HOSTILE
    }
    with serve_process(Home(tmp_path), "--max-message-bytes", str(LIMIT), framing=framing) as server:
        found = {name: answers_to(server, message.replace(b'"echo"', b'"ping"')) for name, message, _ in HOSTILE}
        assert server.finish() == 0
    assert found == expected


@pytest.mark.parametrize("framing", ["lines", "headers"])
def test_two_hundred_requests_in_one_write_before_any_handshake_are_all_served(
    tmp_path: Path, framing: Framing
) -> None:
    requests = [b'{"id":%d,"method":"%b"}' % (n, METHODS[n % len(METHODS)].encode()) for n in range(200)]
    if framing == "headers":
        data = b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(each), each) for each in requests)
    else:
        data = b"\n".join(requests) + b"\n"
    with serve_process(Home(tmp_path), framing=framing) as server:
        assert server.process.stdin is not None
        server.process.stdin.write(data)
        server.close_stdin()
        answers = []
        while (answer := server.receive()) is not None:
            answers.append(brief(answer))
        assert server.wait() == 0
    assert sorted(answers) == [(n, "ok") for n in range(200)]


@pytest.mark.parametrize(
    ("framing", "data"),
    [("lines", b'{"jsonrpc":"2.0","id":1,"meth'), ("headers", b'Content-Length: 99\r\n\r\n{"id":1')],
)
def test_half_a_message_and_the_end_of_input_is_a_parse_error_and_the_usual_end(
    tmp_path: Path, framing: Framing, data: bytes
) -> None:
    with serve_process(Home(tmp_path), framing=framing) as server:
        assert server.process.stdin is not None
        server.process.stdin.write(data)
        server.close_stdin()
        assert (brief(server.receive()), server.receive(), server.wait()) == ((None, -32700), None, 0)
