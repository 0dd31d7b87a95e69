"""The wire form of each message, made once and kept. Pure; knows no API."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from itertools import compress, count
from operator import is_not
from typing import Generic, Protocol, TypeVar, runtime_checkable

from msgspec import Struct

from rpc_agent.conversation.messages import AssistantMessage, ModelMessage
from rpc_agent.conversation.models import Model
from rpc_agent.providers.base import ModelRequest

PieceT = TypeVar("PieceT")
StateT = TypeVar("StateT")
KeptT = TypeVar("KeptT")

_KEPT_CONVERSATIONS = 16
"""Conversations whose message pieces are kept; a desktop app drives several sessions over one model."""


@runtime_checkable
class SharesItsBeginning(Protocol):
    """Messages that know how many of them stood in front of an earlier request too (0 when they do not know)."""

    def shared_with(self, earlier: object) -> int: ...


class Pieces(Generic[PieceT]):
    """The pieces of the last request, found by the identity of their messages.

    What a request has in common with the beginning of the one before costs next to nothing, so a turn's overhead does
    not grow with what was said before. The messages are held, so that their identity cannot pass to other objects;
    what a request no longer has is let go.
    """

    def __init__(self) -> None:
        self._messages: Sequence[ModelMessage] = ()
        self._made: list[PieceT] = []
        self.unchanged = 0
        """How many pieces at the beginning of the last list were the beginning of the list before it."""

    def of(self, messages: Sequence[ModelMessage], encode: Callable[[ModelMessage], PieceT]) -> Sequence[PieceT]:
        """`encode` makes the piece of a message that is new; it must be the same function each time.

        The pieces are good until the next call.
        """
        same = _common_beginning(self._messages, messages)
        known = {id(self._messages[at]): self._made[at] for at in range(same, len(self._made))}
        added = []
        for message in messages[same:]:
            piece = known.get(id(message))
            added.append(encode(message) if piece is None else piece)
        self._made[same:] = added
        # A plain list belongs to the caller, who may go on changing it.
        self._messages = messages if isinstance(messages, SharesItsBeginning) else tuple(messages)
        self.unchanged = same
        return self._made


def _common_beginning(old: Sequence[object], new: Sequence[object]) -> int:
    """How many items at the beginning are the same objects. Runs without a step of Python for each."""
    shared = new.shared_with(old) if isinstance(new, SharesItsBeginning) else 0
    if shared:
        return shared
    return next(compress(count(), map(is_not, old, new)), min(len(old), len(new)))


_PART_BYTES = 64 * 1024
"""Of the parts that a long conversation is first written in: what changes near its end is written anew from the part
it stands in."""
_LARGER = 8
"""How many times larger than the next a part is kept, see `_join_kept`."""


class _Part(Struct, Generic[StateT], frozen=True):
    body: bytes
    end: int
    """How many pieces this part and those before it were made of."""
    state: StateT


class JoinedPieces(Generic[PieceT, StateT]):
    """Pieces written one behind the other, separated by commas, and kept joined in few parts.

    `write(piece, state)` gives the JSON values for a piece and what the following ones need to know; `start` is that
    for the first. A request writes only what is new since the one before.
    """

    def __init__(self, write: Callable[[PieceT, StateT], tuple[Iterable[bytes], StateT]], start: StateT) -> None:
        self._write = write
        self._start = start
        self._parts: list[_Part[StateT]] = []

    def of(self, pieces: Sequence[PieceT], unchanged: int) -> tuple[list[bytes], StateT]:
        """The parts, to be sent as they are behind each other, and the state after the last piece.

        `unchanged`: how many pieces at the beginning are those of the call before.
        """
        while self._parts and self._parts[-1].end > unchanged:
            self._parts.pop()
        self._join_kept()
        end, state = (self._parts[-1].end, self._parts[-1].state) if self._parts else (0, self._start)
        # Every part but the first begins with the comma that separates it.
        values: list[bytes] = [b""] if self._parts else []
        size = 0
        for at in range(end, len(pieces)):
            written, state = self._write(pieces[at], state)
            for value in written:
                values.append(value)
                size += len(value)
            if size >= _PART_BYTES:
                self._parts.append(_Part(b",".join(values), at + 1, state))
                values, size = [b""], 0
        if size:
            self._parts.append(_Part(b",".join(values), len(pieces), state))
        return [part.body for part in self._parts], state

    def once(self, pieces: Iterable[PieceT]) -> tuple[list[bytes], StateT]:
        """The same for pieces that no other request begins with: nothing is kept, and nothing is copied together."""
        parts: list[bytes] = []
        state = self._start
        for piece in pieces:
            written, state = self._write(piece, state)
            for value in written:
                parts += (b",", value)
        return parts[1:], state

    def _join_kept(self) -> None:
        """Join parts until each is much larger than the next one: each write to a socket costs a round of the event
        loop, so a body of any length is sent in few, and a byte is copied few times however the conversation grows.

        Only what a second request has in common with the first is joined: what is replaced from request to request, as
        a hook may do with the last message, stays a part of its own.
        """
        groups: list[tuple[int, list[_Part[StateT]]]] = []
        for part in self._parts:
            size, group = len(part.body), [part]
            while groups and groups[-1][0] < _LARGER * size:
                before, earlier = groups.pop()
                size, group = before + size, earlier + group
            groups.append((size, group))
        if len(groups) < len(self._parts):
            self._parts = [_joined(group) for _, group in groups]


def _joined(parts: Sequence[_Part[StateT]]) -> _Part[StateT]:
    last = parts[-1]
    return last if len(parts) == 1 else _Part(b"".join([part.body for part in parts]), last.end, last.state)


class Conversations(Generic[KeptT]):
    """What is kept for each conversation, that of the longest unused one let go first."""

    def __init__(self, make: Callable[[], KeptT]) -> None:
        self._make = make
        self._kept: OrderedDict[str, KeptT] = OrderedDict()

    def of(self, request: ModelRequest) -> KeptT:
        """What is kept for the conversation of this request; for one that stands alone it is new and not kept."""
        if not request.cache:
            # A summary's request is as long as the conversation it is about, and nothing is ever added to it.
            return self._make()
        kept = self._kept.get(request.routing_id)
        if kept is None:
            kept = self._kept[request.routing_id] = self._make()
        self._kept.move_to_end(request.routing_id)
        while len(self._kept) > _KEPT_CONVERSATIONS:
            self._kept.popitem(last=False)
        return kept


def wrote(model: Model, message: AssistantMessage) -> bool:
    """Whether this very model gave the answer: only then are thinking and signatures of it sent back."""
    return (message["api"], message["provider"], message["model"]) == (model.api, model.provider, model.id)
