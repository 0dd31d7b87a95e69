"""On a disk that takes its time: what is announced as done is on it."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import anyio
import pytest

from rpc_agent.agent.abort import Abort
from rpc_agent.runtime.client_port import NoClient
from rpc_agent.runtime.compactor import CompactionOptions
from rpc_agent.runtime.events import SessionEvent
from rpc_agent.runtime.extension_shelf import ExtensionShelf
from rpc_agent.runtime.identity import SystemIdentity
from rpc_agent.runtime.live_session import LiveSession
from rpc_agent.runtime.navigator import NavigationOptions
from rpc_agent.runtime.run import RunLimits
from rpc_agent.runtime.services import LaunchOptions, Services
from rpc_agent.runtime.session_registry import SessionRegistry
from rpc_agent.storage.session_store import SessionStore
from tests.support.agent_server import PATIENCE, Home
from tests.support.hooks import extension

pytestmark = pytest.mark.anyio


class SlowDisk(SessionStore):
    """A store whose disk is done when the test says so. `on_disk` are the types of the custom entries it has."""

    asked: anyio.Event
    done: anyio.Event
    on_disk: Sequence[str] = ()

    async def sync(self) -> None:
        written = [entry.raw["customType"] for entry in self.branch() if entry.raw["type"] == "custom"]
        self.asked.set()
        await self.done.wait()
        await super().sync()
        self.on_disk = written

    def be_slow(self) -> None:
        self.asked, self.done = anyio.Event(), anyio.Event()


class Names:
    """Hears the names of events, and notes of each the custom entries that the disk had by then."""

    def __init__(self, store: SlowDisk) -> None:
        self._store = store
        self.heard: list[str] = []
        self.on_disk: dict[str, Sequence[str]] = {}

    def hear(self, event: SessionEvent, run_id: str | None) -> None:
        self.heard.append(type(event).__name__)
        self.on_disk[type(event).__name__] = self._store.on_disk

    async def drained(self) -> None:
        pass


def a_session(
    home: Home, spawn: Callable[[Callable[[], Awaitable[None]]], None]
) -> tuple[LiveSession, SlowDisk, Names]:
    services = Services(
        launch=LaunchOptions(cwd=home.project, config_dir=home.config),
        environment=home.environment,
        identity=SystemIdentity(),
        spawn=spawn,
        client=NoClient(),
        extensions=ExtensionShelf(home.config),
    )
    store = SlowDisk.create(home.sessions, cwd=str(home.project), identity=services.identity)
    assert isinstance(store, SlowDisk)
    store.be_slow()
    session, names = SessionRegistry(services).adopt(store, home.project), Names(store)
    session.parts.broadcast.listen(names)
    return session, store, names


async def test_the_end_of_a_turn_and_of_a_compaction_wait_for_the_disk(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "An answer. " * 50}, summaries=[{"text": "## Goal\nWhat was asked."}])
    async with anyio.create_task_group() as tasks:
        session, store, names = a_session(home, tasks.start_soon)
        with anyio.fail_after(PATIENCE):
            accepted = session.prompt("a question " * 500, behavior=None, limits=RunLimits())
            accepted.begin()
            await store.asked.wait()
            # Recorded and announced, but the turn is not over while the disk works; everything else goes on.
            assert "TurnEnd" not in names.heard
            assert session.state().is_streaming
            store.done.set()
            await session.idle()
            assert names.heard.count("TurnEnd") == 1

            store.be_slow()
            tasks.start_soon(session.compact, CompactionOptions(keep_recent_tokens=1), Abort())
            await store.asked.wait()
            assert "CompactionStart" in names.heard
            assert "CompactionEnd" not in names.heard
            store.done.set()
            await session.idle()
            assert names.heard.count("CompactionEnd") == 1
            await session.close()


NOTES = """
@api.on("turn_end")
def note_the_turn(event):
    return {"entries": [{"type": "custom", "customType": "turn"}]}

@api.on("agent_before_settle")
def note_the_end(event):
    return {"entries": [{"type": "custom", "customType": "end"}]}
"""


async def test_what_extensions_add_at_the_end_of_a_turn_is_on_the_disk_before_the_turn_is_over(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "An answer."})
    extension(home.config / "extensions", NOTES)
    async with anyio.create_task_group() as tasks:
        session, store, names = a_session(home, tasks.start_soon)
        with anyio.fail_after(PATIENCE):
            store.done.set()
            session.prompt("a question", behavior=None, limits=RunLimits()).begin()
            await session.idle()
            assert names.on_disk["TurnEnd"] == ["turn"]
            assert names.on_disk["AgentSettled"] == ["turn", "end"]
            await session.close()


OWN_SUMMARY = """
@api.on("session_before_compact")
def summarise(event):
    kept = event["preparation"]["firstKeptEntryId"]
    return {"compaction": {"summary": "All of it.", "firstKeptEntryId": kept, "tokensBefore": 9}}
"""


async def test_the_end_of_a_compaction_that_an_extension_wrote_waits_for_the_disk_too(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "An answer. " * 50})
    extension(home.config / "extensions", OWN_SUMMARY)
    async with anyio.create_task_group() as tasks:
        session, store, names = a_session(home, tasks.start_soon)
        with anyio.fail_after(PATIENCE):
            store.done.set()
            session.prompt("a question " * 500, behavior=None, limits=RunLimits()).begin()
            await session.idle()
            store.be_slow()
            tasks.start_soon(session.compact, CompactionOptions(keep_recent_tokens=1), Abort())
            await store.asked.wait()
            assert [entry.raw["summary"] for entry in store.branch() if entry.raw["type"] == "compaction"] == [
                "All of it."
            ]
            assert "CompactionEnd" not in names.heard
            store.done.set()
            await session.idle()
            assert names.heard.count("CompactionEnd") == 1
            await session.close()


async def test_a_move_and_a_close_are_over_when_the_disk_has_them(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "An answer. " * 50}, summaries=[{"text": "## Goal\nWhat was asked."}] * 3)
    async with anyio.create_task_group() as tasks:
        session, store, _ = a_session(home, tasks.start_soon)
        with anyio.fail_after(PATIENCE):
            store.done.set()
            session.prompt("a question " * 500, behavior=None, limits=RunLimits()).begin()
            await session.idle()
            await session.compact(CompactionOptions(keep_recent_tokens=1), Abort())
            first = store.whole_branch()[0].id
            works: list[Callable[[], Awaitable[object]]] = [
                lambda: session.undo_compaction(None),
                lambda: session.navigate(first, NavigationOptions()),
                lambda: session.navigate(str(store.entries().entries[2].id), NavigationOptions()),
                lambda: session.navigate(first, NavigationOptions(summarize=True)),
                session.close,
            ]
            for work in works:
                store.be_slow()
                is_over = anyio.Event()
                tasks.start_soon(_then, work, is_over)
                await store.asked.wait()
                assert not is_over.is_set()
                store.done.set()
                await is_over.wait()


async def _then(work: Callable[[], Awaitable[object]], is_over: anyio.Event) -> None:
    await work()
    is_over.set()
