"""What a compaction would do, decided before any model is asked. Writes nothing, asks nobody."""

from collections.abc import Iterator, Sequence
from itertools import takewhile

from msgspec.structs import replace

from rpc_agent.compaction.chunks import Section, SummaryRoom, section
from rpc_agent.compaction.cut_point import Cut, Step, find_cut, is_turn_start, summarised_range
from rpc_agent.compaction.file_operations import FileOperations, file_operations, recorded_operations
from rpc_agent.compaction.ledger import Ledger
from rpc_agent.compaction.ledger_material import ledger_material
from rpc_agent.compaction.ledger_record import recorded_ledger
from rpc_agent.compaction.plan import CompactionPlan, settled, weigh_summary
from rpc_agent.compaction.policy import CompactionBudget, Limits, limits
from rpc_agent.compaction.shrink import is_shrinking, shrink_results
from rpc_agent.compaction.sifted import Sifted, sifted
from rpc_agent.context.projection import ProjectedMessage, Projection
from rpc_agent.context.tokens import ContextWeight, Estimate, estimate_projected, weigh_context
from rpc_agent.conversation.messages import Message
from rpc_agent.errors import AlreadyCompacted, NothingToCompact
from rpc_agent.session.entries import (
    LEAF_MARKER,
    CompactionEntry,
    CustomEntry,
    Entry,
    LabelEntry,
    SessionInfoEntry,
)

_KEPT_AFTER_REFUSAL = 0.75
"""After a refusal the counts are not to be trusted: what is kept must be clearly less than what was too much."""
_LEAST_SCALE, _MOST_SCALE = 0.5, 3.0
"""Reported over estimated tokens, as far as a service is believed."""
_LEAST_FREED = 100
"""Nobody writes notes shorter than that, so a summary of less could not make anything smaller."""

_MAY_BE_TOLD = 64
"""Messages of the user, the newest ones, that a ledger may have room for; more are counted anew."""


def plan_compaction(
    path: Sequence[Entry],
    projection: Projection,
    budget: CompactionBudget,
    estimate: Estimate,
    *,
    window: int = 0,
    tokens_before: int | None = None,
    weight: ContextWeight | None = None,
    room: SummaryRoom | None = None,
    exact_keep: bool = False,
    must_shrink: bool = False,
) -> CompactionPlan:
    """The plan for the branch `path`, whose context is `projection`.

    `window` is the effective one (0: unknown); `tokens_before` a calibrated count and `weight` our own, else they are
    made here; `room` the limits of the model that summarises. Where the context would still be above the threshold,
    less is kept and giant results are shortened, unless `exact_keep`; `must_shrink`: a service refused the context as
    it is. Raises AlreadyCompacted when nothing was said since the last compaction, NothingToCompact when all of it is
    to be kept.
    """
    if is_compacted(path):
        raise AlreadyCompacted("Nothing was said since the last compaction, so there is nothing to make shorter.")
    bounds = limits(budget, window)
    if tokens_before is None:
        tokens_before = estimate_projected(path, projection, estimate).tokens
    if weight is None:
        weight = weigh_context((item.message for item in projection.messages), estimate)
    planner = _Planner(projection, bounds, estimate, tokens_before, weight)
    plan = planner.plan(bounds.keep_recent_tokens) if exact_keep else planner.fitting(must_shrink=must_shrink)
    if plan is None:
        raise NothingToCompact(
            "The conversation is too short to compact: before its most recent "
            f"{bounds.keep_recent_tokens} tokens, which are kept as they are, there is no message that a summary could "
            "replace.",
            keepRecentTokens=bounds.keep_recent_tokens,
        )
    return _with_calls(plan, room or SummaryRoom())


def is_compacted(path: Sequence[Entry]) -> bool:
    """Whether the newest entry is a compaction, looking past what only people and navigation put there."""
    for entry in reversed(path):
        if not is_bookkeeping(entry):
            return isinstance(entry, CompactionEntry)
    return False


def is_bookkeeping(entry: Entry) -> bool:
    """Leaf markers, labels, names and a compaction's own edits: they move the leaf, and nothing was said."""
    if isinstance(entry, CustomEntry):
        return entry.custom_type == LEAF_MARKER
    return isinstance(entry, LabelEntry | SessionInfoEntry) or is_shrinking(entry)


def is_credible(scale: float) -> bool:
    """Whether a service's count can be of the context that was estimated."""
    return _LEAST_SCALE <= scale <= _MOST_SCALE


class _Planner:
    """Plans of one context, for any amount to keep."""

    def __init__(
        self, projection: Projection, bounds: Limits, estimate: Estimate, tokens_before: int, weight: ContextWeight
    ) -> None:
        self._projection, self._bounds, self._estimate = projection, bounds, estimate
        self._tokens_before, self._weight = tokens_before, weight
        self._scale = tokens_before / weight.tokens if weight.tokens else 1.0
        # Beyond what any tokenizer does, the count is of something else: more than the estimate is not given up for it.
        self._trust = 1.0 if is_credible(self._scale) else 1.0 / (self._scale or 1.0)
        found = summarised_range(projection, bounds.keep_recent_tokens, estimate)
        self._steps = found.steps
        # However little of the rest a plan keeps, these are summarised, so they are gone through once for all plans.
        self._older = sifted(found.older)

    def fitting(self, *, must_shrink: bool) -> CompactionPlan | None:
        """The plan that keeps most and still arrives below the threshold: first whole turns are given up, down to one,
        then giant results in what is left, then the beginning of the last turn.

        If none arrives: what one turn and its shortened results come to. None when there is nothing to summarise with
        what is configured, and keeping less would not arrive either.
        """
        first = self.plan(self._bounds.keep_recent_tokens)
        if first is not None and self._arrives(first, must_shrink):
            return first
        if first is None and not must_shrink and self._is_below_threshold(self._tokens_before):
            return None
        # To keep less than what is configured has to be worth it.
        plans = [
            plan for plan in self._smaller() if first is not None or plan.freed_tokens >= _LEAST_FREED or must_shrink
        ]
        whole = [plan for plan in plans if self._keeps_a_turn(plan)]
        within = [self.shrunk(plan) for plan in plans if not self._keeps_a_turn(plan)]
        floor = [self.shrunk(plan) for plan in whole[-1:]]
        for plan in (*whole, *floor, *within):
            if self._arrives(plan, must_shrink):
                return plan
        if must_shrink:
            useful = (plan for plan in (*floor, *within) if plan.freed_tokens >= _LEAST_FREED)
            return min(useful, key=lambda plan: plan.estimated_tokens_after, default=None)
        # Nothing smaller where the least that is kept is already all that has no tokens.
        return None if first is None else (floor or within or [self.shrunk(first)])[0]

    def _arrives(self, plan: CompactionPlan, must_shrink: bool) -> bool:
        if not self._is_below_threshold(plan.estimated_tokens_after * self._trust):
            return False
        kept = sum(map(self._estimate, plan.kept_messages))
        return not must_shrink or kept <= (kept + plan.freed_tokens) * _KEPT_AFTER_REFUSAL

    def _is_below_threshold(self, tokens: float) -> bool:
        return self._bounds.threshold is None or tokens <= self._bounds.threshold

    def _smaller(self) -> Iterator[CompactionPlan]:
        """Less and less is kept, beginning with what is configured."""
        keep = max(self._bounds.keep_recent_tokens, 1)
        known: str | None = ""
        while keep > 0:
            plan = self.plan(keep)
            if plan is not None and plan.first_kept_entry_id != known:
                known = plan.first_kept_entry_id
                yield plan
            keep //= 2

    def _keeps_a_turn(self, plan: CompactionPlan) -> bool:
        last = next((step for step in reversed(self._steps) if is_turn_start(step)), None)
        return last is not None and any(message is last.message for message in plan.kept_messages)

    def shrunk(self, plan: CompactionPlan) -> CompactionPlan:
        """With giant results among what it keeps made shorter, as far as the threshold asks for it."""
        threshold = self._bounds.threshold
        excess = plan.estimated_tokens_after * self._trust - (threshold if threshold is not None else 0)
        spoken = [(step.entry, step.message) for step in self._steps if step.message is not None]
        kept = spoken[len(spoken) - len(plan.kept_messages) :]
        found = shrink_results(kept, excess / (self._scale * self._trust or 1.0), self._estimate, plan.weigh)
        if not found:
            return plan
        messages = tuple(found[at].message if at in found else message for at, (_, message) in enumerate(kept))
        gained = sum(map(self._estimate, plan.kept_messages)) - sum(map(self._estimate, messages))
        plan = replace(plan, kept_messages=messages, shrink_gain=gained)
        # What begins in a tail is carried by the new entry, which needs no edits.
        edits = () if plan.first_kept_entry_id is None else tuple(found[at] for at in sorted(found))
        return settled(replace(plan, shrunk=edits))

    def plan(self, keep_tokens: int) -> CompactionPlan | None:
        """None when there is nothing to summarise."""
        cut = find_cut(self._steps, keep_tokens, self._estimate)
        if cut is None:
            return None
        # Finished history, and the beginning of the turn that is cut.
        history_end = cut.at if cut.turn_start is None else cut.turn_start
        history = self._older + sifted(_spoken(self._steps[:history_end]))
        prefix = sifted(_spoken(self._steps[history_end : cut.at]))
        return self._plan(cut, history, prefix) if history.messages or prefix.messages else None

    def _plan(self, cut: Cut, history: Sifted, prefix: Sifted) -> CompactionPlan:
        leading, summarized = self._projection.entries[0], history + prefix
        previous = leading if isinstance(leading, CompactionEntry) else None
        kept_steps = self._steps[cut.boundary :]
        kept = tuple([step.message for step in kept_steps if step.message is not None])
        files = _files(previous, summarized)
        plan = CompactionPlan(
            first_kept_entry_id=None if kept_steps[0].entry is previous else kept_steps[0].entry.id,
            is_split_turn=cut.turn_start is not None,
            turn_start_entry_id=None if cut.turn_start is None else self._steps[cut.turn_start].entry.id,
            tokens_before=self._tokens_before,
            estimated_tokens_after=0,
            messages_to_summarize=tuple(history.messages),
            turn_prefix_messages=tuple(prefix.messages),
            history_record=history.record,
            prefix_record=prefix.record,
            kept_messages=kept,
            previous_summary=previous.summary if previous else None,
            replaced_tokens=self._replaced(previous, kept),
            file_operations=files,
            material=ledger_material(summarized, kept, _carried(previous), files),
            context_entries=self._projection.entries,
            kept_entry_ids=_ids(kept_steps, leading),
            system=self._weight.system,
            system_tokens=self._weight.system_tokens,
            limits=self._bounds,
            estimate=self._estimate,
            scale=self._scale,
        )
        return settled(plan, _counted(summarized.users[-_MAY_BE_TOLD:], self._estimate))

    def _replaced(self, previous: CompactionEntry | None, kept: Sequence[Message]) -> int:
        """The previous summary, and all behind it that is not kept."""
        tokens = self._weight.spoken - sum(map(self._estimate, kept))
        if previous is None:
            return tokens
        leading = takewhile(lambda item: item.entry is previous, self._projection.messages)
        told = [item.message for item in leading if item.message["role"] == "compactionSummary"]
        return tokens - sum(map(self._estimate, told)) + weigh_summary(previous.summary, self._estimate)


def _with_calls(plan: CompactionPlan, room: SummaryRoom) -> CompactionPlan:
    """The record divided into calls. Notes on a cut turn stand beside those on what was before it."""
    room = replace(room, scale=plan.scale)
    sections: list[Section] = []
    if plan.messages_to_summarize:
        record, previous = plan.history_record, plan.previous_notes
        sections.append(section("history", record, previous, plan.history_tokens, room, plan.weigh))
    if plan.turn_prefix_messages:
        sections.append(section("turnPrefix", plan.prefix_record, None, plan.prefix_tokens, room, plan.weigh))
    return replace(plan, sections=tuple(sections))


def _ids(steps: Sequence[Step], leading: Entry) -> tuple[str, ...]:
    """Entries in order, once each; the leading compaction is replaced even where messages of its tail are kept."""
    return tuple(dict.fromkeys(step.entry.id for step in steps if step.entry is not leading or step.message is None))


def _files(previous: CompactionEntry | None, summarized: Sifted) -> FileOperations:
    found = file_operations(item.message for item in summarized.deeds)
    if previous is None or previous.from_hook:
        return found
    return recorded_operations(previous.details).merged(found)


def _counted(said: Sequence[ProjectedMessage], estimate: Estimate) -> dict[str, int]:
    """Texts of which a message consists, with the tokens of the message: it was counted when it came."""
    counted = {}
    for item in said:
        message = item.message
        content = message["content"] if message["role"] == "user" else []
        if isinstance(content, str):
            counted[content] = estimate(message)
        elif len(content) == 1 and (block := content[0])["type"] == "text":
            counted[block["text"]] = estimate(message)
    return counted


def _carried(previous: CompactionEntry | None) -> Ledger:
    """What the last ledger said; a hook's details have a shape of their own."""
    return Ledger() if previous is None or previous.from_hook else recorded_ledger(previous.details)


def _spoken(steps: Sequence[Step]) -> list[ProjectedMessage]:
    return [ProjectedMessage(step.entry, step.message) for step in steps if step.message is not None]
