"""Fits texts into a number of tokens. Counts by the function it is given; pure."""

from collections.abc import Callable

Weigh = Callable[[str], int]
"""Tokens of a text, by the estimate that the rest of a compaction uses."""

_MOST_TOKENS_A_CHARACTER = 4
"""More than any rule of ours counts for any text; and a tokenizer has a token for each byte, so it counts no more."""
_MOST_CHARACTERS_A_TOKEN = 20
"""No rule of ours counts less."""


def fits(characters: int, tokens: int, weigh: Callable[[], int]) -> bool:
    """Whether a text of so many characters has at most so many tokens. `weigh` counts them, which takes a while: it is
    asked only where the length alone does not tell."""
    if characters * _MOST_TOKENS_A_CHARACTER <= tokens:
        return True
    return characters <= tokens * _MOST_CHARACTERS_A_TOKEN and weigh() <= tokens


def without_middle(text: str, tokens: int, weigh: Weigh, *, hint: str = "") -> str:
    """The text whole if it has at most `tokens`, else its head and tail around a note; never longer than it was."""
    size = weigh(text)
    if size <= tokens:
        return text
    kept = int(len(text) * tokens / size)
    while kept > 0:
        cut = _ends(text, kept, hint)
        if weigh(cut) <= tokens:
            return cut
        # How dense a text is varies from place to place, so the first guess may be too long.
        kept = kept * 3 // 4 - 1
    return ""


def _ends(text: str, kept: int, hint: str) -> str:
    head, tail = text[: (kept + 1) // 2], text[len(text) - kept // 2 :]
    return f"{head}\n[... {len(text) - kept} characters left out{hint} ...]\n{tail}"
