"""Where a context may be cut: never between a tool call and its result. Reads steps and sizes; pure."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from rpc_agent.context.projection import ProjectedMessage, Projection, context_edits
from rpc_agent.context.tokens import Estimate
from rpc_agent.conversation.messages import Message
from rpc_agent.session.entries import CompactionEntry, ContextEditEntry, Entry, MessageEntry

_TURN_STARTS = frozenset({"user", "bashExecution", "custom", "branchSummary", "compactionSummary"})
_CANDIDATES = _TURN_STARTS | {"assistant"}


class Step(Struct, frozen=True):
    """One place of the range: an entry and its message, None for entries the model does not see."""

    entry: Entry
    message: Message | None
    omitted: bool = False
    """A context_edit left it out."""
    metadata: bool = False
    """The entry never had a message."""


class Cut(Struct, frozen=True):
    """Indexes into the steps. `boundary` is `at` moved back over the metadata before it: what is kept begins there.

    `turn_start` is the start of the turn that `at` divides, None when `at` is between turns.
    """

    at: int
    boundary: int
    turn_start: int | None


class Range(Struct, frozen=True):
    """What a compaction may summarise, in order: all behind the leading compaction, its kept tail included.

    System messages are not summarised: the snapshot stands for them.
    """

    older: Sequence[ProjectedMessage]
    """Messages that no cut divides; system messages may still be among them."""
    steps: Sequence[Step]
    """All places behind those, and with them every place where a cut can be."""


def summarised_range(projection: Projection, keep_tokens: int, estimate: Estimate) -> Range:
    """The range, with the steps that any cut needs which keeps `keep_tokens` or less."""
    messages, entries = projection.messages, projection.entries
    lead = 1 if entries and isinstance(entries[0], CompactionEntry) else 0
    led = next((at for at, item in enumerate(messages) if item.entry is not entries[0]), len(messages)) if lead else 0
    steps, at, index = _Newest(keep_tokens, estimate), len(messages), len(entries)
    edits: Mapping[str, ContextEditEntry] | None = None
    while index > lead and not steps.suffice:
        index -= 1
        entry, end = entries[index], at
        while at > led and messages[at - 1].entry is entry:
            at -= 1
        if at < end:
            spoken = [item.message for item in messages[at:end]]
            steps.add([Step(entry, message if message["role"] != "system" else None) for message in spoken])
            continue
        edits = context_edits(entries) if edits is None else edits
        edit = edits.get(entry.id)
        omitted = edit is not None and edit.replacement is None
        steps.add([Step(entry, None, omitted, metadata=not omitted)])
    tail = [item for item in messages[:led] if item.message["role"] not in ("system", "compactionSummary")]
    if steps.suffice:
        return Range([*tail, *messages[led:at]], steps.in_order())
    return Range((), [*(Step(item.entry, item.message) for item in tail), *steps.in_order()])


class _Newest:
    """Steps from the end of a range backwards, until no cut can be further back.

    That is so when they hold what is to be kept, the start of a turn there or before it, and the metadata before that.
    """

    def __init__(self, keep_tokens: int, estimate: Estimate) -> None:
        self._missing = max(keep_tokens, 1)
        self._estimate = estimate
        self._steps: list[Step] = []
        self._begins_turn = False
        self.suffice = False

    def add(self, steps: Sequence[Step]) -> None:
        """The steps of the entry before."""
        for step in reversed(steps):
            self._steps.append(step)
            if self._begins_turn:
                self.suffice = self.suffice or not step.metadata
            elif step.message is not None:
                self._missing -= self._estimate(step.message)
                self._begins_turn = self._missing <= 0 and is_turn_start(step)

    def in_order(self) -> list[Step]:
        return self._steps[::-1]


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
