"""Text with its letters and accents composed, and the way back to where each stood. Pure.

A file from macOS may hold "é" as a letter and an accent behind it, or Hangul as single sounds; models write one
character.
"""

import unicodedata
from collections.abc import Iterator, Sequence

from msgspec import Struct

_INSIDE = -1
_LONGEST_SYLLABLE = 3
_FIRST_ACCENT = "\u0300"


class Composed(Struct, frozen=True):
    """`columns` says for each character of `text`, and for its end, where it begins in the original; None: there too.

    What begins inside a sequence that was composed begins nowhere.
    """

    text: str
    columns: Sequence[int] | None = None

    def column(self, at: int) -> int | None:
        if self.columns is None:
            return at
        return None if self.columns[at] == _INSIDE else self.columns[at]


def composed(text: str) -> Composed:
    if unicodedata.is_normalized("NFC", text):
        return Composed(text)
    out: list[str] = []
    columns: list[int] = []
    at = 0
    for sequence in _sequences(text):
        made = unicodedata.normalize("NFC", sequence)
        out.append(made)
        if made == sequence:
            columns += range(at, at + len(made))
        else:
            columns += [at, *[_INSIDE] * (len(made) - 1)]
        at += len(sequence)
    return Composed("".join(out), [*columns, at])


def _sequences(text: str) -> Iterator[str]:
    """The text in pieces, none of which is composed with the next."""
    start = 0
    for at in range(1, len(text)):
        if not _continues(text[start:at] if at - start < _LONGEST_SYLLABLE else "", text[at]):
            yield text[start:at]
            start = at
    yield text[start:]


def _continues(before: str, char: str) -> bool:
    if char < _FIRST_ACCENT or unicodedata.combining(char):
        return char >= _FIRST_ACCENT
    # Some sounds and vowel signs, no accents by their class, are composed with what stands before them all the same.
    return bool(before) and unicodedata.normalize("NFC", before + char) != unicodedata.normalize("NFC", before) + char
