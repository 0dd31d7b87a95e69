"""Our own part of a compaction: estimate, plan, prompt, entry, projection anew, with a model that answers at once.

Beside it stands reading the same messages from the file once, because nothing can take less than that.
"""

import asyncio
import itertools
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from bench.report import milliseconds, progress, row
from bench.session_files import write_chain
from rpc_agent.compaction.asking import SummaryAnswer, SummaryRequest
from rpc_agent.compaction.chunks import SummaryRoom
from rpc_agent.compaction.compact import compact, compaction_fields
from rpc_agent.compaction.planning import plan_compaction
from rpc_agent.compaction.policy import CompactionBudget
from rpc_agent.context.projection import project
from rpc_agent.context.token_classes import CLASSES
from rpc_agent.context.tokens import MessageEstimates
from rpc_agent.session.entries import Entry, new_entry
from rpc_agent.session.replay import read_session

_MESSAGES = (1_000, 10_000)
_ROOMS: Mapping[str, SummaryRoom | None] = {
    "one call": None,
    "chunks of a 200k window": SummaryRoom(window=200_000, max_tokens=16_000),
}
_TIMES = 3
_NOTES = "## Goal\n" + "Finish what was begun, and keep what was said about the parser and its tests.\n" * 20
_TEXTS = {
    "prose": "He read the parser and the tests beside it, and wrote down what was missing.\n",
    "code": "    if not found.isascii() and (place := index.get(key, -1)) >= 0x1F:\n        return rows[place:]\n",
    "Chinese": "他读了解析器和旁边的测试，并记下了还缺少什么。",
}
_TEXT_BYTES = 2_000_000


def compaction() -> None:
    """A compaction's own time beside one reading of the file, and how fast texts are estimated."""
    with tempfile.TemporaryDirectory() as folder:
        for messages in _MESSAGES:
            progress(f"compaction of {messages} messages")
            data = write_chain(Path(folder) / f"{messages}.jsonl", messages).read_bytes()
            reading = _fastest(lambda data=data: _path(data))  # type: ignore[misc]
            row(f"reading {messages:,} messages once", milliseconds(reading), f"{len(data) / 1e6:,.1f} MB")
            path = _path(data)
            for name, room in _ROOMS.items():
                own = _fastest(lambda path=path, room=room: asyncio.run(_compacted(path, room)))  # type: ignore[misc]
                row(f"  compacting them, {name}", milliseconds(own), f"{own / reading:.2f} of the reading")
    for name, text in _TEXTS.items():
        long = text * (_TEXT_BYTES // len(text.encode()))
        speed = len(long.encode()) / _fastest(lambda long=long: CLASSES.weigh(long))  # type: ignore[misc]
        row(f"estimating {name}", f"{speed / 1e6:,.0f} MB/s", "(aim: 20)")


def _path(data: bytes) -> list[Entry]:
    numbers = itertools.count()
    tree = read_session(data, draw_id=lambda: f"{next(numbers):08x}").tree
    return tree.path(tree.leaf_id)


async def _compacted(path: list[Entry], room: SummaryRoom | None) -> None:
    # A memory of its own each time: a session that was just opened has counted nothing yet.
    estimate = MessageEstimates(CLASSES)
    plan = plan_compaction(path, project(path), CompactionBudget(), estimate, room=room)
    outcome = await compact(plan, _at_once)
    fields = compaction_fields(outcome, entry_id="c", timestamp=0, thinking_level="off")
    entry = new_entry("compaction", fields, entry_id="c", parent_id=path[-1].id, timestamp="2026-01-01T00:00:00.000Z")
    assert project([*path, entry]).messages


async def _at_once(request: SummaryRequest) -> SummaryAnswer:
    return SummaryAnswer(text=_NOTES)


def _fastest(work: Callable[[], object]) -> float:
    """Processor seconds of the fastest of some tries: what others did to the machine meanwhile is none of ours."""
    taken = []
    for _ in range(_TIMES):
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return min(taken)
