"""What a reader sees of each entry, before any format: cards made of a few kinds of part. Knows no format.

The one place that names every kind of entry; a renderer only has to know the parts.
"""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

Kind = Literal["user", "assistant", "tool", "bash", "summary", "system", "custom", "note"]
Tone = Literal["plain", "dim", "bad"]


class Prose(Struct, frozen=True):
    """What a person or a model wrote, probably as Markdown."""

    text: str


class Verbatim(Struct, frozen=True):
    """What a program printed, or an input of one."""

    text: str


class Picture(Struct, frozen=True):
    """`data` is what the session holds as Base64; a renderer judges whether it can be shown."""

    mime_type: str
    data: str


class Remark(Struct, frozen=True):
    """A sentence of ours about the entry; `target` is the number of another entry it speaks of."""

    text: str
    tone: Tone = "dim"
    target: int | None = None


class Folded(Struct, frozen=True):
    """Parts that a reader opens when they want them. `number` is set when they are an entry of their own."""

    title: str
    hint: str
    parts: "tuple[Part, ...]"
    tone: Tone = "plain"
    number: int | None = None
    label: str | None = None


Part = Prose | Verbatim | Picture | Remark | Folded


class Card(Struct, frozen=True, kw_only=True):
    """One entry. `number` is its place in the file, which makes links between entries."""

    number: int
    kind: Kind
    title: str
    timestamp: str
    facts: tuple[str, ...] = ()
    label: str | None = None
    parts: tuple[Part, ...] = ()


class Places(Struct, frozen=True):
    """Where entries are found in the document, and what they are labelled, by entry id."""

    numbers: Mapping[str, int]
    labels: Mapping[str, str]
