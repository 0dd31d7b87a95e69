"""Somebody stops reading: the client, so that the server must not write; then the server, so that the client must not.

Nothing is lost either way, memory stays bounded, and all goes on when reading does.
"""

import json
import select
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_server import PATIENCE, Home
from tests.support.processes import resident_mebibytes, wait_until_idle
from tests.support.serve_process import unread_process

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

REQUESTS = 20_000
FILLER = {"filler": "x" * 500}
"""So that all requests together are larger than what the server reads ahead."""
MOST_MEBIBYTES = 150
METHODS = ("get_settings", "ping", "get_session_stats", "get_available_thinking_levels")


def request(id: int, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode() + b"\n"


def test_twenty_thousand_requests_unread_make_the_client_wait_and_are_all_answered(tmp_path: Path) -> None:
    with unread_process(Home(tmp_path)) as server:
        assert server.stdin is not None and server.stdout is not None
        stdin = server.stdin
        data = b"".join(request(id, METHODS[id % len(METHODS)], _meta=FILLER) for id in range(REQUESTS))

        def write_all() -> None:
            with stdin:
                stdin.write(data)

        stdin.write(request(-1, "get_state"))
        stdin.flush()
        assert json.loads(server.stdout.readline())["id"] == -1
        writing = threading.Thread(target=write_all, daemon=True)
        writing.start()
        # Its first words say that it is at work.
        assert select.select([server.stdout], [], [], PATIENCE)[0]
        wait_until_idle(server.pid)
        assert writing.is_alive(), "the server has stopped reading"
        assert resident_mebibytes(server.pid) < MOST_MEBIBYTES
        answers = [json.loads(line) for line in server.stdout]
        writing.join(10)
        assert server.wait(20) == 0
    assert sorted(answer["id"] for answer in answers if "id" in answer) == list(range(REQUESTS))
    # What was more than a server works on at once was refused at once, as something to be tried again.
    assert {answer["error"]["data"]["reason"] for answer in answers if "error" in answer} <= {"overloaded"}
    assert sum("result" in answer for answer in answers) > REQUESTS // 2


def test_a_model_is_slowed_by_a_client_that_does_not_read_and_every_word_arrives(tmp_path: Path) -> None:
    home = Home(tmp_path)
    words = "".join(f"word {n} " for n in range(40_000))
    home.script({"text": words, "chunk": 12})
    with unread_process(home) as server:
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write(request(1, "prompt", message="go", wait=True))
        server.stdin.flush()
        # Its first words say that it is at work.
        assert select.select([server.stdout], [], [], PATIENCE)[0]
        wait_until_idle(server.pid)
        assert resident_mebibytes(server.pid) < MOST_MEBIBYTES
        # While the answers are not read, a request is: the client may yet want to stop what it cannot read.
        server.stdin.write(request(2, "get_queue"))
        server.stdin.close()
        messages = [json.loads(line) for line in server.stdout]
        assert server.wait(20) == 0
    by_id = {message["id"]: message["result"] for message in messages if "id" in message}
    assert (by_id[1]["stopReason"], by_id[1]["text"] == words) == ("stop", True)
    updates = [m["params"]["assistantMessageEvent"] for m in messages if m.get("method") == "message_update"]
    assert "".join(update["delta"] for update in updates if update["type"] == "text_delta") == words
    sequence = [message["params"]["seq"] for message in messages if "seq" in message.get("params", {})]
    assert sequence == list(range(1, len(sequence) + 1))
