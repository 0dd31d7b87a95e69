"""Extractive summaries: lines of the conversation under the headings that were asked for. Pure; invents nothing.

The result is always smaller than the conversation it stands for.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

_CONVERSATION = re.compile(r"<conversation>(.*)</conversation>", re.S)
_BLOCKS = re.compile(r"<(conversation|previous[-_]summary|summary)>.*</\1>", re.S)
_PREVIOUS = re.compile(r"<previous[-_]summary>(.*?)</previous[-_]summary>", re.S)
_SPEAKER = re.compile(
    r"^\s*[<\[(*#]*\s*(?P<who>user|human|assistant|tool[ _-]?calls?|tool[ _-]?results?|tool[ _-]?errors?|system)\b"
    r"[^>\]:)\n]{0,80}[>\]:)]+[:*]*\s?(?P<rest>.*)$",
    re.I,
)
_CLOSING = re.compile(r"^\s*</[\w-]+>\s*$")

HEADINGS = ("Goal", "Constraints & Preferences", "Progress", "Key Decisions", "Next Steps", "Critical Context")
PREFIX_HEADINGS = ("Original Request", "Progress So Far", "Context Needed")

_SHARE = 0.5
"""Of the conversation's characters: a summary that is hardly smaller is not worth its call."""
_LINE = 200
"""Characters kept of one line."""

_WISH = re.compile(r"\b(must|should|never|always|don't|do not|only|prefer|please|need to|keep|without)\b", re.I)
_DECISION = re.compile(r"\b(decided|decide|will use|instead of|chose|choose|because|so that|agreed|plan is)\b", re.I)


class _Said(Struct, frozen=True):
    who: Literal["user", "assistant", "call", "result"]
    text: str


def is_summary_request(prompt: str, *, has_tools: bool) -> bool:
    return not has_tools and _CONVERSATION.search(prompt) is not None


def summarise(prompt: str, *, max_tokens: int = 0) -> str:
    """The summary, at most half as long as the conversation block and within `max_tokens` (0: no such limit)."""
    found = _CONVERSATION.search(prompt)
    conversation = found[1] if found else prompt
    instructions = _BLOCKS.sub("", prompt)
    budget = int(len(conversation) * _SHARE)
    if max_tokens:
        budget = min(budget, max_tokens * 3)
    previous = _PREVIOUS.search(prompt)
    lines = _sections(_headings(instructions), list(_said(conversation)), previous[1] if previous else "")
    return _fit(lines, budget)


def _headings(instructions: str) -> tuple[str, ...]:
    """Those that the instructions name, in the order of the instructions."""
    known = [name for name in PREFIX_HEADINGS if name.lower() in instructions.lower()]
    if len(known) == len(PREFIX_HEADINGS):
        return PREFIX_HEADINGS
    asked = [name for name in HEADINGS if name.lower() in instructions.lower()]
    return tuple(asked) if len(asked) > 1 else HEADINGS


def _said(conversation: str) -> Iterator[_Said]:
    """Who said what; lines before any speaker are the user's."""
    who: Literal["user", "assistant", "call", "result"] = "user"
    for line in conversation.splitlines():
        if found := _SPEAKER.match(line):
            who = _speaker(found["who"].lower())
            line = found["rest"]
        if _CLOSING.match(line):
            continue
        text = re.sub(r"</[\w-]+>\s*$", "", line).strip()
        if text:
            yield _Said(who, text if len(text) <= _LINE else text[: _LINE - 3] + "...")


def _speaker(word: str) -> Literal["user", "assistant", "call", "result"]:
    if "call" in word:
        return "call"
    if "result" in word or "error" in word:
        return "result"
    return "assistant" if word == "assistant" else "user"


def _sections(headings: Sequence[str], said: Sequence[_Said], previous: str) -> list[tuple[str, list[str]]]:
    by_user = [part.text for part in said if part.who == "user"]
    by_model = [part.text for part in said if part.who == "assistant"]
    calls = [part.text for part in said if part.who == "call"]
    results = [part.text for part in said if part.who == "result"]
    carried = [line.strip(" -*") for line in previous.splitlines() if line.strip(" -*#") and not line.startswith("#")]
    content = {
        "Goal": by_user[:1] or carried[:1],
        "Original Request": by_user[:1],
        "Constraints & Preferences": [text for text in by_user if _WISH.search(text)],
        "Progress": [*(f"Done: {call}" for call in calls), *by_model],
        "Progress So Far": [*calls, *by_model],
        "Key Decisions": [text for text in by_model if _DECISION.search(text)],
        "Next Steps": by_user[-1:],
        "Critical Context": [*carried, *results],
        "Context Needed": [*results[-3:], *by_user[-1:]],
    }
    return [(heading, list(dict.fromkeys(content[heading]))) for heading in headings]


def _fit(sections: Sequence[tuple[str, list[str]]], budget: int) -> str:
    """Headings first, then lines in turn from each section until the budget is spent; a hard cut where even that is
    too much."""
    used = sum(len(heading) + 5 for heading, _ in sections)
    kept: dict[str, list[str]] = {heading: [] for heading, _ in sections}
    for round_number in range(max((len(lines) for _, lines in sections), default=0)):
        for heading, lines in sections:
            if round_number < len(lines) and used + len(lines[round_number]) + 3 <= budget:
                kept[heading].append(lines[round_number])
                used += len(lines[round_number]) + 3
    text = "\n\n".join(
        f"## {heading}\n" + "\n".join(f"- {line}" for line in lines) for heading, lines in kept.items() if lines
    )
    if not text:
        text = " ".join(line for _, lines in sections for line in lines)
    return text[: max(1, budget)].rstrip() or "-"
