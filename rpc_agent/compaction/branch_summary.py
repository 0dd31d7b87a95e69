"""What is remembered of a branch that is left: collect, ask, outcome. The same three steps as a compaction."""

from collections.abc import Sequence
from typing import cast

from msgspec import Struct

from rpc_agent.compaction.asking import Ask, SummaryModel, SummaryRequest, output_tokens, refusal
from rpc_agent.compaction.file_operations import FileOperations, file_operations, recorded_operations
from rpc_agent.compaction.middle import Weigh, without_middle
from rpc_agent.compaction.prompts import SYSTEM, branch_prompt
from rpc_agent.compaction.transcript import transcript
from rpc_agent.context.projection import context_edits, entry_messages
from rpc_agent.context.tokens import Estimate
from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.conversation.messages import Message, user_message
from rpc_agent.conversation.usage import Usage, make_usage
from rpc_agent.errors import BranchSummaryFailed
from rpc_agent.session.entries import BranchSummaryEntry, CompactionEntry, Entry

_OUTPUT_TOKENS = 4096
"""A branch that was left deserves a page, not a chapter."""
_SUMMARIES_UNTIL = 0.9
"""A summary stands for much: it is taken although it does not fit, while less than this of the budget is used."""
_UNKNOWN_WINDOW_BUDGET = 16_000
"""What even small models of today read, where nobody knows the window."""
_NOT_SPOKEN = frozenset({"toolResult", "system"})


class BranchMaterial(Struct, frozen=True):
    """What is summarised, oldest first; file operations also of entries that did not fit."""

    messages: tuple[Message, ...]
    tokens: int
    file_operations: FileOperations
    most_tokens: int | None = None
    """The budget, where the one message there is does not fit: its middle is left out when it is told."""


class BranchSummaryOutcome(Struct, frozen=True):
    summary: str
    details: JsonObject
    usage: Usage | None


def branch_budget(window: int, reserve_tokens: int) -> int:
    """Tokens of material; never unlimited, and never so few that a small window is left without a summary."""
    if window <= 0:
        return _UNKNOWN_WINDOW_BUDGET
    return max(window - reserve_tokens, window // 2)


def is_worth_telling(entries: Sequence[Entry]) -> bool:
    """Whether anything was said or done there; markers, labels and settings alone are nothing to summarise."""
    edits = context_edits(entries)
    shown = (message for entry in entries for message in entry_messages(entry, edits.get(entry.id), leading=True))
    return any(message["role"] not in _NOT_SPOKEN for message in shown)


def branch_material(entries: Sequence[Entry], budget: int, estimate: Estimate) -> BranchMaterial:
    """The newest messages that fit into `budget` tokens. What an edit on the branch took out stays out."""
    edits = context_edits(entries)
    shown = [(entry, entry_messages(entry, edits.get(entry.id), leading=True)) for entry in entries]
    chosen: list[Message] = []
    used, full = 0, False
    for entry, messages in reversed(shown):
        for message in reversed(messages):
            if full or message["role"] in _NOT_SPOKEN:
                continue
            size = estimate(message)
            if used + size > budget:
                full = True
                if (chosen and not _is_summary(entry)) or used >= budget * _SUMMARIES_UNTIL:
                    continue
            chosen.append(message)
            used += size
    # Nothing at all is no material: the newest message is there, however long it is.
    most = budget if len(chosen) == 1 and used > budget else None
    return BranchMaterial(tuple(reversed(chosen)), used, _files(shown), most)


async def summarize_branch(
    material: BranchMaterial,
    ask: Ask,
    estimate: Estimate,
    *,
    model: SummaryModel | None = None,
    custom_instructions: str | None = None,
    replace_instructions: bool = False,
) -> BranchSummaryOutcome:
    """One call. Raises BranchSummaryFailed with details `reason` and maybe `usage`; then nothing has changed."""
    prompt = branch_prompt(
        _record(material, estimate),
        custom_instructions=custom_instructions,
        replace_instructions=replace_instructions,
    )
    limit = output_tokens(_OUTPUT_TOKENS, model or SummaryModel(), prompt, _weigh(estimate))
    answer = await ask(SummaryRequest(kind="branch", system=SYSTEM, prompt=prompt, max_tokens=limit))
    usage = None if answer.usage is None else cast(Usage, {**make_usage(), **answer.usage})
    if (refused := refusal(answer)) is not None:
        paid = {} if usage is None else {"usage": usage}
        raise BranchSummaryFailed(f"{refused.sentence} Nothing was changed.", reason=refused.reason, **paid)
    operations = material.file_operations
    return BranchSummaryOutcome(answer.text.strip() + operations.tag_blocks(), operations.details(), usage)


def _record(material: BranchMaterial, estimate: Estimate) -> str:
    record = transcript(material.messages)
    if material.most_tokens is None:
        return record
    return without_middle(record, material.most_tokens, _weigh(estimate))


def _weigh(estimate: Estimate) -> Weigh:
    return lambda text: estimate(user_message(text, timestamp=0))


def branch_summary_fields(outcome: BranchSummaryOutcome, *, old_leaf_id: str | None) -> JsonObject:
    """The fields of the branch_summary entry beside its base."""
    fields: JsonObject = {
        "fromId": old_leaf_id or "root",
        "summary": outcome.summary,
        "details": outcome.details,
    }
    if outcome.usage is not None:
        fields["usage"] = outcome.usage
    return fields


def _is_summary(entry: Entry) -> bool:
    return isinstance(entry, CompactionEntry | BranchSummaryEntry)


def _files(shown: Sequence[tuple[Entry, tuple[Message, ...]]]) -> FileOperations:
    found = file_operations(message for _, messages in shown for message in messages)
    for entry, _ in shown:
        if isinstance(entry, CompactionEntry | BranchSummaryEntry) and not entry.from_hook:
            found = recorded_operations(entry.details).merged(found)
    return found
