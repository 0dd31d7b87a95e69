"""Plan -> ask -> outcome: asks the model for the notes and makes the one entry that records them. Stores nothing."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, cast

from rpc_agent.compaction.asking import (
    Ask,
    FailureReason,
    SummaryAnswer,
    SummaryModel,
    SummaryRequest,
    output_tokens,
    refusal,
)
from rpc_agent.compaction.file_operations import without_tag_blocks
from rpc_agent.compaction.plan import CompactionPlan
from rpc_agent.compaction.prompts import SPLIT_HEADING, SYSTEM, history_prompt, prefix_prompt
from rpc_agent.compaction.transcript import transcript
from rpc_agent.context.system_state import system_message
from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.conversation.messages import Message, user_message
from rpc_agent.conversation.usage import Usage, add_usage, make_usage
from rpc_agent.errors import CompactionFailed


@dataclass(frozen=True, slots=True)
class CompactionProgress:
    """`call` of `calls` begins."""

    phase: Literal["history", "turnPrefix"]
    call: int
    calls: int


Report = Callable[[CompactionProgress], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionOutcome:
    """A complete summary in hand, not yet recorded. `usage` is the sum of all calls, None without a report."""

    plan: CompactionPlan
    summary: str
    details: JsonObject
    usage: Usage | None
    estimated_tokens_after: int


class _Calls:
    """The calls of one compaction: counts them, adds up what they cost, turns a bad answer into an error."""

    def __init__(self, plan: CompactionPlan, ask: Ask, model: SummaryModel, report: Report) -> None:
        self._plan, self._ask, self._model, self._report = plan, ask, model, report
        self._made = 0
        self.usage: Usage | None = None

    async def text(self, kind: Literal["history", "turnPrefix"], prompt: str, wanted: int) -> str:
        self._made += 1
        self._report(CompactionProgress(kind, self._made, self._plan.calls))
        size = self._plan.estimate(user_message(prompt, timestamp=0))
        limit = output_tokens(wanted, self._model, size)
        answer = await self._ask(SummaryRequest(kind=kind, system=SYSTEM, prompt=prompt, max_tokens=limit))
        self._charge(answer)
        if (refused := refusal(answer)) is not None:
            raise self.failed(refused.reason, refused.sentence)
        return answer.text.strip()

    def failed(self, reason: FailureReason, sentence: str) -> CompactionFailed:
        """`usage` tells the caller what was paid for nothing; it becomes a usage entry."""
        paid = {"usage": self.usage} if self.usage is not None else {}
        return CompactionFailed(f"{sentence} Nothing was changed.", reason=reason, **paid)

    def _charge(self, answer: SummaryAnswer) -> None:
        if answer.usage is not None:
            paid = cast(Usage, {**make_usage(), **answer.usage})
            self.usage = paid if self.usage is None else add_usage(self.usage, paid)


async def compact(
    plan: CompactionPlan,
    ask: Ask,
    *,
    model: SummaryModel | None = None,
    custom_instructions: str | None = None,
    progress: Report = lambda step: None,
) -> CompactionOutcome:
    """Make the calls of a plan, one after another. Raises CompactionFailed with details `reason` and maybe `usage`.

    Cancellation passes through; nothing here needs undoing.
    """
    calls = _Calls(plan, ask, model or SummaryModel(), progress)
    notes = await _notes(plan, calls, custom_instructions)
    if _size(plan, notes) >= plan.replaced_tokens:
        raise calls.failed("degenerate", "The summary is not smaller than what it would replace.")
    summary = notes + plan.file_operations.tag_blocks()
    return CompactionOutcome(
        plan=plan,
        summary=summary,
        details=plan.file_operations.details(),
        usage=calls.usage,
        estimated_tokens_after=plan.tokens_with(summary),
    )


async def _notes(plan: CompactionPlan, calls: _Calls, custom: str | None) -> str:
    # One after another: a local server answers one call at a time, and a failure of the first saves the second.
    parts = []
    previous = None if plan.previous_summary is None else without_tag_blocks(plan.previous_summary)
    if plan.messages_to_summarize:
        record = transcript(plan.messages_to_summarize)
        prompt = history_prompt(record, previous_summary=previous, custom_instructions=custom)
        parts.append(await calls.text("history", prompt, plan.history_tokens))
    elif previous:
        # No finished turn since the last compaction: what it knew is carried over as it is.
        parts.append(previous)
    if plan.turn_prefix_messages:
        prompt = prefix_prompt(transcript(plan.turn_prefix_messages), custom_instructions=custom)
        text = await calls.text("turnPrefix", prompt, plan.prefix_tokens)
        parts += [SPLIT_HEADING, text] if parts else [text]
    return "\n\n".join(parts)


def _size(plan: CompactionPlan, notes: str) -> int:
    return plan.estimate({"role": "compactionSummary", "summary": notes, "tokensBefore": 0, "timestamp": 0})


def compaction_fields(
    outcome: CompactionOutcome,
    *,
    entry_id: str,
    timestamp: int,
    thinking_level: str,
    model: str | None = None,
    session_name: str | None = None,
    self_contained: bool = False,
) -> dict[str, Any]:
    """The fields of the compaction entry beside its base. `model` is "provider/modelId", `timestamp` milliseconds.

    `entry_id` is the id the entry will have: it names itself where no entry on the path is kept. Thinking level,
    model and name are there so that the file need not be read further back than this entry.
    """
    plan = outcome.plan
    fields: dict[str, Any] = {
        "summary": outcome.summary,
        "firstKeptEntryId": plan.first_kept_entry_id or entry_id,
        "tokensBefore": plan.tokens_before,
        "details": outcome.details,
    }
    if outcome.usage is not None:
        fields["usage"] = outcome.usage
    if plan.system is not None:
        fields["systemMessage"] = system_message(plan.system, timestamp=timestamp)
    if self_contained or plan.first_kept_entry_id is None:
        fields["retainedTail"] = list[Message](plan.kept_messages)
    fields["thinkingLevel"] = thinking_level
    fields |= {name: value for name, value in (("model", model), ("sessionName", session_name)) if value is not None}
    return fields
