"""A session of a hundred thousand entries: open at once, and the server answers others while it reads the rest."""

import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_server import Home
from tests.support.serve_process import ServeProcess, serve_process
from tests.support.sessions import HEADER, assistant, line, raw_entry

ENTRIES = 100_000
QUICK = 0.25
"""Seconds: a blocked event loop would answer after the second that reading the file takes."""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A label and a name at the front, a compaction near the end."""
    path = tmp_path_factory.mktemp("large") / "large.jsonl"
    said = line(raw_entry("e@@@@@@", "e######", "word " * 160))
    answered = line(raw_entry("e@@@@@@", "e######", type="message", message=assistant("word " * 160)))
    with path.open("wb") as file:
        file.write(line(HEADER))
        file.write(line(raw_entry("e000000", None)))
        file.write(line(raw_entry("label", "e000000", type="label", targetId="e000000", label="the start")))
        file.write(line(raw_entry("name", "label", type="session_info", name="a long talk")))
        file.write(line(raw_entry("e000001", "name")))
        for n in range(2, ENTRIES):
            # Mostly answers: those whom a list of user messages is for would not read a hundred thousand.
            pattern = answered if n % 100 else said
            file.write(pattern.replace(b"@@@@@@", b"%06d" % n, 1).replace(b"######", b"%06d" % (n - 1), 1))
        kept = {"type": "compaction", "summary": "s", "firstKeptEntryId": f"e{ENTRIES - 5:06}", "tokensBefore": 9}
        file.write(line(raw_entry("c", f"e{ENTRIES - 1:06}", **kept)))
        file.write(line(raw_entry("last", "c", "the end")))
    yield path
    path.unlink()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.script({"text": "one"}, {"text": "two"})
    return home


def pings_until(server: ServeProcess, wanted: int) -> tuple[list[float], Any]:
    """How long pings took, one after the other, until the answer to request `wanted` came; and that answer."""
    waits: list[float] = []
    result = None
    for number in itertools.count(1000):
        started = time.monotonic()
        server.request(number, "ping")
        while (message := server.receive()).get("id") != number:
            if message.get("id") == wanted:
                result = message["result"]
        waits.append(time.monotonic() - started)
        if result is not None:
            break
    return waits, result


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("get_tree", {"limit": 5}),
        ("get_entries", {"since": "e049999", "limit": 5}),
        ("get_entry", {"entryId": "e000001"}),
        ("get_fork_messages", {}),
        ("get_session_stats", {}),
        ("set_label", {"entryId": "e000001", "label": "x"}),
        ("get_tree", {"form": "nested", "depth": 3}),
    ],
)
def test_a_question_about_a_cold_large_file_holds_nobody_up(
    home: Home, large: Path, tmp_path: Path, method: str, params: dict[str, object]
) -> None:
    copy = tmp_path / "copy.jsonl"
    copy.hardlink_to(large) if method != "set_label" else copy.write_bytes(large.read_bytes())
    with serve_process(home) as server:
        server.request(1, "get_state")
        server.answer(1)
        started = time.monotonic()
        server.request(2, "open_session", {"path": str(copy)})
        assert server.answer(2)["messageCount"] == 7
        assert time.monotonic() - started < 1
        server.request(3, method, params)
        waits, result = pings_until(server, 3)
        assert max(waits) < QUICK
        # The question was a long one: the file had to be read.
        assert len(waits) > 10
        if method == "get_session_stats":
            assert (result["entries"], result["compactions"]) == (ENTRIES + 4, 1)


def test_the_name_and_the_labels_of_the_front_come_later_and_are_announced(home: Home, large: Path) -> None:
    with serve_process(home) as server:
        server.request(1, "open_session", {"path": str(large), "readOnly": True})
        assert "sessionName" not in server.answer(1)
        # Nobody asked for anything: the index is made in the background.
        assert server.until(method="session_info_changed")["params"]["name"] == "a long talk"
        server.request(2, "get_tree", {"limit": 1})
        assert server.answer(2)["nodes"][0]["label"] == "the start"
        server.request(3, "get_state")
        assert server.answer(3)["sessionName"] == "a long talk"


def test_a_session_that_is_closed_while_its_front_is_read_ends_at_once(home: Home, large: Path) -> None:
    with serve_process(home) as server:
        server.request(1, "open_session", {"path": str(large), "readOnly": True})
        server.answer(1)
        server.request(2, "close_session")
        server.answer(2)
        started = time.monotonic()
        assert server.finish() == 0
        assert time.monotonic() - started < 1.5
        assert server.stderr == ""
