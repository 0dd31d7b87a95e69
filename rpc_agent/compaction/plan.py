"""A compaction as it is planned: the two sides of the cut, the calls, what it weighs. Decides nothing, asks nobody."""

from collections.abc import Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from rpc_agent.compaction.chunks import Section
from rpc_agent.compaction.file_operations import (
    FileOperations,
    without_tag_blocks,
)
from rpc_agent.compaction.ledger import Ledger
from rpc_agent.compaction.ledger_fitting import ledger_budget
from rpc_agent.compaction.ledger_text import ledger_within, without_ledger
from rpc_agent.compaction.policy import Limits
from rpc_agent.compaction.shrink import Shrunk
from rpc_agent.compaction.transcript import Record
from rpc_agent.context.system_state import SystemState
from rpc_agent.context.tokens import Estimate
from rpc_agent.conversation.messages import CompactionSummaryMessage, Message
from rpc_agent.session.entries import Entry

_HISTORY_SHARE, _PREFIX_SHARE = 0.8, 0.5
"""Of the reserved tokens: the notes must leave room for the answer that the reserve is there for."""
_EXPECTED_NOTES, _EXPECTED_SHARE = 800, 0.1
"""How long notes turn out: headings and the few facts of any session, and about a tenth of a long one."""


class CompactionPlan(Struct, frozen=True, kw_only=True):
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
    history_record: Record
    prefix_record: Record
    """What a model reads of the two."""
    kept_messages: tuple[Message, ...]
    """As they will be: with `shrunk` in their places."""
    previous_summary: str | None
    """As the last compaction stored it."""
    replaced_tokens: int
    """What the summary stands for: the previous one and the messages of both sections."""
    file_operations: FileOperations
    material: Ledger
    """All that the ledger could say."""
    ledger: Ledger = field(default_factory=Ledger)
    """As much of the material as there is room for."""
    context_entries: Sequence[Entry]
    """All of the context, in its order."""
    kept_entry_ids: tuple[str, ...]
    system: SystemState | None
    system_tokens: int
    limits: Limits
    estimate: Estimate
    scale: float
    """`tokens_before` over its estimate: what a service counts for each token that we count."""
    shrunk: tuple[Shrunk, ...] = ()
    """Giant results among what is kept, which edits make shorter once the summary is recorded."""
    shrink_gain: int = 0
    """Tokens that shortening them gains."""
    sections: tuple[Section, ...] = ()
    """The calls, divided so that each fits the summary model's window."""

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
        """How many times a model is asked when every answer is good, known before the first."""
        return sum(each.calls for each in self.sections)

    @property
    def most_calls(self) -> int:
        """With the one second try that a bad answer gets."""
        return self.calls + bool(self.sections)

    @property
    def previous_notes(self) -> str | None:
        """The last summary as its model wrote it: ledger and file lists come from the tree, and are made anew."""
        return None if self.previous_summary is None else without_tag_blocks(without_ledger(self.previous_summary))

    @property
    def freed_tokens(self) -> int:
        """What leaves the context; the summary must be smaller than this."""
        return self.replaced_tokens + self.shrink_gain

    @property
    def summarized_entry_ids(self) -> tuple[str, ...]:
        """Entries of the context that the summary replaces, the last compaction among them."""
        kept = set(self.kept_entry_ids)
        return tuple([entry.id for entry in self.context_entries if entry.id not in kept])

    @property
    def ledger_tokens(self) -> int:
        """The most that the ledger may take."""
        return ledger_budget(self.limits.window, self.freed_tokens)

    def weigh(self, text: str) -> int:
        return weigh_summary(text, self.estimate)

    def tokens_with(self, summary_tokens: int) -> int:
        """The context after this compaction, with a summary of that size; by the same ruler as `tokens_before`."""
        estimated = summary_tokens + _kept_tokens(self)
        # Of two estimates the smaller is smaller, whatever rounding makes of small numbers.
        return max(min(round(estimated * self.scale), self.tokens_before - 1), 0)


def settled(plan: CompactionPlan, known: Mapping[str, int] | None = None) -> CompactionPlan:
    """The plan with its ledger, and with a forecast: tokens of the context after it, with notes as long as notes
    turn out. `known` are tokens of texts that were counted before."""
    ledger, ledger_tokens = ledger_within(plan.material, plan.ledger_tokens, plan.weigh, known)
    freed = plan.freed_tokens
    notes = min(_EXPECTED_NOTES + int(plan.replaced_tokens * _EXPECTED_SHARE), freed, plan.history_tokens)
    tokens = notes + min(ledger_tokens, freed - notes) + _kept_tokens(plan)
    return replace(plan, ledger=ledger, estimated_tokens_after=round(tokens * plan.scale))


def _kept_tokens(plan: CompactionPlan) -> int:
    return sum(map(plan.estimate, plan.kept_messages)) + plan.system_tokens


def weigh_summary(text: str, estimate: Estimate) -> int:
    """Tokens of a text as the summary of a compaction."""
    message: CompactionSummaryMessage = {
        "role": "compactionSummary",
        "summary": text,
        "tokensBefore": 0,
        "timestamp": 0,
    }
    return estimate(message)
