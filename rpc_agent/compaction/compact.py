"""Plan -> ask -> outcome: asks the model for the notes and makes the one entry that records them. Stores nothing."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, cast

from msgspec import Struct
from msgspec.structs import replace

from rpc_agent.compaction.asking import (
    Ask,
    Refused,
    SummaryAnswer,
    SummaryModel,
    SummaryRequest,
    output_tokens,
    refusal,
)
from rpc_agent.compaction.chunks import Section, SectionKind, merge_groups, shortened
from rpc_agent.compaction.fallback import notes_without_model
from rpc_agent.compaction.ledger import Ledger
from rpc_agent.compaction.ledger_record import ledger_json
from rpc_agent.compaction.ledger_text import ledger_block, ledger_within, without_fences
from rpc_agent.compaction.plan import CompactionPlan
from rpc_agent.compaction.prompts import (
    SPLIT_HEADING,
    SYSTEM,
    chunk_prompt,
    history_prompt,
    merge_prompt,
    prefix_prompt,
    second_try,
)
from rpc_agent.compaction.transcript import Record, joined
from rpc_agent.context.system_state import system_message
from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.conversation.messages import Message
from rpc_agent.conversation.usage import Usage, add_usage, make_usage
from rpc_agent.errors import CompactionFailed

Phase = Literal["history", "turnPrefix", "merge"]

_WORTH_A_SECOND_TRY = frozenset({"length", "toolCall", "empty", "degenerate"})
"""A failed call was tried again by the retry policy already, where that could help."""


class CompactionProgress(Struct, frozen=True):
    """`call` of `calls` begins. A second try is announced as the call it repeats."""

    phase: Phase
    call: int
    calls: int


Report = Callable[[CompactionProgress], None]


class CompactionOutcome(Struct, frozen=True, kw_only=True):
    """A complete summary in hand, not yet recorded. `usage` is the sum of all calls, None without a report."""

    plan: CompactionPlan
    summary: str
    details: JsonObject
    usage: Usage | None
    estimated_tokens_after: int


class _Question(Struct, frozen=True, kw_only=True):
    """One call. `below`: tokens that the answer must stay below to be of use."""

    phase: Phase
    kind: SectionKind
    prompt: str
    tokens: int
    below: int


class _Calls:
    """The calls of one compaction: counts them, adds up what they cost, turns a bad answer into an error."""

    def __init__(self, plan: CompactionPlan, ask: Ask, model: SummaryModel, report: Report) -> None:
        self._plan, self._ask, self._model, self._report = plan, ask, model, report
        self._made = 0
        self._may_try_again = True
        self.usage: Usage | None = None

    async def text(self, question: _Question) -> str:
        """Raises CompactionFailed with the reason of the first answer, when the second is no better."""
        self._made += 1
        answer, refused = await self._once(question)
        if refused is not None and refused.reason in _WORTH_A_SECOND_TRY and self._may_try_again:
            self._may_try_again = False
            again = replace(question, prompt=second_try(question.prompt, refused.reason))
            answer, still_refused = await self._once(again)
            refused = refused if still_refused is not None else None
        if refused is not None:
            raise self.failed(refused)
        return without_fences(answer.text.strip())

    async def _once(self, question: _Question) -> tuple[SummaryAnswer, Refused | None]:
        self._report(CompactionProgress(question.phase, self._made, self._plan.calls))
        limit = output_tokens(question.tokens, self._model, question.prompt, self._plan.weigh)
        request = SummaryRequest(kind=question.kind, system=SYSTEM, prompt=question.prompt, max_tokens=limit)
        answer = await self._ask(request)
        self._charge(answer)
        refused = refusal(answer)
        if refused is None and self._plan.weigh(answer.text) >= question.below:
            refused = Refused("degenerate", "The summary is not smaller than what it would replace.")
        return answer, refused

    def failed(self, refused: Refused) -> CompactionFailed:
        """`usage` tells the caller what was paid for nothing; it becomes a usage entry."""
        paid = {"usage": self.usage} if self.usage is not None else {}
        return CompactionFailed(f"{refused.sentence} Nothing was changed.", reason=refused.reason, **paid)

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
    fallback: bool = False,
    progress: Report = lambda step: None,
) -> CompactionOutcome:
    """Make the calls of a plan, one after another. Raises CompactionFailed with details `reason` and maybe `usage`.

    `fallback`: when the model fails, make a summary without it instead. Cancellation passes through; nothing here
    needs undoing.
    """
    calls = _Calls(plan, ask, model or SummaryModel(), progress)
    try:
        notes = await _notes(plan, calls, custom_instructions)
        outcome = _outcome(plan, notes, calls.usage)
        if outcome is None:
            raise calls.failed(Refused("degenerate", "The summary is not smaller than what it would replace."))
        return outcome
    except CompactionFailed:
        made = _without_model(plan, calls.usage) if fallback else None
        if made is None:
            raise
        return made


async def _notes(plan: CompactionPlan, calls: _Calls, custom: str | None) -> str:
    # One after another: a local server answers one call at a time, and a failure of the first saves the second.
    parts: list[str] = []
    left = plan.freed_tokens
    if not plan.messages_to_summarize and plan.previous_notes:
        # No finished turn since the last compaction: what it knew is carried over as it is.
        parts.append(plan.previous_notes)
        left -= plan.weigh(plan.previous_notes)
    for section in plan.sections:
        text = await _section_notes(section, plan, calls, custom, left)
        parts += [SPLIT_HEADING, text] if section.kind == "turnPrefix" and parts else [text]
        left -= plan.weigh(text)
    return "\n\n".join(parts)


async def _section_notes(section: Section, plan: CompactionPlan, calls: _Calls, custom: str | None, below: int) -> str:
    if len(section.chunks) == 1:
        prompt = _final_prompt(section, section.chunks[0], custom)
        return await calls.text(
            _Question(phase=section.kind, kind=section.kind, prompt=prompt, tokens=section.tokens, below=below)
        )
    texts: list[str] = []
    for number, chunk in enumerate(section.chunks, start=1):
        prompt = chunk_prompt(chunk, part=number, parts=len(section.chunks), custom_instructions=custom)
        question = _Question(
            phase=section.kind,
            kind=section.kind,
            prompt=prompt,
            tokens=section.chunk_tokens,
            below=plan.weigh(joined(chunk)),
        )
        texts.append(shortened(await calls.text(question), section, plan.weigh))
    while len(texts) > 1:
        texts = [await _merged(group, len(texts), section, plan, calls, custom, below) for group in merge_groups(texts)]
    return texts[0]


async def _merged(
    group: Sequence[str],
    count: int,
    section: Section,
    plan: CompactionPlan,
    calls: _Calls,
    custom: str | None,
    below: int,
) -> str:
    if len(group) == 1:
        return group[0]
    notes = [(text,) for text in group]
    if len(group) == count:
        prompt = _final_prompt(section, notes, custom, merged=True)
        question = _Question(phase="merge", kind=section.kind, prompt=prompt, tokens=section.tokens, below=below)
        return await calls.text(question)
    prompt = merge_prompt(notes, previous_summary=None, prefix=False, custom_instructions=custom)
    size = sum(map(plan.weigh, group))
    question = _Question(phase="merge", kind=section.kind, prompt=prompt, tokens=section.chunk_tokens, below=size)
    return shortened(await calls.text(question), section, plan.weigh)


def _final_prompt(section: Section, record: Record, custom: str | None, *, merged: bool = False) -> str:
    is_prefix = section.kind == "turnPrefix"
    if merged:
        return merge_prompt(record, previous_summary=section.previous, prefix=is_prefix, custom_instructions=custom)
    if is_prefix:
        return prefix_prompt(record, custom_instructions=custom)
    return history_prompt(record, previous_summary=section.previous, custom_instructions=custom)


def _without_model(plan: CompactionPlan, usage: Usage | None) -> CompactionOutcome | None:
    """None when even that is not smaller than what it replaces."""
    for share in (1.0, 0.5, 0.25, 0.1, 0.0):
        notes = without_fences(notes_without_model(plan, share))
        # The ledger comes first: notes that nobody weighed must not take its place.
        if plan.weigh(notes) + plan.ledger_tokens < plan.freed_tokens or share == 0.0:
            outcome = _outcome(plan, notes, usage)
            if outcome is not None:
                return replace(outcome, details={**outcome.details, "fallback": True})
    return None


def _outcome(plan: CompactionPlan, notes: str, usage: Usage | None) -> CompactionOutcome | None:
    """Notes and as much of the ledger as there is room for; None when the notes alone are too long."""
    for ledger in _ledgers(plan, plan.freed_tokens - plan.weigh(notes)):
        summary = notes + ledger_block(ledger, notes)
        tokens = plan.weigh(summary)
        if tokens < plan.freed_tokens:
            return CompactionOutcome(
                plan=plan,
                summary=summary,
                details={**plan.file_operations.details(), "ledger": ledger_json(ledger)},
                usage=usage,
                estimated_tokens_after=plan.tokens_with(tokens),
            )
    return None


def _ledgers(plan: CompactionPlan, left: int) -> Iterator[Ledger]:
    """The ledger as promised, then what fits in what the notes left, then none; each is work, and the first does."""
    yield plan.ledger
    for share in (7, 4, 2) if left > 0 else ():
        yield ledger_within(plan.material, left * share // 8, plan.weigh)[0]
    yield Ledger()


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
