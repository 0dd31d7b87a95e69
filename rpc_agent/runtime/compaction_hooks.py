"""What hooks have to say about a compaction: a veto or a summary before it, and word of how it ended."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import anyio
from msgspec import Struct

from rpc_agent.agent.abort import Abort
from rpc_agent.compaction.plan import CompactionPlan
from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.extensions.hooks import Cancel, HookName, OwnCompaction, read_before_compact
from rpc_agent.runtime.events import CompactionReason
from rpc_agent.runtime.model_choice import ModelChoice
from rpc_agent.runtime.own_entries import checked_compaction, own_compaction_fields
from rpc_agent.runtime.session_hooks import SessionHooks
from rpc_agent.runtime.session_log import SessionLog
from rpc_agent.session.entries import Entry
from rpc_agent.settings import CompactionSettings

_LAST_WORD_SECONDS = 2.0
"""Whoever aborted waits for the session to be idle, and should not wait for an extension."""


class CompactionEnded(Struct, frozen=True, kw_only=True):
    """`entry` is None when it failed or was `aborted`."""

    reason: CompactionReason
    will_retry: bool
    from_extension: bool
    entry: Entry | None
    aborted: bool
    error_message: str | None


class CompactionHooks:
    def __init__(self, hooks: SessionHooks, log: SessionLog, models: ModelChoice) -> None:
        self._hooks = hooks
        self._log = log
        self._models = models

    async def before(
        self,
        plan: CompactionPlan,
        settings: CompactionSettings,
        reason: CompactionReason,
        *,
        custom_instructions: str | None,
        will_retry: bool,
    ) -> Cancel | OwnCompaction | None:
        """Anybody's veto, else the first summary; None leaves it to the model."""
        if not self._hooks.is_heard("session_before_compact"):
            return None
        event = {
            "preparation": _preparation(plan, settings),
            "branchEntries": [entry.raw for entry in self._log.path],
            "customInstructions": custom_instructions,
            "reason": reason,
            "willRetry": will_retry,
        }
        answers: Sequence[Cancel | OwnCompaction] = await self._hooks.runner.ask_each(
            "session_before_compact", event, self._read, ends=lambda answer: isinstance(answer, Cancel)
        )
        veto = next((answer for answer in answers if isinstance(answer, Cancel)), None)
        return veto or (answers[0] if answers else None)

    def _read(self, answer: object) -> Cancel | OwnCompaction | None:
        read = read_before_compact(answer)
        return checked_compaction(read, self._log) if isinstance(read, OwnCompaction) else read

    def fields(self, own: OwnCompaction, *, entry_id: str, tokens_before: int, timestamp: int) -> dict[str, Any]:
        """The fields of the entry that records it."""
        model = self._models.model
        return own_compaction_fields(
            own,
            self._log,
            entry_id=entry_id,
            tokens_before=tokens_before,
            timestamp=timestamp,
            thinking_level=self._models.thinking_level,
            model=model.ref if model else None,
        )

    async def ended(self, ended: CompactionEnded, aborts: Sequence[Abort]) -> None:
        """Tell how it ended. An abort interrupts those who hear it; one that came before gives them a moment."""
        hook, event = _last_word(ended)
        if any(abort.requested for abort in aborts):
            with anyio.move_on_after(_LAST_WORD_SECONDS):
                await self._hooks.tell(hook, event)
            return
        with ExitStack() as interruptible:
            for abort in aborts:
                interruptible.enter_context(abort.interruptible())
            await self._hooks.tell(hook, event)


def _last_word(ended: CompactionEnded) -> tuple[HookName, JsonObject]:
    event: JsonObject = {
        "reason": ended.reason,
        "willRetry": ended.will_retry,
        "fromExtension": ended.from_extension,
    }
    if ended.entry is not None:
        return "session_compact", {"compactionEntry": ended.entry.raw, **event}
    message = {} if ended.error_message is None else {"errorMessage": ended.error_message}
    return "session_compact_failed", {**event, "aborted": ended.aborted, **message}


def _preparation(plan: CompactionPlan, settings: CompactionSettings) -> JsonObject:
    files = plan.file_operations
    return {
        "messagesToSummarize": list(plan.messages_to_summarize),
        "turnPrefixMessages": list(plan.turn_prefix_messages),
        "previousSummary": plan.previous_summary,
        "fileOps": {"read": sorted(files.read), "written": sorted(files.written), "edited": sorted(files.edited)},
        "tokensBefore": plan.tokens_before,
        "firstKeptEntryId": plan.first_kept_entry_id,
        "isSplitTurn": plan.is_split_turn,
        "settings": {
            "enabled": settings.enabled,
            "reserveTokens": settings.reserve_tokens,
            "keepRecentTokens": settings.keep_recent_tokens,
        },
    }
