"""When an automatic compaction is due: limits of a window, and one decision per check point. Pure; starts nothing."""

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct, field

from rpc_agent.context.learning import SMALLEST_LEARNED_SHARE
from rpc_agent.context.projection import Projection
from rpc_agent.conversation.json_values import as_count
from rpc_agent.conversation.messages import AssistantMessage, tool_calls
from rpc_agent.session.entries import CompactionEntry, Entry, MessageEntry, milliseconds

CheckPoint = Literal["betweenTurns", "afterRun", "beforePrompt"]

_FULL_WINDOW = 0.99
"""A server that cuts its input to the window leaves it this full, and then has no room to say a word."""
_RECOVERIES_PER_USER_MESSAGE = 3
"""The fuse is renewed by any good answer; this bounds a run whose good answers alternate with overflows."""
_GROWTH_BETWEEN_COMPACTIONS = 20
"""After a compaction the context must grow by a twentieth of the window: else each turn would compact again."""
_ESTIMATE_MAY_EXCEED_BY = 1.35
"""How far the token estimate may lie above the truth: only what is larger still is refused without asking."""


class CompactionBudget(Struct, frozen=True, kw_only=True):
    """The settings of one model, already resolved. `threshold_percent` of the window replaces `reserve_tokens`."""

    enabled: bool = True
    reserve_tokens: int = 16384
    keep_recent_tokens: int = 20000
    threshold_percent: float | None = None


class Limits(Struct, frozen=True):
    """What a budget means in a window of `window` tokens (0: unknown, then there is no threshold)."""

    window: int
    threshold: int | None
    reserve_tokens: int
    keep_recent_tokens: int


def effective_window(declared: int, *, learned: int) -> int:
    """The smaller of what the model declares (or the user for it, in models.json) and what refusals taught; 0 means
    unknown in each."""
    if learned and declared:
        return min(max(learned, declared // SMALLEST_LEARNED_SHARE), declared)
    return declared or learned


def limits(budget: CompactionBudget, window: int) -> Limits:
    """The threshold and the two amounts, made to fit a window that is smaller than both together."""
    if window <= 0:
        return Limits(0, None, budget.reserve_tokens, budget.keep_recent_tokens)
    reserve, keep = budget.reserve_tokens, budget.keep_recent_tokens
    if (share := budget.threshold_percent) is not None:
        reserve = window - int(window * share / 100)
    if window < reserve + keep:
        reserve = min(reserve, window // 4) if share is None else reserve
        keep = min(keep, (window - reserve) // 2)
    # A summary is no longer than the setting allows, however early a percentage makes it.
    return Limits(window, window - reserve, min(reserve, budget.reserve_tokens) or reserve, keep)


def should_compact(tokens: int, budget: CompactionBudget, window: int) -> bool:
    threshold = limits(budget, window).threshold
    return budget.enabled and threshold is not None and tokens > threshold


def quiet_until(tokens: int, window: int) -> int:
    """The context below which the threshold rests, after a compaction or its undoing left `tokens`."""
    return tokens + window // _GROWTH_BETWEEN_COMPACTIONS


class Fuse(Struct, frozen=True):
    """Whether the one recovery of this user message is used up, whether that was said, and how many there were."""

    spent: bool = False
    announced: bool = False
    recoveries: int = 0

    def used(self) -> "Fuse":
        return Fuse(True, self.announced, self.recoveries + 1)

    def told(self) -> "Fuse":
        return Fuse(self.spent, True, self.recoveries)

    def after_answer(self, message: AssistantMessage) -> "Fuse":
        """An answer that neither failed nor was cut renews the fuse; the count stays until the next user message."""
        return self if message["stopReason"] in ("error", "length") else Fuse(False, False, self.recoveries)

    @property
    def blocks(self) -> bool:
        return self.spent or self.recoveries >= _RECOVERIES_PER_USER_MESSAGE


class CompactionState(Struct, frozen=True, kw_only=True):
    """What a decision depends on. Token counts are calibrated; `provider`, `model_id` are the current model's."""

    check_point: CheckPoint
    budget: CompactionBudget
    window: int
    """The effective one; 0 where nobody knows."""
    provider: str
    model_id: str
    max_tokens: int = 0
    """The model's longest answer; 0 where nobody knows."""
    path: Sequence[Entry]
    projection: Projection
    tokens: int
    """The projected estimate."""
    overflow_reported: bool = False
    """Whether the message's error text was classified as overflow."""
    incoming_tokens: int = 0
    """The user message about to be sent, at the check point before a prompt."""
    fixed_tokens: int = 0
    """System prompt and tools: what no compaction makes smaller."""
    quiet_until: int = 0
    """See `quiet_until()`; 0 once a new user message came."""
    fuse: Fuse = field(default_factory=Fuse)


class LeaveAlone(Struct, frozen=True):
    why: str


class Compact(Struct, frozen=True):
    """`omit`: entries to leave out by context_edit first, so that neither summary nor retry sees the failed try."""

    reason: Literal["threshold", "overflow"]
    will_retry: bool = False
    omit: tuple[str, ...] = ()


class FuseSpent(Struct, frozen=True):
    """Recovery was tried already. `announce`: say so by one compaction_end; else it was said before."""

    announce: bool


class NeverFits(Struct, frozen=True):
    """The new message is larger than what any compaction could make room for: contextOverflow."""

    tokens: int
    room: int


Decision = LeaveAlone | Compact | FuseSpent | NeverFits


def last_answer(path: Sequence[Entry]) -> MessageEntry | None:
    """The newest assistant message of a path: the one a check point looks at."""
    answers = (e for e in reversed(path) if isinstance(e, MessageEntry) and e.message["role"] == "assistant")
    return next(answers, None)


def decide_compaction(state: CompactionState, message: MessageEntry | None) -> Decision:
    """What a check point does about `message`, the newest answer (engine.md section 4, the gates in their order)."""
    if (refusal := _never_fits(state)) is not None:
        return refusal
    if not state.budget.enabled:
        return LeaveAlone("automatic compaction is off")
    answer = _answer(message)
    if state.check_point == "betweenTurns" or message is None or answer is None:
        return _at_threshold(state)
    if answer["stopReason"] == "aborted" and state.check_point == "afterRun":
        return LeaveAlone("the run was aborted")
    if _is_before_compaction(message, state):
        # Its usage is from another context. Only a new message that does not fit is a reason to go on.
        return _at_threshold(state) if state.incoming_tokens else LeaveAlone("the answer is older than a compaction")
    if _overflowed(state, message, answer):
        return _recover(state, message, answer)
    return _at_threshold(state)


def _never_fits(state: CompactionState) -> NeverFits | None:
    if state.check_point != "beforePrompt" or not state.window or not state.incoming_tokens:
        return None
    needed = state.incoming_tokens + state.fixed_tokens
    if needed <= state.window * _ESTIMATE_MAY_EXCEED_BY:
        return None
    return NeverFits(needed, state.window)


def _at_threshold(state: CompactionState) -> Decision:
    tokens = state.tokens + state.incoming_tokens
    if not should_compact(tokens, state.budget, state.window):
        return LeaveAlone("below the threshold")
    if tokens < state.quiet_until:
        return LeaveAlone("the context has hardly grown since it was compacted")
    return Compact("threshold")


def _recover(state: CompactionState, message: MessageEntry, answer: AssistantMessage) -> Decision:
    if answer["stopReason"] == "stop":
        # The service answered although it should not have: a good answer is not asked for again.
        return Compact("overflow")
    if state.fuse.blocks:
        return FuseSpent(announce=not state.fuse.announced)
    return Compact("overflow", will_retry=True, omit=attempt_ids(state.path, message))


def attempt_ids(path: Iterable[Entry], message: MessageEntry) -> tuple[str, ...]:
    """An answer and its tool results: what a failed attempt left on the path."""
    answer = _answer(message)
    calls = {call["id"] for call in tool_calls(answer)} if answer else set()
    ids, found = [message.id], False
    for entry in path:
        found = found or entry is message
        if found and isinstance(entry, MessageEntry):
            result = entry.message
            if result["role"] == "toolResult" and result["toolCallId"] in calls:
                ids.append(entry.id)
    return tuple(ids)


def _overflowed(state: CompactionState, message: MessageEntry, answer: AssistantMessage) -> bool:
    if (answer["provider"], answer["model"]) != (state.provider, state.model_id):
        # The user may have changed to a larger model; the smaller one's failure says nothing about it.
        return False
    if not (_error_overflow(state, answer) or _silent_overflow(state, answer) or _length_cut(state, answer)):
        return False
    # Left out or rewritten by an edit, it was dealt with already.
    shown = reversed(state.projection.messages)
    return any(item.entry is message and item.message is message.message for item in shown)


def _error_overflow(state: CompactionState, answer: AssistantMessage) -> bool:
    return answer["stopReason"] == "error" and state.overflow_reported


def _silent_overflow(state: CompactionState, answer: AssistantMessage) -> bool:
    if not state.window:
        return False
    usage = answer["usage"]
    read = as_count(usage.get("input")) + as_count(usage.get("cacheRead"))
    if answer["stopReason"] == "stop":
        return read > state.window
    written = as_count(usage.get("output"))
    return answer["stopReason"] == "length" and written == 0 and read >= state.window * _FULL_WINDOW


def _length_cut(state: CompactionState, answer: AssistantMessage) -> bool:
    """Stopped before its own limit: not the answer was too long but the context."""
    written = as_count(answer["usage"].get("output"))
    return answer["stopReason"] == "length" and written < state.max_tokens and not tool_calls(answer)


def _answer(entry: MessageEntry | None) -> AssistantMessage | None:
    if entry is None or entry.message["role"] != "assistant":
        return None
    return entry.message


def _is_before_compaction(message: MessageEntry, state: CompactionState) -> bool:
    # The newest compaction of a path opens its context; the path itself may be long.
    entries = state.projection.entries
    compaction = entries[0] if entries else None
    if not isinstance(compaction, CompactionEntry):
        return False
    return not _is_later(message, compaction, state.path) or _has_older_time(message, compaction)


def _is_later(message: Entry, compaction: CompactionEntry, path: Sequence[Entry]) -> bool:
    for entry in reversed(path):
        if entry is message:
            return True
        if entry is compaction:
            return False
    return False


def _has_older_time(message: MessageEntry, compaction: CompactionEntry) -> bool:
    """For files of other programs, which order by time; ours carry the settings, and clocks may go backwards."""
    if "thinkingLevel" in compaction.raw:
        return False
    when = message.message["timestamp"] or milliseconds(message.timestamp)
    return when <= milliseconds(compaction.timestamp)
