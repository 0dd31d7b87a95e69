"""Moves the leaf to another place of the tree, with or without a summary of the branch that is left.

Soft failure: an error or an abort leaves everything as it was.
"""

from collections.abc import Callable, Sequence

import anyio
from msgspec import Struct
from msgspec.structs import replace

from rpc_agent.agent.abort import Abort
from rpc_agent.compaction.asking import SummaryModel
from rpc_agent.compaction.branch_summary import (
    BranchSummaryOutcome,
    branch_budget,
    branch_material,
    branch_summary_fields,
    is_worth_telling,
    summarize_branch,
)
from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.conversation.messages import message_text
from rpc_agent.errors import BranchSummaryFailed, StorageFailed
from rpc_agent.extensions.hooks import Cancel, TreeAnswer
from rpc_agent.runtime.events import BranchSummaryEnd, BranchSummaryStart, SessionEvent
from rpc_agent.runtime.model_choice import ModelChoice
from rpc_agent.runtime.model_context import ModelContext
from rpc_agent.runtime.session_hooks import SessionHooks
from rpc_agent.runtime.session_log import SessionLog
from rpc_agent.runtime.summary_call import SummaryCaller
from rpc_agent.session.entries import CustomMessageEntry, Entry, MessageEntry


class NavigationOptions(Struct, frozen=True, kw_only=True):
    """`replace_instructions`: the custom instructions are the whole task of the summary."""

    summarize: bool = False
    custom_instructions: str | None = None
    replace_instructions: bool = False
    label: str | None = None


class Navigated(Struct, frozen=True, kw_only=True):
    """`editor_text`: the text of the user message that was navigated to, to be written anew."""

    leaf_id: str | None
    cancelled: bool = False
    aborted: bool = False
    editor_text: str | None = None
    summary_entry: Entry | None = None


class _Moved(Struct, frozen=True):
    """What `session_tree` is told beside what the caller gets."""

    navigated: Navigated
    from_extension: bool = False

    def event(self, old_leaf_id: str | None) -> JsonObject:
        entry = self.navigated.summary_entry
        summary = {} if entry is None else {"summaryEntry": entry.raw, "fromExtension": self.from_extension}
        return {"newLeafId": self.navigated.leaf_id, "oldLeafId": old_leaf_id, **summary}


class Navigator:
    """One navigation at a time. `reserve_tokens` of the window are kept free when a branch is summarised."""

    def __init__(
        self,
        log: SessionLog,
        models: ModelChoice,
        context: ModelContext,
        *,
        make_caller: Callable[[], SummaryCaller],
        reserve_tokens: Callable[[], int],
        hooks: SessionHooks,
        emit: Callable[[SessionEvent], None],
    ) -> None:
        self._log = log
        self._models = models
        self._context = context
        self._make_caller = make_caller
        self._reserve_tokens = reserve_tokens
        self._hooks = hooks
        self._emit = emit
        self._active: Abort | None = None
        self._idle = anyio.Event()
        self.last_was_aborted = False

    @property
    def is_navigating(self) -> bool:
        return self._active is not None

    def request_abort(self) -> bool:
        """Stop the navigation at work; False when there is none."""
        if self._active is None:
            return False
        self._active.request()
        return True

    async def abort(self) -> bool:
        """Stop the navigation at work and wait for its end; whether it was stopped and not done already."""
        if not self.request_abort():
            return False
        await self._idle.wait()
        return self.last_was_aborted

    def cancel(self) -> None:
        self.request_abort()

    async def navigate(self, target_id: str | None, options: NavigationOptions) -> Navigated:
        """Raises EntryNotFound, BranchSummaryFailed, and NoModel or AuthMissing when a summary is wanted."""
        store = self._log.store
        target = None if target_id is None else store.get(target_id)
        if target_id in (store.leaf_id, _id(store.nearest_substantial())):
            return Navigated(leaf_id=store.leaf_id)
        self._active, self._idle, self.last_was_aborted = Abort(), anyio.Event(), False
        old_leaf_id = store.leaf_id
        try:
            moved = await self._move(target, options)
            self.last_was_aborted = moved.navigated.aborted
            if not moved.navigated.cancelled and self._hooks.is_heard("session_tree"):
                with self._active.interruptible():
                    await self._hooks.tell("session_tree", moved.event(old_leaf_id))
            return moved.navigated
        finally:
            self._active = None
            self._idle.set()

    async def _move(self, target: Entry | None, options: NavigationOptions) -> _Moved:
        place, editor_text = self._place(target)
        asks = self._hooks.is_heard("session_before_tree")
        # Up to the target itself, not its parent: a message that comes back to be rewritten needs no summary.
        left = self._log.store.left_behind(_id(target)) if options.summarize or asks else []
        answer: Cancel | TreeAnswer | None = TreeAnswer()
        if asks:
            answer = await self._ask_hooks(target, left, options)
        match answer:
            case None:
                return _Moved(Navigated(leaf_id=self._log.leaf_id, cancelled=True, aborted=True))
            case Cancel():
                return _Moved(Navigated(leaf_id=self._log.leaf_id, cancelled=True))
            case TreeAnswer():
                options = _decided(options, answer)
        if options.summarize and answer.summary is not None:
            outcome = BranchSummaryOutcome(answer.summary, answer.details or {}, None)
            entry = await self._record(outcome, place, options.label, from_hook=True)
            moved = Navigated(leaf_id=self._log.leaf_id, editor_text=editor_text, summary_entry=entry)
            return _Moved(moved, from_extension=True)
        if not (options.summarize and is_worth_telling(left)):
            self._log.move_leaf(place)
            self._label(_id(target), options.label)
            await self._log.sync()
            return _Moved(Navigated(leaf_id=self._log.leaf_id, editor_text=editor_text))
        return _Moved(await self._with_summary(place, left, editor_text, options))

    def _place(self, target: Entry | None) -> tuple[str | None, str | None]:
        """Where the leaf goes, and the text for the editor: a message of the user is written anew, so above it."""
        match target:
            case None:
                return None, None
            case MessageEntry(message=message) if message["role"] == "user":
                return self._log.store.parent_of(target), message_text(message)
            case CustomMessageEntry(message=message):
                return self._log.store.parent_of(target), message_text(message)
            case _:
                return target.id, None

    async def _ask_hooks(
        self, target: Entry | None, left: Sequence[Entry], options: NavigationOptions
    ) -> Cancel | TreeAnswer | None:
        """None: stopped meanwhile."""
        assert self._active is not None
        preparation = {
            "targetId": _id(target),
            "oldLeafId": self._log.leaf_id,
            "commonAncestorId": self._log.store.parent_of(left[0]) if left else self._log.leaf_id,
            "entriesToSummarize": [entry.raw for entry in left],
            "userWantsSummary": options.summarize,
            "customInstructions": options.custom_instructions,
            "replaceInstructions": options.replace_instructions,
            "label": options.label,
        }
        with self._active.interruptible():
            return await self._hooks.before_tree(preparation)
        return None

    async def _with_summary(
        self, place: str | None, left: Sequence[Entry], editor_text: str | None, options: NavigationOptions
    ) -> Navigated:
        self._models.require()
        entry: Entry | None = None
        error: str | None = None
        self._emit(BranchSummaryStart())
        try:
            outcome = await self._summarize(left, options)
            if outcome is None:
                return Navigated(leaf_id=self._log.leaf_id, cancelled=True, aborted=True)
            entry = await self._record(outcome, place, options.label)
        except (BranchSummaryFailed, StorageFailed) as failure:
            error = failure.message
            raise
        finally:
            self._emit(BranchSummaryEnd(entry is None and error is None, entry, error))
        return Navigated(leaf_id=self._log.leaf_id, editor_text=editor_text, summary_entry=entry)

    async def _record(
        self, outcome: BranchSummaryOutcome, place: str | None, label: str | None, *, from_hook: bool = False
    ) -> Entry:
        fields = branch_summary_fields(outcome, old_leaf_id=self._log.leaf_id)
        if from_hook:
            fields["fromHook"] = True
        entry = self._log.append_at(place, "branch_summary", fields)
        self._label(entry.id, label)
        await self._log.sync()
        return entry

    async def _summarize(self, left: Sequence[Entry], options: NavigationOptions) -> BranchSummaryOutcome | None:
        assert self._active is not None
        model, _ = self._models.require()
        budget = branch_budget(model.context_window, self._reserve_tokens())
        material = branch_material(left, budget, self._context.estimate)
        with self._active.interruptible():
            return await summarize_branch(
                material,
                self._make_caller(),
                self._context.estimate,
                model=SummaryModel(model.context_window, model.max_tokens),
                custom_instructions=options.custom_instructions,
                replace_instructions=options.replace_instructions,
            )
        return None

    def _label(self, entry_id: str | None, label: str | None) -> None:
        if entry_id is not None and label is not None:
            self._log.append("label", {"targetId": entry_id, "label": label})


def _decided(options: NavigationOptions, answer: TreeAnswer) -> NavigationOptions:
    """The wishes of the caller, as far as no hook knew better."""
    custom, replaces, label = answer.custom_instructions, answer.replace_instructions, answer.label
    return replace(
        options,
        custom_instructions=options.custom_instructions if custom is None else custom,
        replace_instructions=options.replace_instructions if replaces is None else replaces,
        label=options.label if label is None else label,
    )


def _id(entry: Entry | None) -> str | None:
    return None if entry is None else entry.id
