"""Where a context may be cut: never between a tool call and its result. Reads steps and sizes; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rpc_agent.context.projection import Projection, context_edits
from rpc_agent.context.tokens import Estimate
from rpc_agent.conversation.messages import Message
from rpc_agent.session.entries import CompactionEntry, ContextEditEntry, Entry, MessageEntry

_TURN_STARTS = frozenset({"user", "bashExecution", "custom", "branchSummary", "compactionSummary"})
_CANDIDATES = _TURN_STARTS | {"assistant"}


# A tuple, because one is made for each of ten thousand messages: a frozen dataclass takes three times as long.
class Step(NamedTuple):
    """One place of the range: an entry and its message, None for entries the model does not see."""

    entry: Entry
    message: Message | None
    omitted: bool = False
    """A context_edit left it out."""
    metadata: bool = False
    """The entry never had a message."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Indexes into the steps. `boundary` is `at` moved back over the metadata before it: what is kept begins there.

    `turn_start` is the start of the turn that `at` divides, None when `at` is between turns.
    """

    at: int
    boundary: int
    turn_start: int | None


def range_steps(projection: Projection) -> tuple[Step, ...]:
    """What a compaction may summarise, in order: all behind the leading compaction, its kept tail included.

    System messages are not summarised: the snapshot stands for them.
    """
    edits = context_edits(projection.entries)
    steps: list[Step] = []
    at, messages = 0, list(projection.messages)
    for index, entry in enumerate(projection.entries):
        begin = at
        while at < len(messages) and messages[at].entry is entry:
            at += 1
        spoken = [item.message for item in messages[begin:at]]
        if index == 0 and isinstance(entry, CompactionEntry):
            steps += [Step(entry, m) for m in spoken if m["role"] not in ("system", "compactionSummary")]
            continue
        edit = edits.get(entry.id) if edits else None
        omitted = edit is not None and edit.replacement is None
        for message in spoken:
            steps.append(Step(entry, message if message["role"] != "system" else None, omitted))
        if not spoken:
            steps.append(Step(entry, None, omitted, metadata=not omitted))
    return tuple(steps)


def find_cut(steps: Sequence[Step], keep_tokens: int, estimate: Estimate) -> Cut | None:
    """The cut that keeps about `keep_tokens`, None where there is no place to cut."""
    at = _candidate(steps, _place(steps, keep_tokens, estimate))
    if at is None:
        return None
    if _leaves_only_an_omitted_attempt(steps, at):
        at += 1
    turn_start = _turn_start(steps, at)
    boundary = at
    while boundary > 0 and steps[boundary - 1].metadata:
        boundary -= 1
    return Cut(at, boundary, None if turn_start == at else turn_start)


def is_turn_start(step: Step) -> bool:
    return step.message is not None and step.message["role"] in _TURN_STARTS


def _place(steps: Sequence[Step], keep_tokens: int, estimate: Estimate) -> int:
    """Where the newest messages first add up to `keep_tokens`; the beginning if they never do."""
    kept = 0
    for index in range(len(steps) - 1, -1, -1):
        message = steps[index].message
        if message is None:
            continue
        kept += estimate(message)
        if kept >= keep_tokens:
            return index
    return 0


def _candidate(steps: Sequence[Step], place: int) -> int | None:
    """The first candidate at or after the place; behind the last one, the last: its tool results stay with it."""
    after = next((index for index in range(place, len(steps)) if _is_candidate(steps[index])), None)
    if after is not None:
        return after
    return next((index for index in range(place - 1, -1, -1) if _is_candidate(steps[index])), None)


def _is_candidate(step: Step) -> bool:
    return step.message is not None and step.message["role"] in _CANDIDATES


def _leaves_only_an_omitted_attempt(steps: Sequence[Step], at: int) -> bool:
    """Behind the cut there is nothing but an answer that was left out: its input was abandoned and need not stay."""
    suffix = steps[at + 1 :]
    if any(step.message is not None for step in suffix):
        return False
    if not any(step.omitted and _is_answer(step.entry) for step in suffix):
        return False
    inside = {step.entry.id for step in suffix}
    return not any(_replaces_outside(step.entry, inside) for step in suffix)


def _is_answer(entry: Entry) -> bool:
    return isinstance(entry, MessageEntry) and entry.message["role"] == "assistant"


def _replaces_outside(entry: Entry, inside: set[str]) -> bool:
    """An edit that rewrites earlier words shows that they are still wanted."""
    return isinstance(entry, ContextEditEntry) and entry.replacement is not None and entry.target_id not in inside


def _turn_start(steps: Sequence[Step], at: int) -> int | None:
    return next((index for index in range(at, -1, -1) if is_turn_start(steps[index])), None)
