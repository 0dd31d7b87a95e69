"""Divides what is to be summarised into calls that fit the summary model's window. Counts; asks nobody.

One call where all fits. Otherwise each chunk gets notes of its own, and notes are merged a few at a time until one
text is left; how many calls that takes is known before the first.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, TypeVar

from msgspec import Struct

from rpc_agent.compaction.middle import Weigh, fits, without_middle
from rpc_agent.compaction.transcript import Part, Record, joined, length

T = TypeVar("T")

SectionKind = Literal["history", "turnPrefix"]

_INSTRUCTIONS_TOKENS = 1_000
"""Our longest instructions, the tags, and what a service adds to each message."""
_ESTIMATE_MAY_BE_LOW = 1.3
"""A tokenizer that is not one of those the estimate was made for counts more."""
_LEAST_ROOM = 300
"""Smaller chunks would be all instructions; a model that cannot take them refuses, which is a stated failure."""
_FAN_IN = 4
"""Notes merged by one call."""
_NOTE_SHARE = 12
"""Notes of a chunk are a twelfth of the room: four of them, half as long again as asked for, fill half of it, and
the notes of the last compaction the other half."""
_LEAST_NOTES = 128
_NOTES_MAY_EXCEED_BY = 1.5
_MOST_CHUNKS = 64
"""A bound on cost and time. What lies in the middle of a longer record is in no chunk; the ledger still covers it."""


class SummaryRoom(Struct, frozen=True, kw_only=True):
    """Limits of the model that summarises, in tokens of its own; 0 where unknown. `scale`: its tokens for each of
    ours, as far as known."""

    window: int = 0
    max_tokens: int = 0
    instructions: int = 0
    """What the person's own instructions add to each call."""
    scale: float = 1.0

    def input(self, output: int) -> int | None:
        """Estimated tokens of record and earlier notes that one call can take; None: any number."""
        if self.window <= 0:
            return None
        output = min(output, self.max_tokens) if self.max_tokens else output
        left = self.window - min(output, self.window // 4) - _INSTRUCTIONS_TOKENS - self.instructions
        return max(int(left / (_ESTIMATE_MAY_BE_LOW * min(max(self.scale, 1.0), 3.0))), _LEAST_ROOM)


class Section(Struct, frozen=True, kw_only=True):
    """The calls that make one text: about finished history, or about the beginning of the turn that is cut."""

    kind: SectionKind
    chunks: tuple[Record, ...]
    previous: str | None
    """Notes of the last compaction, for the last call."""
    tokens: int
    """Longest text to ask for in the end."""
    chunk_tokens: int = 0
    """Longest notes to ask for on one chunk of several."""

    @property
    def most_chunk_tokens(self) -> int:
        """Longer notes are cut: else the merge might not fit."""
        return int(self.chunk_tokens * _NOTES_MAY_EXCEED_BY)

    @property
    def calls(self) -> int:
        return len(self.chunks) + (merge_calls(len(self.chunks)) if len(self.chunks) > 1 else 0)


def section(
    kind: SectionKind, record: Record, previous: str | None, tokens: int, room: SummaryRoom, weigh: Weigh
) -> Section:
    """`previous` are the notes that the result shall carry on."""
    limit = room.input(tokens)
    if limit is None or fits(
        length(record), limit - (weigh(previous) if previous else 0), lambda: weigh(joined(record))
    ):
        return Section(kind=kind, chunks=(record,), previous=previous, tokens=tokens)
    if previous is not None and weigh(previous) > limit // 2:
        # Too long to stand beside anything: it is read as the beginning of the record.
        record, previous = [(f"<earlier-notes>\n{previous}\n</earlier-notes>",), *record], None
    chunks = tuple(_bounded(list(_chunks(record, limit, weigh))))
    chunk_tokens = max(min(limit // _NOTE_SHARE, tokens), min(_LEAST_NOTES, tokens))
    return Section(kind=kind, chunks=chunks, previous=previous, tokens=tokens, chunk_tokens=chunk_tokens)


def merge_calls(count: int) -> int:
    """How many calls `merge_groups`, repeated until one text is left, takes for `count` texts."""
    calls = 0
    while count > 1:
        sizes = [len(group) for group in merge_groups(range(count))]
        calls += sum(size > 1 for size in sizes)
        count = len(sizes)
    return calls


def merge_groups(items: Sequence[T]) -> list[Sequence[T]]:
    """Neighbours, a few at a time; a group of one goes on as it is."""
    return [items[at : at + _FAN_IN] for at in range(0, len(items), _FAN_IN)]


def _chunks(record: Record, limit: int, weigh: Weigh) -> Iterator[list[Part]]:
    chunk: list[Part] = []
    used = 0
    for piece, size in (each for part in record for each in _pieces("".join(part), limit, weigh)):
        if chunk and used + size > limit:
            yield chunk
            chunk, used = [], 0
        chunk.append((piece,))
        used += size
    if chunk:
        yield chunk


def _pieces(part: str, limit: int, weigh: Weigh) -> Iterator[tuple[str, int]]:
    """A part that is longer than a chunk comes in pieces, each with its tokens; nothing of it is lost."""
    size = weigh(part) + 2
    if size <= limit or len(part) < 2:
        yield part, size
        return
    length = max(min(int(len(part) * limit / size), len(part) // 2), 1)
    for at in range(0, len(part), length):
        # Density varies, so a piece may still be too long; each is shorter than before, so this ends.
        yield from _pieces(part[at : at + length], limit, weigh)


def _bounded(chunks: list[list[Part]]) -> list[list[Part]]:
    if len(chunks) <= _MOST_CHUNKS:
        return chunks
    half = _MOST_CHUNKS // 2
    left_out = len(chunks) - _MOST_CHUNKS
    head, tail = chunks[:half], chunks[-half:]
    note = f"[Here {left_out / len(chunks):.0%} of the record are left out; the session still has them.]"
    return [*head[:-1], [*head[-1], (note,)], *tail]


def shortened(notes: str, section: Section, weigh: Weigh) -> str:
    """Notes of one chunk, of a length that the merge can take."""
    return without_middle(notes, section.most_chunk_tokens, weigh)
