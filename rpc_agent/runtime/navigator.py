"""Moves the leaf to another place of the tree, with or without a summary of the branch that is left.

Soft failure: an error or an abort leaves everything as it was.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import anyio

from rpc_agent.agent.abort import Abort
from rpc_agent.compaction.asking import SummaryModel
from rpc_agent.compaction.branch_summary import (
    BranchSummaryOutcome,
    abandoned_branch,
    branch_budget,
    branch_material,
    branch_summary_fields,
    summarize_branch,
)
from rpc_agent.conversation.messages import message_text
from rpc_agent.errors import BranchSummaryFailed, StorageFailed
from rpc_agent.runtime.events import BranchSummaryEnd, BranchSummaryStart, SessionEvent
from rpc_agent.runtime.model_choice import ModelChoice
from rpc_agent.runtime.model_context import ModelContext
from rpc_agent.runtime.session_log import SessionLog
from rpc_agent.runtime.summary_call import SummaryCaller
from rpc_agent.session.entries import CustomMessageEntry, Entry, MessageEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class NavigationOptions:
    """`replace_instructions`: the custom instructions are the whole task of the summary."""

    summarize: bool = False
    custom_instructions: str | None = None
    replace_instructions: bool = False
    label: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Navigated:
    """`editor_text`: the text of the user message that was navigated to, to be written anew."""

    leaf_id: str | None
    cancelled: bool = False
    aborted: bool = False
    editor_text: str | None = None
    summary_entry: Entry | None = None


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
        emit: Callable[[SessionEvent], None],
    ) -> None:
        self._log = log
        self._models = models
        self._context = context
        self._make_caller = make_caller
        self._reserve_tokens = reserve_tokens
        self._emit = emit
        self._active: Abort | None = None
        self._idle = anyio.Event()
        self.last_was_aborted = False

    @property
    def is_navigating(self) -> bool:
        return self._active is not None

    def request_abort(self) -> bool:
        """Stop the summary at work; False when there is none."""
        if self._active is None:
            return False
        self._active.request()
        return True

    async def abort(self) -> bool:
        """Stop the summary at work and wait for its end; whether it was stopped and not done already."""
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
        if target is not None and target.id in (store.leaf_id, _id(store.nearest_substantial())):
            return Navigated(leaf_id=store.leaf_id)
        place, editor_text = _place(target)
        left = abandoned_branch(store.whole_branch(), [] if place is None else store.whole_branch(place)).entries
        if not (options.summarize and left):
            self._log.move_leaf(place)
            self._label(target_id, options.label)
            await self._log.sync()
            return Navigated(leaf_id=store.leaf_id, editor_text=editor_text)
        return await self._with_summary(place, left, editor_text, options)

    async def _with_summary(
        self, place: str | None, left: Sequence[Entry], editor_text: str | None, options: NavigationOptions
    ) -> Navigated:
        self._models.require()
        self._active, self._idle = Abort(), anyio.Event()
        entry: Entry | None = None
        error: str | None = None
        self._emit(BranchSummaryStart())
        try:
            outcome = await self._summarize(left, options)
            if outcome is None:
                return Navigated(leaf_id=self._log.leaf_id, cancelled=True, aborted=True)
            fields = branch_summary_fields(outcome, old_leaf_id=self._log.leaf_id)
            entry = self._log.append_at(place, "branch_summary", fields)
            self._label(entry.id, options.label)
            await self._log.sync()
        except (BranchSummaryFailed, StorageFailed) as failure:
            error = failure.message
            raise
        finally:
            self._active = None
            self.last_was_aborted = entry is None and error is None
            self._emit(BranchSummaryEnd(self.last_was_aborted, entry, error))
            self._idle.set()
        return Navigated(leaf_id=self._log.leaf_id, editor_text=editor_text, summary_entry=entry)

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


def _place(target: Entry | None) -> tuple[str | None, str | None]:
    """Where the leaf goes, and the text for the editor: a message of the user is to be written anew, so above it."""
    match target:
        case None:
            return None, None
        case MessageEntry(message=message) if message["role"] == "user":
            return target.parent_id, message_text(message)
        case CustomMessageEntry(message=message):
            return target.parent_id, message_text(message)
        case _:
            return target.id, None


def _id(entry: Entry | None) -> str | None:
    return None if entry is None else entry.id
