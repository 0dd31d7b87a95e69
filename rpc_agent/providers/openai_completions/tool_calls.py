"""Which call a piece belongs to: by id, then by index, then by order. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from rpc_agent.conversation.json_values import as_id, as_object, as_text
from rpc_agent.providers.base import ToolCallDelta
from rpc_agent.providers.call_arguments import parse_arguments, written_arguments


class _Call(Struct):
    """A call while it grows. `id` is what the service calls it, "" where it says nothing; `key` is ours alone."""

    key: str
    id: str = ""
    index: int | None = None
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    length: int = 0

    def grow(self, arguments: str) -> None:
        if arguments:
            self.arguments.append(arguments)
            self.length += len(arguments)

    def is_whole(self) -> bool:
        # The end is looked at first, because parsing anew for each piece takes long for long arguments.
        return bool(self.arguments) and self.arguments[-1].rstrip().endswith("}") and self._parsed() is not None

    def is_nameless_before(self, piece: "_Piece") -> bool:
        """Some servers say whose the arguments are, or the id, only after the beginning."""
        return not self.id and (not self.name or (self.name == piece.name and not self.arguments))

    def has_gaps(self) -> bool:
        """Arguments were begun and not ended; a call without any has none to give."""
        return bool(self.arguments) and self._parsed() is None

    def already_says(self, piece: "_Piece") -> bool:
        """Some servers say a whole call once more with the end of the answer."""
        if not piece.arguments or len(piece.arguments) != self.length or piece.name not in ("", self.name):
            return False
        return self.is_whole() and piece.arguments == "".join(self.arguments)

    def _parsed(self) -> dict[str, Any] | None:
        return parse_arguments("".join(self.arguments))


class _Piece(Struct, frozen=True):
    id: str
    index: int | None
    name: str
    arguments: str
    signature: str | None


class CallKeys:
    """Gives each call of one answer its key and its id. `prefix` begins the ids that the service left out."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._calls: list[_Call] = []
        self._at: dict[int, _Call] = {}

    @property
    def any(self) -> bool:
        return bool(self._calls)

    @property
    def all_whole(self) -> bool:
        """Whether no call was cut in its arguments."""
        return not any(call.has_gaps() for call in self._calls)

    def read(self, pieces: object) -> Iterator[ToolCallDelta]:
        for raw in pieces if isinstance(pieces, list) else [pieces]:
            piece = _read_piece(as_object(raw))
            call = self._known(piece)
            if call is None:
                if not (piece.id or piece.name or piece.arguments):
                    continue
                call = self._new(piece)
                yield ToolCallDelta(call.key, call.key, call.name, piece.arguments, piece.signature)
            elif call.already_says(piece):
                continue
            else:
                name = "" if call.name else piece.name
                call.name = call.name or name
                yield ToolCallDelta(call.key, "", name, piece.arguments, piece.signature)
            call.grow(piece.arguments)
            if piece.index is not None:
                self._at[piece.index] = call

    def _known(self, piece: _Piece) -> _Call | None:
        """The call that is going on; None for a new one."""
        at_index = self._at_index(piece)
        if at_index is not None and ((piece.id and at_index.id == piece.id) or at_index.is_nameless_before(piece)):
            call: _Call | None = at_index
        else:
            call = next((known for known in reversed(self._calls) if piece.id and known.id == piece.id), None)
            if piece.name and not _continues(call, piece):
                return None
            call = call or at_index
        return None if call is not None and _begins_another(call, piece) else call

    def _at_index(self, piece: "_Piece") -> _Call | None:
        last = self._last()
        at_index = self._at.get(piece.index) if piece.index is not None else last
        if last is None or last is at_index or piece.id or piece.name or last.arguments:
            return at_index
        # Some gateways count a call's arguments otherwise than its beginning: then nobody else can want them.
        return last if piece.arguments and (at_index is None or at_index.is_whole()) else at_index

    def _last(self) -> _Call | None:
        return self._calls[-1] if self._calls else None

    def _new(self, piece: _Piece) -> _Call:
        number = len(self._calls) + 1
        key = piece.id or f"{self._prefix}_{number}"
        if any(call.key == key for call in self._calls):
            key = f"{key}_{number}"
        call = _Call(key, piece.id, piece.index, piece.name)
        self._calls.append(call)
        return call


def _continues(same_id: _Call | None, piece: _Piece) -> bool:
    """Whether a piece with a name may be more of a call that is there."""
    if same_id is not None:
        # Some servers give all calls of an answer one id.
        return piece.index is None or same_id.index in (None, piece.index)
    # A new id is a new call even on an old index; without id and index only a name tells one.
    return not piece.id and piece.index is not None


def _begins_another(call: _Call, piece: _Piece) -> bool:
    """A name and arguments behind whole arguments: a server that gives its calls neither ids nor other indexes."""
    if not piece.name or not piece.arguments.lstrip().startswith("{") or not call.is_whole():
        return False
    only_begun = call.length == len("{}") and piece.id and piece.id == call.id
    return not only_begun and not call.already_says(piece)


def _read_piece(raw: Mapping[str, Any]) -> _Piece:
    # Few put name and arguments beside the id.
    function = as_object(raw.get("function")) or raw
    index = raw.get("index")
    if isinstance(index, str) and re.fullmatch(r"\d{1,9}", index):
        index = int(index)
    return _Piece(
        id=as_id(raw.get("id")),
        index=index if isinstance(index, int) else None,
        name=as_text(function.get("name")),
        arguments=written_arguments(function.get("arguments")),
        # Without it Google refuses the next request.
        signature=as_text(google_says(raw, "thought_signature")) or None,
    )


def google_says(raw: Mapping[str, Any], name: str) -> object:
    """What Google's chat-completions address has to say of a call or a delta beyond that API."""
    return as_object(as_object(raw.get("extra_content")).get("google")).get(name)
