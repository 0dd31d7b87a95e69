"""The pieces of a conversation -> its turns, so that a request writes again only what is new. Pure.

Messages of one role become one turn, results first. The last turns stay open: they may grow, and carry the cache's
breakpoints, which move on with the conversation.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from rpc_agent.conversation.messages import ModelMessage
from rpc_agent.conversation.models import Model
from rpc_agent.providers.anthropic_messages.blocks import Piece, encode_message, text_block
from rpc_agent.providers.notes import OPENING
from rpc_agent.providers.pieces import JoinedPieces, Pieces

BREAKPOINT = b',"cache_control":{"type":"ephemeral"}}'
"""Takes the place of the brace that ends a block."""
_MARKED_TURNS = 2
"""The last user turn, and the one before it, which was the last of the request before."""


class Turn(Struct, frozen=True):
    """Messages of one role that follow each other: the service wants them as one."""

    role: str
    results: tuple[bytes, ...]
    """Come first: nothing may stand between a call and its result."""
    blocks: tuple[bytes, ...]

    def with_more(self, piece: Piece) -> "Turn":
        return Turn(self.role, self.results + piece.results, self.blocks + piece.blocks)

    def to_json(self, *, marked: bool = False) -> bytes:
        blocks = [*self.results, *self.blocks]
        if marked:
            blocks[-1] = blocks[-1][:-1] + BREAKPOINT
        return b'{"role":"%s","content":[%s]}' % (self.role.encode(), b",".join(blocks))


class Tail(Struct, frozen=True):
    """What is not written for good: the blocks of the system text, and the turns from the last but one user's on."""

    system: tuple[bytes, ...] = ()
    turns: tuple[Turn, ...] = ()

    def to_json(self, *, marked: bool) -> list[bytes]:
        return [turn.to_json(marked=marked and turn.role == "user") for turn in self.turns]


class Turns:
    """The turns of one conversation; each message is encoded once, and each finished turn joined once."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._pieces: Pieces[Piece] = Pieces()
        self._ids = _UniqueIds()
        self._joined = JoinedPieces(_write, Tail())

    def of(self, messages: Sequence[ModelMessage]) -> tuple[list[bytes], Tail]:
        """Finished turns as parts of a JSON list, to be sent behind each other, and the rest."""
        pieces = self._pieces.of(messages, self._encode)
        unchanged = self._pieces.unchanged
        return self._joined.of(self._ids.of(pieces, unchanged), unchanged)

    def _encode(self, message: ModelMessage) -> Piece:
        return encode_message(message, self._model)


def _write(piece: Piece, tail: Tail) -> tuple[Iterable[bytes], Tail]:
    """Take one message in: the turns that it finished, and what stays open."""
    if piece.role == "system":
        return (), replace(tail, system=tail.system + piece.blocks)
    if not piece.blocks and not piece.results:
        return (), tail
    turns = tail.turns
    if turns and turns[-1].role == piece.role:
        turns = (*turns[:-1], turns[-1].with_more(piece))
    else:
        # A conversation that begins with an answer is refused.
        turns = turns or ((Turn("user", (), (text_block(OPENING),)),) if piece.role == "assistant" else ())
        turns = (*turns, Turn(piece.role, piece.results, piece.blocks))
    users = [place for place, turn in enumerate(turns) if turn.role == "user"]
    finished = users[-_MARKED_TURNS] if len(users) >= _MARKED_TURNS else 0
    return [turn.to_json() for turn in turns[:finished]], replace(tail, turns=turns[finished:])


class _Entry(Struct, frozen=True):
    """A piece as it came and as it is sent, and the names that results behind it go by."""

    given: Piece
    sent: Piece
    renamed: Mapping[str, str]


class _UniqueIds:
    """The service refuses a call id that was there before, and some other services count theirs anew in each answer:
    a repeated one gets a number, and so do the results behind it."""

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        self._sent: list[Piece] = []
        self._times: dict[str, int] = {}

    def of(self, pieces: Sequence[Piece], unchanged: int) -> Sequence[Piece]:
        for entry in self._entries[unchanged:]:
            for call_id in entry.given.calls if entry.given.role == "assistant" else ():
                self._times[call_id] -= 1
        del self._entries[unchanged:], self._sent[unchanged:]
        for piece in pieces[unchanged:]:
            entry = self._unique(piece, self._entries[-1].renamed if self._entries else {})
            self._entries.append(entry)
            self._sent.append(entry.sent)
        return self._sent

    def _unique(self, piece: Piece, renamed: Mapping[str, str]) -> _Entry:
        if piece.role == "assistant" and piece.calls:
            renamed = {call_id: self._name(call_id) for call_id in piece.calls}
        changed = {call_id: renamed.get(call_id, call_id) for call_id in piece.calls}
        if all(old == new for old, new in changed.items()):
            return _Entry(piece, piece, renamed)
        blocks, results = (tuple(_with_ids(group, changed)) for group in (piece.blocks, piece.results))
        return _Entry(piece, replace(piece, blocks=blocks, results=results), renamed)

    def _name(self, call_id: str) -> str:
        times = self._times[call_id] = self._times.get(call_id, 0) + 1
        return f"{call_id[:56]}_{times}" if times > 1 else call_id


def _with_ids(blocks: Iterable[bytes], changed: Mapping[str, str]) -> Iterable[bytes]:
    for block in blocks:
        for name in (b'{"id":"', b'{"tool_use_id":"'):
            if block.startswith(name):
                old = block[len(name) : block.index(b'"', len(name))]
                block = name + changed[old.decode()].encode() + block[len(name) + len(old) :]
        yield block
