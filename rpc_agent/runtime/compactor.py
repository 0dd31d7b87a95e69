"""One compaction at a time: plan, announce, ask, record. Nothing changes before a complete summary is in hand.

When to compact is decided elsewhere (`auto_compaction`, or the person who asks); how is decided in `compaction`.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import anyio
from msgspec import Struct
from msgspec.structs import replace

from rpc_agent.agent.abort import Abort
from rpc_agent.compaction.asking import SummaryModel
from rpc_agent.compaction.chunks import SummaryRoom
from rpc_agent.compaction.compact import CompactionOutcome, compact, compaction_fields
from rpc_agent.compaction.compact import CompactionProgress as Step
from rpc_agent.compaction.plan import CompactionPlan
from rpc_agent.compaction.planning import plan_compaction
from rpc_agent.compaction.policy import CompactionBudget, limits
from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.conversation.messages import user_message
from rpc_agent.conversation.models import Model, split_ref
from rpc_agent.errors import CompactionCancelled, CompactionFailed, RequestError, StorageFailed
from rpc_agent.extensions.hooks import Cancel, OwnCompaction
from rpc_agent.providers.base import ChatModel
from rpc_agent.runtime.compaction_hooks import CompactionEnded, CompactionHooks
from rpc_agent.runtime.events import (
    CompactionEnd,
    CompactionProgress,
    CompactionReason,
    CompactionStart,
    CompactionStatus,
    SessionEvent,
)
from rpc_agent.runtime.identity import SystemIdentity
from rpc_agent.runtime.model_choice import ModelChoice
from rpc_agent.runtime.model_context import ModelContext
from rpc_agent.runtime.session_log import SessionLog
from rpc_agent.runtime.summary_call import SummaryCaller
from rpc_agent.session.entries import CompactionEntry
from rpc_agent.settings import CompactionSettings

_DRAFTS = 1_000
"""Messages that may be remembered beside those of the context: plans that nobody carries out leave some."""

MakeCaller = Callable[[Model, ChatModel, Callable[[int], None], str], SummaryCaller]
"""A way to ask this model, for the compaction of this id; the function hears how many characters have come."""


class CompactionOptions(Struct, frozen=True, kw_only=True):
    custom_instructions: str | None = None
    keep_recent_tokens: int | None = None
    fallback: bool = False
    """When the model fails, make a summary without it although the context could still be sent as it is."""


class Compacted(Struct, frozen=True):
    """A recorded compaction, with the forecast that its entry does not hold."""

    entry: CompactionEntry
    estimated_tokens_after: int

    def result(self) -> JsonObject:
        """The wire's CompactionResult, without the session."""
        raw = self.entry.raw
        fields = {name: raw[name] for name in ("summary", "firstKeptEntryId", "tokensBefore", "details")}
        usage = {"usage": raw["usage"]} if "usage" in raw else {}
        return {
            "entryId": self.entry.id,
            **fields,
            "estimatedTokensAfter": self.estimated_tokens_after,
            **usage,
        }


class _Work(Struct):
    """One compaction and what has become of it so far; until something else is known it was cancelled."""

    id: str
    reason: CompactionReason
    will_retry: bool
    aborts: Sequence[Abort]
    status: CompactionStatus = "cancelled"
    done: Compacted | None = None
    message: str | None = None
    from_extension: bool = False

    def end(self) -> CompactionEnd:
        result = self.done.result() if self.done else None
        return CompactionEnd(self.id, self.reason, self.status, self._retries, result, self.message)

    def ended(self) -> CompactionEnded:
        """The same for hooks."""
        return CompactionEnded(
            reason=self.reason,
            will_retry=self._retries,
            from_extension=self.from_extension,
            entry=self.done.entry if self.done else None,
            aborted=self.status == "cancelled",
            error_message=self.message,
        )

    @property
    def _retries(self) -> bool:
        return self.will_retry and self.status == "completed"


class Compactor:
    """`settings` is asked each time: they may change while the session is open."""

    def __init__(
        self,
        log: SessionLog,
        models: ModelChoice,
        context: ModelContext,
        *,
        settings: Callable[[], CompactionSettings],
        make_caller: MakeCaller,
        identity: SystemIdentity,
        hooks: CompactionHooks,
        emit: Callable[[SessionEvent], None],
    ) -> None:
        self._log = log
        self._models = models
        self._context = context
        self._settings = settings
        self._make_caller = make_caller
        self._identity = identity
        self._hooks = hooks
        self._emit = emit
        self._active: Abort | None = None
        self._idle = anyio.Event()
        self.last_status: CompactionStatus = "completed"

    @property
    def is_compacting(self) -> bool:
        return self._active is not None

    def request_abort(self) -> bool:
        """Stop the compaction at work; False when there is none."""
        if self._active is None:
            return False
        self._active.request()
        return True

    def cancel(self) -> None:
        self.request_abort()

    async def abort(self) -> bool:
        """Stop the compaction at work and wait for its end; whether it was stopped and not done already."""
        if not self.request_abort():
            return False
        await self._idle.wait()
        return self.last_status == "cancelled"

    def threshold(self) -> int | None:
        """The context in tokens above which a compaction begins by itself; None where nobody knows the window."""
        model = self._models.model
        return limits(compaction_budget(self._settings()), model.context_window if model else 0).threshold

    def plan(
        self,
        keep_recent_tokens: int | None = None,
        *,
        custom_instructions: str | None = None,
        must_shrink: bool = False,
    ) -> CompactionPlan:
        """What a compaction would do now. Raises NothingToCompact, AlreadyCompacted, NoModel.

        An amount to keep that somebody named is kept whatever comes of it.
        """
        model, _ = self._models.require()
        budget = compaction_budget(self._settings())
        if keep_recent_tokens is not None:
            budget = replace(budget, keep_recent_tokens=keep_recent_tokens)
        if len(self._context.estimate) > len(self._log.projection.messages) + _DRAFTS:
            self._forget_drafts()
        return plan_compaction(
            self._log.path,
            self._log.projection,
            budget,
            self._context.estimate,
            window=model.context_window,
            tokens_before=self._context.tokens(),
            weight=self._context.weight(),
            room=self._room(custom_instructions),
            exact_keep=keep_recent_tokens is not None,
            must_shrink=must_shrink,
        )

    def _room(self, custom_instructions: str | None) -> SummaryRoom:
        try:
            model = self._summary_model()[0]
        except RequestError:
            # Said by the call itself, where the caller hears of it through compaction_end.
            return SummaryRoom()
        added = user_message(custom_instructions or "", timestamp=0)
        return SummaryRoom(
            window=model.context_window, max_tokens=model.max_tokens, instructions=self._context.estimate(added)
        )

    async def compact(
        self,
        reason: CompactionReason,
        options: CompactionOptions,
        *,
        aborts: Sequence[Abort] = (),
        will_retry: bool = False,
    ) -> Compacted:
        """Raises what `plan` raises, before anything is announced; then CompactionCancelled or CompactionFailed.

        `aborts` (of the run, of the caller) and this compaction's own stop it at any await and leave no trace.
        """
        plan = self.plan(
            options.keep_recent_tokens,
            custom_instructions=options.custom_instructions,
            must_shrink=reason == "overflow",
        )
        # Where the context can still be sent, a failure is reported and nothing changes.
        fallback = options.fallback or reason == "overflow" or 0 < plan.limits.window < plan.tokens_before
        work = _Work(self._identity.draw_id(16), reason, will_retry, aborts)
        self._active, self._idle = Abort(), anyio.Event()
        self._emit(CompactionStart(work.id, reason))
        try:
            work.done = await self._carry_out(work, plan, replace(options, fallback=fallback))
            work.status = "completed"
            return work.done
        except (CompactionFailed, StorageFailed, RequestError) as error:
            work.status, work.message = "failed", error.message
            self._charge(error.details.get("usage"))
            raise
        finally:
            self._active, self.last_status = None, work.status
            self._emit(work.end())
            if work.done is not None:
                self._context.announce_usage()
            self._idle.set()
            await self._hooks.ended(work.ended(), aborts)

    async def _carry_out(self, work: _Work, plan: CompactionPlan, options: CompactionOptions) -> Compacted:
        outcome: CompactionOutcome | OwnCompaction | None
        outcome = await self._own(plan, options, work.reason, work.aborts, will_retry=work.will_retry)
        work.from_extension = outcome is not None
        if outcome is None:
            outcome = await self._ask(plan, options, work.id, work.aborts)
        if outcome is None:
            raise CompactionCancelled("The compaction was stopped. Nothing was changed.")
        return await self._record(outcome, plan.tokens_before)

    async def _own(
        self,
        plan: CompactionPlan,
        options: CompactionOptions,
        reason: CompactionReason,
        aborts: Sequence[Abort],
        *,
        will_retry: bool,
    ) -> OwnCompaction | None:
        """The summary of a hook, None when the model is to write it. Raises CompactionCancelled on a veto."""
        assert self._active is not None
        custom, own = options.custom_instructions, None
        with ExitStack() as interruptible:
            for abort in (*aborts, self._active):
                interruptible.enter_context(abort.interruptible())
            own = await self._hooks.before(
                plan, self._settings(), reason, custom_instructions=custom, will_retry=will_retry
            )
        if isinstance(own, Cancel):
            raise CompactionCancelled("An extension cancelled the compaction. Nothing was changed.")
        return own

    async def _ask(
        self, plan: CompactionPlan, options: CompactionOptions, compaction_id: str, aborts: Sequence[Abort]
    ) -> CompactionOutcome | None:
        assert self._active is not None
        caller, summary_model = self._caller(compaction_id)
        with ExitStack() as interruptible:
            for abort in (*aborts, self._active):
                interruptible.enter_context(abort.interruptible())
            return await compact(
                plan,
                caller,
                model=summary_model,
                custom_instructions=options.custom_instructions,
                fallback=options.fallback,
                progress=lambda step: self._emit(_progress(compaction_id, step)),
            )
        return None

    def _caller(self, compaction_id: str) -> tuple[SummaryCaller, SummaryModel]:
        model, chat_model = self._summary_model()
        received = lambda count: self._emit(CompactionProgress(compaction_id, "writing", received_chars=count))  # noqa: E731
        caller = self._make_caller(model, chat_model, received, compaction_id)
        return caller, SummaryModel(model.context_window, model.max_tokens)

    def _summary_model(self) -> tuple[Model, ChatModel]:
        wanted = self._settings().model
        if wanted is None:
            return self._models.require()
        model = self._models.find(*split_ref(wanted))
        return model, self._models.chat_model(model)

    async def _record(self, outcome: CompactionOutcome | OwnCompaction, tokens_before: int) -> Compacted:
        model = self._models.model
        entry_id = self._log.store.reserve_id()
        if isinstance(outcome, OwnCompaction):
            return await self._record_own(outcome, entry_id, tokens_before)
        fields = compaction_fields(
            outcome,
            entry_id=entry_id,
            timestamp=self._identity.now_ms(),
            thinking_level=self._models.thinking_level,
            model=model.ref if model else None,
            session_name=self._log.store.session_name,
            self_contained=self._settings().self_contained,
        )
        entry = self._log.append("compaction", fields, entry_id=entry_id)
        assert isinstance(entry, CompactionEntry)
        for shrunk in outcome.plan.shrunk:
            # Behind the compaction, so that undoing it undoes them.
            self._log.append("context_edit", shrunk.edit_fields())
        self._forget_drafts()
        await self._log.sync()
        return Compacted(entry, outcome.estimated_tokens_after)

    async def _record_own(self, own: OwnCompaction, entry_id: str, tokens_before: int) -> Compacted:
        fields = self._hooks.fields(
            own, entry_id=entry_id, tokens_before=tokens_before, timestamp=self._identity.now_ms()
        )
        entry = self._log.append("compaction", fields, entry_id=entry_id)
        assert isinstance(entry, CompactionEntry)
        self._forget_drafts()
        await self._log.sync()
        return Compacted(entry, self._context.tokens())

    def _forget_drafts(self) -> None:
        """What plans shortened to see whether it fits, and what a compaction took out of the context."""
        self._context.estimate.keep_only(item.message for item in self._log.projection.messages)

    def _charge(self, usage: Any) -> None:
        """A call that was paid for nothing is recorded all the same: the bill is part of the session."""
        model = self._models.model
        if usage is None or model is None:
            return
        fields = {"kind": "compaction", "provider": model.provider, "model": model.id, "usage": usage}
        self._log.append("usage", fields)


def _progress(compaction_id: str, step: Step) -> CompactionProgress:
    return CompactionProgress(compaction_id, step.phase, chunk=step.call, chunks=step.calls)


def compaction_budget(settings: CompactionSettings) -> CompactionBudget:
    """The settings of one model as the pure rules take them."""
    return CompactionBudget(
        enabled=settings.enabled,
        reserve_tokens=settings.reserve_tokens,
        keep_recent_tokens=settings.keep_recent_tokens,
        threshold_percent=settings.threshold_percent,
    )
