"""Searching a session's bytes: what is found, in which order, and how long a hundred thousand entries take."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpc_agent.runtime.session_history import SessionHistory
from rpc_agent.storage.history_search import read, search
from rpc_agent.storage.history_worker import Question
from rpc_agent.storage.session_store import SessionStore
from rpc_agent.tools.failure import ToolFailure
from tests.support.sessions import CountingIdentity

pytestmark = pytest.mark.anyio

TIME = "2026-01-01T00:00:00.000Z"


def line(entry_id: str, text: str, **fields: Any) -> bytes:
    message = {"role": "user", "content": text, "timestamp": 1}
    raw = {"type": "message", "id": entry_id, "parentId": None, "timestamp": TIME, "message": message, **fields}
    return json.dumps(raw, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def ids(data: bytes, query: str, limit: int = 10) -> list[str]:
    return [each.id for each in search(data, query, limit)]


DATA = b"".join(
    [
        b'{"type":"session","version":3,"id":"s","timestamp":"x","cwd":"/"}\n',
        line("a", "The port is 8080 and the path C:\\new\\file"),
        line("b", 'He said "PORT 9090"\nand went on'),
        b"torn {\n",
        line("c", "Größe und 漢字 port"),
        line("d", "cost: $5.00 (approx) [see port]"),
    ]
)


def test_an_entry_whose_id_became_a_number_is_found_and_read_by_its_digits() -> None:
    numbered = line("x", "a lighthouse").replace(b'"x"', b"12345678")
    data = DATA + numbered + line("e", "the child of 12345678", parentId="12345678")
    assert ids(data, "lighthouse") == ["12345678"]
    assert [each.id for each in read(data, "12345678", 2)] == ["12345678", "e"]
    hidden = line("f", "", type="context_edit", targetId=12345678, replacement=None)
    assert ids(data + hidden, "lighthouse") == []


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("port", ["d", "c", "b", "a"]),
        ("port said", ["b"]),
        ("GRÖßE", ["c"]),
        ("漢字", ["c"]),
        ("C:\\new\\file", ["a"]),
        ('"PORT', ["b"]),
        (r"port (is )?\d{4}", ["b", "a"]),
        (r"^and went", ["b"]),
        ("8080|9090", ["b", "a"]),
        ("$5.00 (approx)", ["d"]),
        ("[see port]", ["d", "c", "b", "a"]),
        ("(broken", []),
        ("absent", []),
        (" ", []),
    ],
)
def test_words_and_expressions_find_the_newest_first(query: str, found: list[str]) -> None:
    assert ids(DATA, query) == found


def test_the_limit_takes_the_newest() -> None:
    assert ids(DATA, "port", 2) == ["d", "c"]


def test_an_id_reads_on_from_its_entry_and_the_last_line_with_it_counts() -> None:
    data = DATA + line("b", "again") + line("e", "end")
    assert [(each.id, each.text) for each in read(data, "b", 2)] == [("b", "again"), ("e", "end")]
    assert read(data, "zz", 1) == [] and read(data, "s", 1) == []


TEXT = st.text(st.sampled_from('ab1_ "\\\n.é漢ſ|*?[]{}()'), min_size=1, max_size=12)


@given(st.lists(TEXT, min_size=1, max_size=6), TEXT)
def test_skipping_lines_never_skips_one_that_fits(texts: list[str], query: str) -> None:
    data = b"".join(line(f"e{at}", text) for at, text in enumerate(texts))
    words = [word.lower() for word in query.split()]
    wanted = [f"e{at}" for at, text in enumerate(texts) if words and all(word in text.lower() for word in words)]
    assert set(wanted) <= set(ids(data, query, 100))


async def test_a_hundred_thousand_entries_are_searched_in_well_under_a_second(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    padding = "some words of a long conversation that says nothing in particular " * 4
    with path.open("wb") as file:
        file.write(b'{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}\n')
        for at in range(100_000):
            file.write(line(f"{at:08x}", f"{padding} number {at}", parentId=f"{at - 1:08x}" if at else None))
    store = SessionStore.open(path, identity=CountingIdentity(), read_only=True)
    history = SessionHistory(store, {})
    taken = []
    for query in ("number 777 conversation", r"number\s+777$", "absent-altogether"):
        started = time.perf_counter()
        found = await history.search(query, 20)
        taken.append(time.perf_counter() - started)
        assert (not found) == (query == "absent-altogether")
    started = time.perf_counter()
    (entry,) = await history.read("00000309", 1)
    taken.append(time.perf_counter() - started)
    store.close()
    assert entry.text.endswith("number 777")
    # The process starts in a tenth of a second and reads a hundred megabytes in a third; the rest is for a busy machine.
    assert sorted(taken)[1] < 1.0, taken


async def test_an_expression_without_an_end_is_stopped(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(DATA + line("x", "a" * 60 + "!"))
    store = SessionStore.open(path, identity=CountingIdentity(), read_only=True)
    history = SessionHistory(store, {}, seconds=0.5)
    with pytest.raises(ToolFailure, match="took more than"):
        await history.search("(a+)+$", 5)
    store.close()


def test_the_process_answers_on_its_own(tmp_path: Path) -> None:
    question = Question(path=None, query="9090", entry_id=None, limit=1).to_argument()
    command = [sys.executable, "-m", "rpc_agent.storage.history_worker", question]
    done = subprocess.run(command, input=DATA, capture_output=True, timeout=30, check=True)
    assert [each["id"] for each in json.loads(done.stdout)] == ["b"]
