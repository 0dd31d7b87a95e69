"""One message_update that is still in the outbox: more of the same block may be merged into it until it is written.

The per-delta path: no dictionaries are built and nothing but the new text is encoded.
"""

from collections.abc import Mapping
from typing import Any

from rpc_agent.providers.assembly import BlockDelta
from rpc_agent.rpc import fast_json

_TYPES = {"text": b"text_delta", "thinking": b"thinking_delta", "toolCall": b"toolcall_delta"}
_OVERHEAD_BYTES = 420
"""A message_update without its text; the size is only an estimate for the outbox's bounds."""


class DeltaNotification:
    """A LazyItem. `seq` was given when it entered the outbox."""

    __slots__ = ("_encoded", "_head", "_more", "_tail", "_usage", "delta", "seq", "size")

    def __init__(self, frame: "DeltaFrame", seq: int, delta: BlockDelta, usage: Mapping[str, Any] | None) -> None:
        self.seq = seq
        self.delta = delta
        self.size = _OVERHEAD_BYTES + len(delta.delta)
        self._head = frame.head
        self._tail = frame.tail
        self._usage = frame.usage_bytes(usage)
        self._more: list[str] | None = None
        self._encoded: bytes | None = None

    def merge(self, delta: BlockDelta) -> int:
        """Take more of the same block in; the bytes it adds."""
        if self._more is None:
            self._more = []
        self._more.append(delta.delta)
        self.size += len(delta.delta)
        return len(delta.delta)

    def continues(self, delta: BlockDelta) -> bool:
        """Whether `delta` belongs to the same block, and nothing was encoded yet."""
        return self._encoded is None and self.delta.index == delta.index and self.delta.kind == delta.kind

    def encode(self) -> bytes:
        if self._encoded is None:
            whole = self.delta.delta if self._more is None else "".join([self.delta.delta, *self._more])
            text = fast_json.encode(whole)
            event = b'{"type":"%b","contentIndex":%d,"delta":%b}' % (_TYPES[self.delta.kind], self.delta.index, text)
            self._encoded = b'%b%d,"usage":%b,"assistantMessageEvent":%b%b' % (
                self._head,
                self.seq,
                self._usage,
                event,
                self._tail,
            )
        return self._encoded


class DeltaFrame:
    """What all deltas of one run have in common, encoded once."""

    def __init__(self, session_id: str, run_id: str | None) -> None:
        self.run_id = run_id
        session = fast_json.encode(session_id)
        self.head = b'{"jsonrpc":"2.0","method":"message_update","params":{"sessionId":%b,"seq":' % session
        self.tail = b"}}" if run_id is None else b',"runId":%b}}' % fast_json.encode(run_id)
        self._usage: Mapping[str, Any] | None = None
        self._usage_bytes = b"null"

    def usage_bytes(self, usage: Mapping[str, Any] | None) -> bytes:
        # A service reports usage once or twice in an answer: the object stays the same for thousands of deltas.
        if usage is not self._usage:
            self._usage, self._usage_bytes = usage, fast_json.encode(usage)
        return self._usage_bytes
