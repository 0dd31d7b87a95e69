"""What a compaction would do, decided before any model is asked. Writes nothing, asks nobody."""

from collections.abc import Sequence
from dataclasses import dataclass

from rpc_agent.compaction.cut_point import Cut, Step, find_cut, range_steps
from rpc_agent.compaction.file_operations import FileOperations, file_operations, recorded_operations
from rpc_agent.compaction.policy import CompactionBudget, Limits, limits
from rpc_agent.context.projection import Projection
from rpc_agent.context.system_state import SystemState, replay_system, system_message
from rpc_agent.context.tokens import Estimate, estimate_afresh, estimate_projected
from rpc_agent.conversation.messages import CompactionSummaryMessage, Message
from rpc_agent.errors import AlreadyCompacted, NothingToCompact
from rpc_agent.session.entries import (
    LEAF_MARKER,
    CompactionEntry,
    CustomEntry,
    Entry,
    LabelEntry,
    SessionInfoEntry,
)

_HISTORY_SHARE, _PREFIX_SHARE = 0.8, 0.5
"""Of the reserved tokens: the notes must leave room for the answer that the reserve is there for."""
_EXPECTED_NOTES, _EXPECTED_SHARE = 800, 0.1
"""How long notes turn out: headings and the few facts of any session, and about a tenth of a long one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionPlan:
    """A cut and both its sides. Message lists are in order and without system messages; counts are tokens."""

    first_kept_entry_id: str | None
    """None where what is kept begins inside a tail that only the last compaction holds: then the new entry names
    itself and must carry `kept_messages`."""
    is_split_turn: bool
    turn_start_entry_id: str | None
    tokens_before: int
    estimated_tokens_after: int
    """A forecast: how long the summary will be is not known yet."""
    messages_to_summarize: tuple[Message, ...]
    turn_prefix_messages: tuple[Message, ...]
    kept_messages: tuple[Message, ...]
    previous_summary: str | None
    """As the last compaction stored it."""
    file_operations: FileOperations
    summarized_entry_ids: tuple[str, ...]
    """Entries of the context that the summary replaces, the last compaction among them."""
    kept_entry_ids: tuple[str, ...]
    system: SystemState | None
    limits: Limits
    estimate: Estimate
    scale: float
    """`tokens_before` over its estimate: what a service counts for each token that we count."""

    @property
    def history_tokens(self) -> int:
        """The longest notes on finished history to ask for."""
        return int(self.limits.reserve_tokens * _HISTORY_SHARE)

    @property
    def prefix_tokens(self) -> int:
        """The longest notes on the beginning of the turn that is cut."""
        return int(self.limits.reserve_tokens * _PREFIX_SHARE)

    @property
    def calls(self) -> int:
        """How many times a model is asked, known before the first."""
        return bool(self.messages_to_summarize) + bool(self.turn_prefix_messages)

    @property
    def replaced_tokens(self) -> int:
        """What the summary stands for; it must be smaller than this."""
        previous = 0 if self.previous_summary is None else self.estimate(_summary_message(self.previous_summary))
        return previous + sum(map(self.estimate, self.messages_to_summarize + self.turn_prefix_messages))

    def tokens_with(self, summary: str) -> int:
        """The context after this compaction, with that summary; by the same ruler as `tokens_before`."""
        estimated = self.estimate(_summary_message(summary))
        return round((estimated + _kept_tokens(self.system, self.kept_messages, self.estimate)) * self.scale)


def plan_compaction(
    path: Sequence[Entry],
    projection: Projection,
    budget: CompactionBudget,
    estimate: Estimate,
    *,
    window: int = 0,
    tokens_before: int | None = None,
) -> CompactionPlan:
    """The plan for the branch `path`, whose context is `projection`.

    `window` is the effective one (0: unknown); `tokens_before` a calibrated count, else it is estimated here. Raises
    AlreadyCompacted when nothing was said since the last compaction, NothingToCompact when all of it is to be kept.
    """
    if is_compacted(path):
        raise AlreadyCompacted("Nothing was said since the last compaction, so there is nothing to make shorter.")
    bounds = limits(budget, window)
    steps = range_steps(projection)
    cut = find_cut(steps, bounds.keep_recent_tokens, estimate)
    history, prefix = ((), ()) if cut is None else _to_summarize(steps, cut)
    if cut is None or not (history or prefix):
        raise NothingToCompact(
            "The conversation is too short to compact: all of it lies within the most recent "
            f"{bounds.keep_recent_tokens} tokens, which are kept as they are.",
            keepRecentTokens=bounds.keep_recent_tokens,
        )
    if tokens_before is None:
        tokens_before = estimate_projected(path, projection, estimate).tokens
    return _plan(projection, steps, cut, history, prefix, bounds, estimate, tokens_before)


def is_compacted(path: Sequence[Entry]) -> bool:
    """Whether the newest entry is a compaction, looking past what only people and navigation put there."""
    for entry in reversed(path):
        if not is_bookkeeping(entry):
            return isinstance(entry, CompactionEntry)
    return False


def is_bookkeeping(entry: Entry) -> bool:
    """Leaf markers, labels and names: they move the leaf, and nothing was said."""
    if isinstance(entry, CustomEntry):
        return entry.custom_type == LEAF_MARKER
    return isinstance(entry, LabelEntry | SessionInfoEntry)


def _to_summarize(steps: Sequence[Step], cut: Cut) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """Finished history, and the beginning of the turn that is cut."""
    history_end = cut.at if cut.turn_start is None else cut.turn_start
    return _messages(steps[:history_end]), _messages(steps[history_end : cut.at])


def _plan(
    projection: Projection,
    steps: Sequence[Step],
    cut: Cut,
    history: tuple[Message, ...],
    prefix: tuple[Message, ...],
    bounds: Limits,
    estimate: Estimate,
    tokens_before: int,
) -> CompactionPlan:
    estimated_before = estimate_afresh((item.message for item in projection.messages), estimate)
    scale = tokens_before / estimated_before if estimated_before else 1.0
    leading = projection.entries[0]
    previous = leading if isinstance(leading, CompactionEntry) else None
    kept, system = _messages(steps[cut.boundary :]), replay_system(item.message for item in projection.messages)
    first_kept = steps[cut.boundary].entry
    kept_ids = _ids(steps[cut.boundary :], leading)
    return CompactionPlan(
        first_kept_entry_id=None if first_kept is previous else first_kept.id,
        is_split_turn=cut.turn_start is not None,
        turn_start_entry_id=None if cut.turn_start is None else steps[cut.turn_start].entry.id,
        tokens_before=tokens_before,
        estimated_tokens_after=round(_forecast(history + prefix, kept, previous, bounds, system, estimate) * scale),
        messages_to_summarize=history,
        turn_prefix_messages=prefix,
        kept_messages=kept,
        previous_summary=previous.summary if previous else None,
        file_operations=_files(previous, history + prefix),
        summarized_entry_ids=_others(projection.entries, kept_ids),
        kept_entry_ids=kept_ids,
        system=system,
        limits=bounds,
        estimate=estimate,
        scale=scale,
    )


def _ids(steps: Sequence[Step], leading: Entry) -> tuple[str, ...]:
    """Entries in order, once each; the leading compaction is replaced even where messages of its tail are kept."""
    return tuple(dict.fromkeys(step.entry.id for step in steps if step.entry is not leading or step.message is None))


def _others(entries: Sequence[Entry], kept_ids: Sequence[str]) -> tuple[str, ...]:
    kept = set(kept_ids)
    return tuple(entry.id for entry in entries if entry.id not in kept)


def _files(previous: CompactionEntry | None, messages: Sequence[Message]) -> FileOperations:
    found = file_operations(messages)
    if previous is None or previous.from_hook:
        return found
    return recorded_operations(previous.details).merged(found)


def _forecast(
    summarized: Sequence[Message],
    kept: Sequence[Message],
    previous: CompactionEntry | None,
    bounds: Limits,
    system: SystemState | None,
    estimate: Estimate,
) -> int:
    replaced = sum(map(estimate, summarized)) + (estimate(_summary_message(previous.summary)) if previous else 0)
    notes = min(
        _EXPECTED_NOTES + int(replaced * _EXPECTED_SHARE), replaced, int(bounds.reserve_tokens * _HISTORY_SHARE)
    )
    return notes + _kept_tokens(system, kept, estimate)


def _kept_tokens(system: SystemState | None, kept: Sequence[Message], estimate: Estimate) -> int:
    return sum(map(estimate, kept)) + (estimate(system_message(system, timestamp=0)) if system else 0)


def _messages(steps: Sequence[Step]) -> tuple[Message, ...]:
    return tuple(step.message for step in steps if step.message is not None)


def _summary_message(summary: str) -> CompactionSummaryMessage:
    return {"role": "compactionSummary", "summary": summary, "tokensBefore": 0, "timestamp": 0}
