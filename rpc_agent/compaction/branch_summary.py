"""What is remembered of a branch that is left: collect, ask, outcome. The same three steps as a compaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from rpc_agent.compaction.asking import Ask, SummaryModel, SummaryRequest, output_tokens, refusal
from rpc_agent.compaction.file_operations import FileOperations, file_operations, recorded_operations
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


@dataclass(frozen=True, slots=True)
class AbandonedBranch:
    """`entries` lie between the common ancestor (None: there is none) and the old leaf, oldest first."""

    common_ancestor_id: str | None
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class BranchMaterial:
    """What is summarised, oldest first; file operations also of entries that did not fit."""

    messages: tuple[Message, ...]
    tokens: int
    file_operations: FileOperations


@dataclass(frozen=True, slots=True)
class BranchSummaryOutcome:
    summary: str
    details: JsonObject
    usage: Usage | None


def abandoned_branch(old_path: Sequence[Entry], target_path: Sequence[Entry]) -> AbandonedBranch:
    """What is left when the leaf moves from the end of one root-to-leaf path to the end of another."""
    there = {entry.id for entry in target_path}
    shared = next((index for index in range(len(old_path) - 1, -1, -1) if old_path[index].id in there), None)
    if shared is None:
        return AbandonedBranch(None, tuple(old_path))
    return AbandonedBranch(old_path[shared].id, tuple(old_path[shared + 1 :]))


def branch_budget(window: int, reserve_tokens: int) -> int:
    """Tokens of material; never unlimited, and never so few that a small window is left without a summary."""
    if window <= 0:
        return _UNKNOWN_WINDOW_BUDGET
    return max(window - reserve_tokens, window // 2)


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
                if not _is_summary(entry) or used >= budget * _SUMMARIES_UNTIL:
                    continue
            chosen.append(message)
            used += size
    return BranchMaterial(tuple(reversed(chosen)), used, _files(shown))


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
        transcript(material.messages),
        custom_instructions=custom_instructions,
        replace_instructions=replace_instructions,
    )
    size = estimate(user_message(prompt, timestamp=0))
    limit = output_tokens(_OUTPUT_TOKENS, model or SummaryModel(), size)
    answer = await ask(SummaryRequest(kind="branch", system=SYSTEM, prompt=prompt, max_tokens=limit))
    usage = None if answer.usage is None else cast(Usage, {**make_usage(), **answer.usage})
    if (refused := refusal(answer)) is not None:
        paid = {} if usage is None else {"usage": usage}
        raise BranchSummaryFailed(f"{refused.sentence} Nothing was changed.", reason=refused.reason, **paid)
    operations = material.file_operations
    return BranchSummaryOutcome(answer.text.strip() + operations.tag_blocks(), operations.details(), usage)


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
