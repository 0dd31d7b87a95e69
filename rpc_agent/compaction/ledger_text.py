"""The ledger in words, between fence lines of its own; and the way to take it out of a summary again. Pure."""

import hashlib
import re
from collections.abc import Mapping
from itertools import count

from rpc_agent.compaction.ledger import Ledger
from rpc_agent.compaction.ledger_fitting import action_line, fitted, words_heading
from rpc_agent.compaction.middle import Weigh

_LEDGER = re.compile(r"\n*^\[ledger ([0-9a-f]{8})\]\n.*?^\[end of ledger \1\]$", re.DOTALL | re.MULTILINE)
_LOOKS_LIKE_FENCE = re.compile(r"^(\W*)\[(?=(?:end of )?ledger\b)", re.MULTILINE | re.IGNORECASE)

_TOP = (
    "Copied from the session by the program; no model wrote this. It wins over the text above. Ids after # are for the "
    "tool history."
)
_FRAME_STEPS = (0, 25, 50, 75, 100, 150, 250)
"""Headings and counts take up to so many tokens more, by what there is to tell."""


def ledger_within(
    material: Ledger, budget: int, weigh: Weigh, known: Mapping[str, int] | None = None
) -> tuple[Ledger, int]:
    """As much of the material as can be told in `budget` tokens, and the tokens that telling it takes.

    `known` are tokens of texts that were counted before.
    """
    weigh = _remembering(weigh, dict(known or {}))
    for frame in _FRAME_STEPS:
        ledger = fitted(material, budget - frame, weigh)
        tokens = weigh(ledger_block(ledger, ""))
        if tokens <= budget:
            return ledger, tokens
    ledger = fitted(material, 0, weigh)
    return ledger, weigh(ledger_block(ledger, ""))


def _remembering(weigh: Weigh, known: dict[str, int]) -> Weigh:
    """Each attempt begins with the same texts, and each text is counted once."""

    def remembered(text: str) -> int:
        tokens = known.get(text)
        if tokens is None:
            tokens = known[text] = weigh(text)
        return tokens

    return remembered


def ledger_block(ledger: Ledger, notes: str) -> str:
    """What is appended to the notes: "" when there is nothing to say.

    The fence lines occur neither in the ledger nor in the notes.
    """
    if ledger.is_empty:
        return ""
    body = "\n\n".join((_TOP, *_parts(ledger)))
    code = _code(body, notes)
    return f"\n\n[ledger {code}]\n{body}\n[end of ledger {code}]"


def without_ledger(summary: str) -> str:
    """The notes alone, as a summary model may see them."""
    return _LEDGER.sub("", summary).rstrip()


def without_fences(notes: str) -> str:
    """A model's text in which no line looks like a fence of ours, whatever it meant by it."""
    return _LOOKS_LIKE_FENCE.sub(r"\1(", notes)


def _parts(ledger: Ledger) -> list[str]:
    parts = []
    if ledger.words:
        parts.append("What the user said, oldest first, word for word:")
    if ledger.words_left_out:
        parts.append(f"({ledger.words_left_out} earlier messages of the user are left out here; history finds them.)")
    for each in ledger.words:
        parts.append(f"{words_heading(each, is_current=ledger.is_current(each))}\n{each.text}")
    if ledger.actions or ledger.actions_left_out:
        parts.append("\n".join(_action_lines(ledger)))
    files = ledger.files.tag_blocks().strip()
    if ledger.files_left_out:
        files = f"{files}\n\n({ledger.files_left_out} more files are left out here.)".strip()
    return [*parts, files] if files else parts


def _action_lines(ledger: Ledger) -> list[str]:
    earlier = [f"({ledger.actions_left_out} earlier ones are left out here.)"] if ledger.actions_left_out else []
    return ["Done, oldest first:", *earlier, *map(action_line, ledger.actions)]


def _code(body: str, notes: str) -> str:
    """Eight digits that occur in neither text; the same texts give the same digits."""
    for attempt in count():
        code = hashlib.sha256(f"{attempt}\n{body}".encode("utf-8", "replace")).hexdigest()[:8]
        if code not in body and code not in notes:
            return code
    raise AssertionError("counting does not end")
