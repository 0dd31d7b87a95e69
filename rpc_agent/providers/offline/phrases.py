"""Phrases of English as patterns, written so that a person can read them. Pure; gives them no meaning.

    "(search|grep) [for] [the] [word|text] {text} @in"

`(a|b)` one of these words, `[a|b]` perhaps one of them, `{name}` something named (quoted in one of three ways, or one
bare word), `[{name}]` perhaps something named, `a_b` two words, `@in` perhaps "in the folder {place}".
"""

import re
from collections.abc import Mapping

Slots = Mapping[str, str]
"""What stood in the named places; "" for one that was left out."""

_QUOTES = ("`", '"', "'")
_PLACE = (
    "(in|inside|under|within|from|of) [the|this|my|our] [folder|directory|dir|file|files] {place}"
    " [folder|directory|dir|files]"
)


class Phrase:
    """One compiled phrase."""

    def __init__(self, source: str) -> None:
        body, _, tail = source.partition(" @in")
        place = f"(?:{_sequence(_PLACE)})?" if "@in" in source else ""
        self._pattern = re.compile(_sequence(body) + place + _sequence(tail.strip()), re.I)

    def match(self, text: str) -> Slots | None:
        """The slots, when the phrase is the whole text (its closing punctuation set aside)."""
        found = self._pattern.fullmatch(without_full_stop(text.strip()) + " ")
        return {name: _taken(value) for name, value in found.groupdict().items()} if found else None


def without_full_stop(text: str) -> str:
    """The text without what ends a sentence; a "." that is a name of its own stays."""
    stripped = text.rstrip("?! ")
    ends_sentence = stripped.endswith(".") and not stripped.endswith((" .", "..", "/.")) and stripped != "."
    return stripped[:-1] if ends_sentence else stripped


def _sequence(source: str) -> str:
    return "".join(map(_word, source.split()))


def _word(token: str) -> str:
    optional = token.startswith("[")
    inner = token[1:-1] if token[0] in "[(" else token
    if inner.startswith("{"):
        pattern = _slot(inner[1:-1]) + r"\s+"
    else:
        words = "|".join(re.escape(word).replace("_", r"\s+") for word in inner.split("|"))
        pattern = rf"(?:{words})\s+"
    return f"(?:{pattern})?" if optional else pattern


def _slot(name: str) -> str:
    quoted = "|".join(rf"{quote}[^{quote}]+{quote}" for quote in _QUOTES)
    return rf"(?P<{name}>{quoted}|[^\s`\"']\S*)"


def _taken(value: str | None) -> str:
    if not value:
        return ""
    if len(value) > 2 and value[0] == value[-1] and value[0] in _QUOTES:
        return value[1:-1]
    return value.rstrip(",;:") or value
