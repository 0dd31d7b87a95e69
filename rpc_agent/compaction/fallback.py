"""The summary that needs no model: the beginning and the end of what is replaced, and the ledger. Always the same."""

from rpc_agent.compaction.middle import without_middle
from rpc_agent.compaction.plan import CompactionPlan
from rpc_agent.compaction.transcript import joined

_MOST_TOKENS = 2_000
_WINDOW_SHARE, _FREED_SHARE = 16, 4
"""Small beside the window and beside what it replaces, because nobody chose what matters in it."""

_TOP = "No model could summarise this part, so nothing in it was weighed or left out on purpose."


def notes_without_model(plan: CompactionPlan, share: float = 1.0) -> str:
    """Notes of the last compaction, then head and tail of the record; `share` of what they may take at most."""
    bounds = [_MOST_TOKENS, plan.freed_tokens // _FREED_SHARE]
    if plan.limits.window:
        bounds.append(plan.limits.window // _WINDOW_SHARE)
    tokens = int(min(bounds) * share)
    parts = [_TOP]
    if plan.previous_notes:
        parts += ["Notes from before, as far as there is room:", _short(plan, plan.previous_notes, tokens)]
    record = joined([*plan.history_record, *plan.prefix_record])
    parts += ["Its beginning and its end:", f"<record>\n{_short(plan, record, tokens)}\n</record>"]
    return "\n\n".join(parts) if tokens > 0 else _TOP


def _short(plan: CompactionPlan, text: str, tokens: int) -> str:
    return without_middle(text, tokens, plan.weigh)
