"""One session at work: who may do what when. The parts do the work; this module lets one of them work at a time.

The parts: `log` (entries), `models` (which model), `context` (what it is sent), `runs`, `compactor`, `navigator`.
"""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from rpc_agent.agent.abort import Abort
from rpc_agent.context.projection import is_editable, latest_compaction
from rpc_agent.conversation.blocks import UserBlock, blocks_text, text_block
from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.conversation.models import Model
from rpc_agent.errors import (
    CompactionCancelled,
    EntryNotOnBranch,
    InvalidValue,
    LeafMoved,
    NotEditable,
    SessionBusy,
    SessionReadOnly,
)
from rpc_agent.permissions.rules import Mode as PermissionMode
from rpc_agent.resources.commands import Command, expand
from rpc_agent.runtime.auto_compaction import AutoCompaction
from rpc_agent.runtime.broadcast import Broadcast
from rpc_agent.runtime.compactor import Compacted, CompactionOptions, Compactor
from rpc_agent.runtime.events import ModelChanged, SessionInfoChanged, ThinkingLevelChanged
from rpc_agent.runtime.model_choice import ModelChoice
from rpc_agent.runtime.model_context import ContextUsage, ModelContext
from rpc_agent.runtime.navigator import Navigated, NavigationOptions, Navigator
from rpc_agent.runtime.run import RunLimits
from rpc_agent.runtime.run_control import Accepted, Behavior, LastRun, RunControl
from rpc_agent.runtime.session_hooks import SessionHooks
from rpc_agent.runtime.session_log import SessionLog
from rpc_agent.runtime.session_settings import Scope, SessionSettings
from rpc_agent.runtime.user_shell import UserShell
from rpc_agent.session.entries import CompactionEntry
from rpc_agent.session.names import clean_name


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """A snapshot. `message_count` counts the messages of the context, `pending_message_count` those in the queues."""

    session_id: str
    stream_id: str
    session_file: Path | None
    session_name: str | None
    cwd: Path
    leaf_id: str | None
    model: Model | None
    thinking_level: str
    is_streaming: bool
    is_compacting: bool
    is_navigating: bool
    steering_mode: str
    follow_up_mode: str
    auto_compaction_enabled: bool
    auto_retry_enabled: bool
    message_count: int
    pending_message_count: int
    context_usage: ContextUsage | None
    read_only: bool
    permissions: str


@dataclass(slots=True)
class Switches:
    """What a client may change for this session alone, while it is open."""

    auto_compaction: bool
    auto_retry: bool
    permissions: PermissionMode


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionParts:
    log: SessionLog
    models: ModelChoice
    context: ModelContext
    runs: RunControl
    compactor: Compactor
    navigator: Navigator
    shell: UserShell
    auto_compaction: AutoCompaction
    settings: SessionSettings
    commands: Sequence[Command]
    hooks: SessionHooks
    broadcast: Broadcast
    cwd: Path
    switches: Switches


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
        self._held: Abort | None = None
        self._released = anyio.Event()
        self._released.set()
        self.stream_id = secrets.token_hex(8)
        """Random per life of the session: sequence numbers of another life mean nothing in this one."""

    @property
    def session_id(self) -> str:
        return self.log.store.session_id

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
        self.require_writable()
        if behavior is None:
            self._require_free()
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
        self.require_writable()
        self.models.require()
        if isinstance(content, str):
            content = expand(content, self.parts.commands)
        if self.runs.is_running or self.is_occupied:
            if behavior is None:
                raise SessionBusy(self._busy_with())
            return self.runs.queue(content, behavior)
        return self.runs.start(content, limits)

    def continue_run(self) -> Accepted:
        """Go on without a new message, after an error or an abort."""
        self.require_writable()
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
        self.require_writable()
        with self._holding() as abort:
            self.runs.request_abort()
            await self.runs.ended()
            if abort.requested or withdrawn.requested:
                raise CompactionCancelled("The compaction was stopped before it began. Nothing was changed.")
            return await self.compactor.compact("manual", options, aborts=[abort, withdrawn])

    async def undo_compaction(self, entry_id: str | None) -> str | None:
        """Move the leaf above a compaction (default: the newest on the branch); returns the leaf before.

        The context is then what it was, and the threshold rests. Raises SessionBusy, EntryNotFound, EntryNotOnBranch,
        InvalidValue.
        """
        self.require_writable()
        self._require_free()
        compaction = self._compaction(entry_id)
        previous = self.log.leaf_id
        # Held until it is on the disk: whoever deletes the session meanwhile waits for that.
        with self._holding():
            self.log.move_leaf(compaction.parent_id)
            self.parts.auto_compaction.rest()
            await self.log.sync()
        return previous

    def _compaction(self, entry_id: str | None) -> CompactionEntry:
        newest = latest_compaction(self.log.path)
        if entry_id is None:
            if newest is None:
                raise InvalidValue("entryId", "there is no compaction on the active branch to undo")
            return newest
        entry = self.log.store.get(entry_id)
        if not isinstance(entry, CompactionEntry):
            raise InvalidValue("entryId", f"entry {entry_id!r} is no compaction")
        if not self.log.store.is_on_branch(entry.id):
            raise EntryNotOnBranch(entry_id)
        return entry

    async def navigate(self, target_id: str | None, options: NavigationOptions) -> Navigated:
        """Raises SessionBusy, EntryNotFound, BranchSummaryFailed."""
        self.require_writable()
        self._require_free()
        with self._holding():
            return await self.parts.navigator.navigate(target_id, options)

    def expect_leaf(self, expected: str | None) -> None:
        """Raises LeafMoved when the leaf, past markers, labels and names, is another than the caller believes."""
        store = self.log.store
        actual = store.nearest_substantial()
        believed = None if expected is None else store.nearest_substantial(expected)
        if actual != believed:
            raise LeafMoved(
                f"the leaf is {store.leaf_id!r}, not {expected!r}: read the tree again", leafId=store.leaf_id
            )

    # Settings of the session

    def set_model(self, provider: str, model_id: str) -> Model:
        """Raises ModelNotFound. The choice is an entry, so it comes back with the session."""
        self.require_writable()
        return self._use(self.models.find(provider, model_id))

    def cycle_model(self) -> Model | None:
        """The next model that could answer; None when there is no other."""
        self.require_writable()
        model = self.models.next_model()
        return None if model is None else self._use(model)

    def _use(self, model: Model) -> Model:
        self.log.append("model_change", {"provider": model.provider, "modelId": model.id})
        self.models.select(model)
        self.parts.broadcast.emit(ModelChanged(model))
        return model

    def set_thinking_level(self, level: str) -> None:
        """Raises InvalidValue. A level that the model cannot do becomes the nearest below."""
        self.require_writable()
        possible = self.models.nearest_level(level)
        self.log.append("thinking_level_change", {"thinkingLevel": possible})
        self.models.select_thinking(possible)
        self.parts.broadcast.emit(ThinkingLevelChanged(possible))

    def cycle_thinking_level(self) -> str | None:
        """The next level of the model; None when it has only one."""
        level = self.models.next_level()
        if level is not None:
            self.set_thinking_level(level)
        return level

    def update_settings(self, patch: Mapping[str, Any], scope: Scope) -> None:
        """Change settings for this session or in a file; what the session can change at work it takes up at once.

        Raises InvalidValue naming the field, StorageFailed.
        """
        held, switches = self.parts.settings, self.parts.switches
        before = held.current
        held.update(patch, scope)
        now = held.current
        # A switch that the client threw stays as it is unless this very update changes the setting behind it.
        if now.compaction.enabled != before.compaction.enabled:
            switches.auto_compaction = now.compaction.enabled
        if now.retry.enabled != before.retry.enabled:
            switches.auto_retry = now.retry.enabled
        if now.permissions.mode != before.permissions.mode and now.permissions.mode is not None:
            switches.permissions = now.permissions.mode
        self.runs.inbox.steering_mode = now.steering_mode
        self.runs.inbox.follow_up_mode = now.follow_up_mode

    def set_name(self, name: str) -> None:
        """Empty clears the name."""
        self.require_writable()
        self.log.append("session_info", {"name": clean_name(name)})
        self.parts.broadcast.emit(SessionInfoChanged(self.log.store.session_name))

    def set_label(self, target_id: str, label: str | None) -> str:
        """Label an entry, or take its label away; returns the id of the label's own entry. Raises EntryNotFound."""
        self.require_writable()
        self.log.store.get(target_id)
        fields = {"targetId": target_id} if label is None else {"targetId": target_id, "label": label}
        return self.log.append("label", fields).id

    def edit_context(self, target_id: str, replacement: JsonObject | None) -> str:
        """Leave a message out of the context (None), or replace its content; returns the edit's entry id.

        Raises EntryNotFound, EntryNotOnBranch, NotEditable.
        """
        self.require_writable()
        target = self.log.store.get(target_id)
        if not self.log.store.is_on_branch(target.id):
            raise EntryNotOnBranch(target_id)
        if not is_editable(target):
            raise NotEditable(
                "Only messages of the user, the model, tools and extensions can be edited.", entryId=target_id
            )
        return self.log.append("context_edit", {"targetId": target_id, "replacement": replacement}).id

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

    def require_writable(self) -> None:
        """Raises SessionReadOnly."""
        if self.log.store.read_only:
            raise SessionReadOnly("The session is open read-only: fork it to go on in a copy.")

    def _require_free(self) -> None:
        if self.runs.is_running or self.is_occupied:
            raise SessionBusy(self._busy_with())

    def _busy_with(self) -> str:
        if self.is_occupied:
            return "The session is being compacted or moved. Send streamingBehavior, wait, or stop it with abort."
        return 'A run is at work. Send streamingBehavior "steer" or "followUp", wait for it, or stop it with abort.'
