"""The pieces of a conversation -> its contents, so that a request writes again only what is new. Pure.

Messages of one role become one content; results of one answer stand together and alone, as the service counts them
against its calls. The last content stays open: it may grow.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from rpc_agent.conversation.messages import ModelMessage
from rpc_agent.conversation.models import Model
from rpc_agent.providers.google_generative_ai.compat import Compat
from rpc_agent.providers.google_generative_ai.parts import Piece, encode_message, response_with_id, text_part
from rpc_agent.providers.notes import OPENING, RESULT_IMAGES
from rpc_agent.providers.pieces import JoinedPieces, Pieces


class Tail(Struct, frozen=True):
    """What is not written for good: the parts of the system text, and the last content."""

    system: tuple[bytes, ...] = ()
    role: str = ""
    """"user", "model" or "result"; "" before the first content."""
    parts: tuple[bytes, ...] = ()
    images: tuple[bytes, ...] = ()
    """Images of the results, which come behind the last of them."""
    given: frozenset[str] = frozenset()
    """Ids of the last answer's calls that the service gave."""

    def to_json(self) -> list[bytes]:
        contents = [_content(self.role, self.parts)] if self.parts else []
        return [*contents, _content("user", _shown(self.images))] if self.images else contents


class Contents:
    """The contents of one conversation; each message is encoded once, and each finished content joined once."""

    def __init__(self, model: Model, compat: Compat) -> None:
        self._model = model
        self._compat = compat
        self._pieces: Pieces[Piece] = Pieces()
        self._joined = JoinedPieces(_write, Tail())

    def of(self, messages: Sequence[ModelMessage]) -> tuple[list[bytes], Tail]:
        """Finished contents as parts of a JSON list, to be sent behind each other, and the rest."""
        return self._joined.of(self._pieces.of(messages, self._encode), self._pieces.unchanged)

    def _encode(self, message: ModelMessage) -> Piece:
        return encode_message(message, self._model, self._compat)


def _write(piece: Piece, tail: Tail) -> tuple[list[bytes], Tail]:
    """Take one message in: the content that it finished, if any, and what stays open."""
    if piece.role == "system":
        return [], replace(tail, system=tail.system + piece.parts)
    if not piece.parts:
        return [], tail
    finished: list[bytes] = []
    if piece.role != "result" and tail.images:
        finished.append(_content(tail.role, tail.parts))
        tail = replace(tail, role="user", parts=_shown(tail.images), images=())
    if tail.role != piece.role:
        if tail.parts:
            finished.append(_content(tail.role, tail.parts))
        elif piece.role == "model":
            # A conversation that begins with an answer is refused.
            finished.append(_content("user", (text_part(OPENING),)))
        tail = replace(tail, role=piece.role, parts=())
    return finished, _with_more(tail, piece)


def _with_more(tail: Tail, piece: Piece) -> Tail:
    if piece.role == "model":
        return replace(tail, parts=tail.parts + piece.parts, given=frozenset(piece.calls))
    if piece.role == "result" and piece.calls[0] in tail.given:
        return replace(tail, parts=(*tail.parts, response_with_id(piece)), images=tail.images + piece.images)
    return replace(tail, parts=tail.parts + piece.parts, images=tail.images + piece.images)


def _shown(images: tuple[bytes, ...]) -> tuple[bytes, ...]:
    return (text_part(RESULT_IMAGES), *images)


def _content(role: str, parts: Sequence[bytes]) -> bytes:
    return b'{"role":"%s","parts":[%s]}' % (b"model" if role == "model" else b"user", b",".join(parts))
