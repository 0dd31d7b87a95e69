"""Which call a piece belongs to: by id, then by index, then by order. Pure."""

from collections.abc import Iterator
from typing import Any

from rpc_agent.conversation.json_values import as_object, as_text
from rpc_agent.providers.base import ToolCallDelta
from rpc_agent.providers.json_bytes import to_json


class CallKeys:
    """Gives each call of one answer its key and its id. `prefix` begins the ids that the service left out."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._by_id: dict[str, str] = {}
        self._by_index: dict[int, str] = {}
        self._last = ""
        self._count = 0

    @property
    def any(self) -> bool:
        return self._count > 0

    def read(self, pieces: object) -> Iterator[ToolCallDelta]:
        for piece in pieces if isinstance(pieces, list) else ():
            raw = as_object(piece)
            function = as_object(raw.get("function"))
            name, call_id = as_text(function.get("name")), as_text(raw.get("id"))
            index = raw.get("index")
            known = self._known(call_id, index if isinstance(index, int) else None, name)
            key = known or self._new(call_id)
            self._remember(key, call_id, index if isinstance(index, int) else None)
            yield ToolCallDelta(key, "" if known else key, name, _arguments(function.get("arguments")))

    def _known(self, call_id: str, index: int | None, name: str) -> str:
        """The key of the call that is going on; "" for a new one."""
        if call_id in self._by_id:
            return self._by_id[call_id]
        at_index = self._by_index.get(index, "") if index is not None else self._last
        if call_id:
            # A new id is a new call even on an old index; without a name it can only go on with one.
            return "" if name else at_index
        # Without id and index only a name tells that another call begins.
        return "" if name and index is None else at_index

    def _new(self, call_id: str) -> str:
        self._count += 1
        return call_id or f"{self._prefix}_{self._count}"

    def _remember(self, key: str, call_id: str, index: int | None) -> None:
        if call_id:
            self._by_id[call_id] = key
        if index is not None:
            self._by_index[index] = key
        self._last = key


def _arguments(value: Any) -> str:
    """A piece of JSON text; some servers send the whole object instead."""
    if isinstance(value, str):
        return value
    return to_json(value).decode() if isinstance(value, dict) else ""
