"""Extensions in a real server: what they print, and that none of them keeps the process alive."""

import signal
import sys
import time
from pathlib import Path

import pytest

from tests.support.agent_server import PATIENCE, Home
from tests.support.hooks import extension
from tests.support.serve_process import serve_process

PRINTS = """
import subprocess
print("hello from register")

@api.on("input")
def shout(event):
    print("hello from a handler")
    subprocess.run(["echo", "hello from a child"], check=True)
    return {"text": event["text"].upper()}
"""
HANGS = """
@api.on("input")
def hang(event):
    open(flag, "w").close()
    time.sleep(600)
"""


def test_what_an_extension_prints_stays_out_of_the_protocol(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "ok"})
    with serve_process(home, "--extension", extension(tmp_path, PRINTS)) as server:
        server.request(1, "prompt", {"message": "said", "wait": True})
        assert server.answer(1)["text"] == "ok"
        server.request(2, "get_fork_messages")
        assert [each["text"] for each in server.answer(2)["messages"]] == ["SAID"]
        assert server.finish() == 0
    assert server.stderr.count("hello") == 3


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGTERM to wait for")
def test_a_handler_that_hangs_does_not_keep_the_process_alive(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "ok"})
    flag = tmp_path / "hanging"
    file = extension(tmp_path, f"flag = {str(flag)!r}\n{HANGS}")
    with serve_process(home, "--extension", file) as server:
        server.request(1, "prompt", {"message": "said"})
        number, deadline = 2, time.monotonic() + PATIENCE
        while not flag.exists():
            assert time.monotonic() < deadline
            server.request(number, "ping")
            assert server.answer(number) == {}
            number += 1
        server.process.send_signal(signal.SIGTERM)
        assert server.wait(6) == 0
