"""Text that is piped into `run`: behind a question or as one, whole, in bounded size and bounded patience."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rpc_agent.cli.piped_text import TooMuchText, read_piped

SECONDS = 60


def piped(data: bytes) -> int:
    """The reading end of a pipe that holds `data`, closed at the other end."""
    ours, theirs = os.pipe()
    os.write(theirs, data)
    os.close(theirs)
    return ours


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"\xef\xbb\xbfError\r\nin line 3\n", "Error\nin line 3\n"),
        (b"torn \xff\xe6\xbc\xa2 \xe6\xbc", "torn \ufffd\u6f22 \ufffd"),
    ],
)
def test_it_is_read_to_its_end_whatever_its_bytes(data: bytes, text: str) -> None:
    assert read_piped(piped(data), first_within=SECONDS) == text


def test_a_pipe_that_nobody_writes_to_is_not_waited_for() -> None:
    ours, theirs = os.pipe()
    assert read_piped(ours, first_within=0.01) is None
    os.close(theirs)


def test_more_than_a_model_could_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_bytes(b"x" * (1 << 20))
    assert read_piped(os.open(file, os.O_RDONLY), most_bytes=1 << 20) == "x" * (1 << 20)
    # Stays open: the reading thread would read from whatever gets its number next.
    with pytest.raises(TooMuchText, match="name the file"):
        read_piped(os.open(file, os.O_RDONLY), most_bytes=(1 << 20) - 1)


def asked(tmp_path: Path, *arguments: str, stdin: int) -> tuple[str, str]:
    """The message that the server was sent, and what was told beside it."""
    done = subprocess.run(
        [sys.executable, "-m", "rpc_agent", "run", "--json", "--model", "offline/offline", "--no-session", *arguments],
        cwd=tmp_path,
        stdin=stdin,
        capture_output=True,
        timeout=SECONDS,
        check=True,
    )
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    return next(m["params"]["message"] for m in messages if m.get("method") == "prompt"), done.stderr.decode()


@pytest.mark.parametrize(
    ("given", "data", "message"),
    [
        (["explain"], b"Error: 42\n", "explain\n\nError: 42\n"),
        (["explain"], b" \n", "explain"),
        ([], b"explain\n", "explain\n"),
        (["-"], b"explain\n", "explain\n"),
    ],
)
def test_a_question_and_what_is_piped_in_are_one_message(
    tmp_path: Path, given: list[str], data: bytes, message: str
) -> None:
    assert asked(tmp_path, *given, stdin=piped(data))[0] == message


def test_a_question_is_asked_although_the_pipe_stays_silent(tmp_path: Path) -> None:
    ours, theirs = os.pipe()
    message, told = asked(tmp_path, "explain", stdin=ours)
    os.close(theirs)
    assert message == "explain"
    assert "nothing came through the pipe" in told
