"""One session at work: who may do what when. The parts do the work; this module lets one of them work at a time.

The parts: `log` (entries), `models` (which model), `context` (what it is sent), `runs`, `compactor`, `navigator`.
"""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import anyio

from rpc_agent.agent.abort import Abort
from rpc_agent.context.projection import latest_compaction
from rpc_agent.conversation.blocks import UserBlock, blocks_text, text_block
from rpc_agent.errors import (
    CompactionCancelled,
    EntryNotFound,
    EntryNotOnBranch,
    InvalidValue,
    LeafMoved,
    NothingToCompact,
    SessionBusy,
)
from rpc_agent.resources.commands import expand
from rpc_agent.runtime.compactor import Compacted, CompactionOptions
from rpc_agent.runtime.navigator import Navigated, NavigationOptions
from rpc_agent.runtime.run import RunLimits
from rpc_agent.runtime.run_control import Accepted, Behavior, LastRun
from rpc_agent.runtime.session_choices import SessionChoices
from rpc_agent.runtime.session_edits import SessionEdits
from rpc_agent.runtime.session_parts import SessionParts, SessionState
from rpc_agent.session.entries import CompactionEntry


class LiveSession:
    """A session that is open. All of it belongs to the event loop."""

    def __init__(self, parts: SessionParts) -> None:
        self.parts = parts
        self.log = parts.log
        self.runs = parts.runs
        self.models = parts.models
        self.context = parts.context
        self.compactor = parts.compactor
        self.shell = parts.shell
        self.choices = SessionChoices(parts)
        self.edits = SessionEdits(parts.log, parts.broadcast)
        self._held: Abort | None = None
        self._compaction_to_begin: Abort | None = None
        self._released = anyio.Event()
        self._released.set()
        self.session_id = parts.log.store.session_id
        self.stream_id = secrets.token_hex(8)
        """Random per life of the session: sequence numbers of another life mean nothing in this one."""

    def state(self) -> SessionState:
        parts, store, inbox = self.parts, self.log.store, self.runs.inbox
        return SessionState(
            session_id=self.session_id,
            stream_id=self.stream_id,
            session_file=store.path,
            session_name=store.session_name,
            cwd=parts.cwd,
            leaf_id=store.leaf_id,
            model=self.models.model,
            thinking_level=self.models.thinking_level,
            is_streaming=self.runs.is_running,
            is_compacting=self.compactor.is_compacting,
            is_navigating=parts.navigator.is_navigating,
            steering_mode=inbox.steering_mode,
            follow_up_mode=inbox.follow_up_mode,
            auto_compaction_enabled=parts.switches.auto_compaction,
            auto_retry_enabled=parts.switches.auto_retry,
            message_count=len(self.log.projection.messages),
            pending_message_count=len(inbox),
            context_usage=self.context.usage(),
            read_only=store.read_only,
            permissions=parts.switches.permissions,
        )

    # Runs

    @property
    def is_occupied(self) -> bool:
        """Whether something other than a run holds the session: a compaction asked for by hand, a navigation."""
        return self._held is not None

    def refuse_when_occupied(self) -> None:
        """Raises SessionBusy."""
        if self.is_occupied:
            raise SessionBusy(self._busy_with())

    async def screen(
        self, content: str | list[UserBlock], *, behavior: Behavior | None
    ) -> str | list[UserBlock] | None:
        """A message as hooks leave it, None when one of them handled it. Raises SessionBusy, SessionReadOnly.

        To be given to `prompt`, which looks again whether it can be taken: hooks may have thought for a while.
        """
        self.log.require_writable()
        if behavior is None and (self.runs.is_running or self.is_occupied):
            raise SessionBusy(self._busy_with(for_message=True))
        images = [] if isinstance(content, str) else [block for block in content if block["type"] == "image"]
        answer = await self.parts.hooks.input(blocks_text(content), images)
        if answer.handled:
            return None
        if answer.text is None:
            return content
        return [text_block(answer.text), *images] if images else answer.text

    def prompt(
        self,
        content: str | list[UserBlock],
        *,
        behavior: Behavior | None,
        limits: RunLimits,
    ) -> Accepted:
        """Accept a message. Raises SessionBusy, SessionReadOnly, NoModel, AuthMissing; then nothing happened."""
        self.log.require_writable()
        self.models.require()
        if isinstance(content, str):
            content = expand(content, self.parts.commands)
        if self.runs.is_running or self.is_occupied:
            if behavior is None:
                raise SessionBusy(self._busy_with(for_message=True))
            return self.runs.queue(content, behavior)
        return self.runs.start(content, limits)

    def continue_run(self) -> Accepted:
        """Go on without a new message, after an error or an abort."""
        self.log.require_writable()
        self._require_free()
        if not self.log.projection.messages:
            raise InvalidValue("sessionId", "the session has no messages yet: send a prompt")
        return self.runs.resume(RunLimits())

    async def abort(self) -> None:
        """Stop the run, its retry wait, its tools, any compaction and any navigation; returns when idle."""
        self.request_abort()
        # What is at work now, and not what begins after it: an abort must not wait for the work of others.
        await self.runs.ended()
        await self._released.wait()

    def request_abort(self) -> None:
        """Stop the run, any compaction and any navigation; the user's own commands go on."""
        self.runs.request_abort()
        if self._held is not None:
            self._held.request()
        self.compactor.request_abort()
        self.parts.navigator.request_abort()

    async def idle(self) -> LastRun:
        """Wait until nothing works in this session."""
        while self.runs.is_running or self.is_occupied:
            await self.runs.idle()
            await self._released.wait()
        return self.runs.last

    @contextmanager
    def _holding(self) -> Iterator[Abort]:
        """Work that no run may do beside: until the block ends, then a run begins for messages that came meanwhile.

        The Abort is that of `abort`, which leaves those messages in the queue as it does in a run.
        """
        self._held, self._released = abort, released = Abort(), anyio.Event()
        queued_before = set(self.runs.inbox.all())
        try:
            yield abort
        finally:
            self._held = None
            if abort.requested or set(self.runs.inbox.all()) <= queued_before:
                self.runs.leave_queued()
            else:
                self.runs.run_queued()
            released.set()

    # Compaction and the tree

    async def compact(self, options: CompactionOptions, withdrawn: Abort) -> Compacted:
        """Stop the run, compact, and start a run only for messages that came meanwhile.

        `withdrawn` is the caller's way to stop it.
        Raises NothingToCompact, AlreadyCompacted, NoModel, CompactionCancelled, CompactionFailed.
        """
        self.log.require_writable()
        with self._holding() as abort:
            self._compaction_to_begin = abort
            try:
                self.runs.request_abort()
                await self.runs.ended()
            finally:
                self._compaction_to_begin = None
            if abort.requested or withdrawn.requested:
                raise CompactionCancelled("The compaction was stopped before it began. Nothing was changed.")
            return await self.compactor.compact("manual", options, aborts=[abort, withdrawn])

    async def abort_compaction(self) -> bool:
        """Stop the compaction at work, also one that waits for its run to end; whether it was stopped by this."""
        if self._compaction_to_begin is None:
            return await self.compactor.abort()
        self._compaction_to_begin.request()
        await self._released.wait()
        return True

    async def undo_compaction(self, entry_id: str | None) -> str | None:
        """Move the leaf above a compaction (default: the newest on the branch); returns the leaf before.

        The context is then what it was, and the threshold rests. Raises SessionBusy, NothingToCompact (no
        compaction there), EntryNotFound, EntryNotOnBranch, InvalidValue (an entry of another kind).
        """
        self.log.require_writable()
        self._require_free()
        compaction = self._compaction(entry_id)
        previous = self.log.leaf_id
        # Held until it is on the disk: whoever deletes the session meanwhile waits for that.
        with self._holding():
            self.log.move_leaf(self.log.store.parent_of(compaction))
            self.choices.follow_branch()
            self.parts.auto_compaction.rest()
            await self.log.sync()
        return previous

    def _compaction(self, entry_id: str | None) -> CompactionEntry:
        newest = latest_compaction(self.log.path)
        if entry_id is None:
            if newest is None:
                raise NothingToCompact("There is no compaction on the active branch, so there is none to undo.")
            return newest
        entry = self.log.store.get(entry_id)
        if not isinstance(entry, CompactionEntry):
            raise InvalidValue("entryId", f"entry {entry_id!r} is no compaction")
        if not self.log.store.is_on_branch(entry.id):
            raise EntryNotOnBranch(entry_id)
        return entry

    async def navigate(self, target_id: str | None, options: NavigationOptions) -> Navigated:
        """Raises SessionBusy, EntryNotFound, BranchSummaryFailed."""
        self.log.require_writable()
        self._require_free()
        with self._holding():
            previous = self.log.leaf_id
            moved = await self.parts.navigator.navigate(target_id, options)
            if self.log.leaf_id != previous:
                self.choices.follow_branch()
            return moved

    def expect_leaf(self, expected: str | None) -> None:
        """Raises LeafMoved when the leaf, past markers, labels and names, is another than the caller believes."""
        store = self.log.store
        try:
            believed = None if expected is None else store.nearest_substantial(expected)
            is_there = believed == store.nearest_substantial()
        except EntryNotFound:
            is_there = False
        if not is_there:
            raise LeafMoved(
                f"the leaf is {store.leaf_id!r}, not {expected!r}: read the tree again", leafId=store.leaf_id
            )

    async def close(self) -> None:
        """Stop everything, wait for what that records, and give the file free. Nothing may be asked any more."""
        try:
            self.shell.abort()
            await self.abort()
            await self.idle()
            await self.shell.idle()
            self.runs.leave_queued()
            await self.log.sync()
        finally:
            self.log.store.close()
            await self.models.aclose()

    def _require_free(self) -> None:
        if self.runs.is_running or self.is_occupied:
            raise SessionBusy(self._busy_with())

    def _busy_with(self, *, for_message: bool = False) -> str:
        """What keeps the session, and what to do: a message, and nothing else, can also be queued."""
        if self.is_occupied:
            text = "The session is being compacted or moved. Wait for that, or stop it with abort."
        else:
            text = "A run is at work. Wait for it, or stop it with abort."
        return f'{text} A prompt with streamingBehavior "steer" or "followUp" is queued.' if for_message else text
