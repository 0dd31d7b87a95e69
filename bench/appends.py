"""Append and announce: from a change of the session to its line in the file and its notifications, in one process."""

import tempfile
import time
from pathlib import Path

from bench.report import row
from rpc_agent.conversation.blocks import UserBlock, text_block
from rpc_agent.conversation.messages import user_message
from rpc_agent.runtime.events import SessionEvent
from rpc_agent.runtime.identity import SystemIdentity
from rpc_agent.runtime.session_log import SessionLog
from rpc_agent.server.notifications import to_notification
from rpc_agent.storage.session_store import SessionStore

_APPENDS = 5_000


def appends() -> None:
    """`record` of a message of 1 KB: one entry, three notifications made of it."""
    heard: list[object] = []

    def announce(event: SessionEvent) -> None:
        heard.append(to_notification(event))

    with tempfile.TemporaryDirectory() as folder:
        store = SessionStore.create(Path(folder), cwd=folder, identity=SystemIdentity())
        log = SessionLog(store, announce)
        content: list[UserBlock] = [text_block("x" * 900)]
        log.record(user_message("begin", timestamp=1))
        times = []
        for number in range(_APPENDS):
            started = time.perf_counter()
            log.record(user_message(content, timestamp=number))
            times.append(time.perf_counter() - started)
        store.close()
    times.sort()
    row("append + announce, p50", f"{times[len(times) // 2] * 1e6:.0f} us", "(aim: 100 us)")
    row("append + announce, p99", f"{times[len(times) * 99 // 100] * 1e6:.0f} us", "")
