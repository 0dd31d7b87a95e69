"""One session's notifications on their way to the client: sequence numbers, opt-outs, a bounded replay buffer.

The only writer of `seq`: it grows by one with each notification that enters the outbox, so that a client can tell
that it missed none.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.rpc import fast_json, json_text
from rpc_agent.rpc.envelopes import encode_notification
from rpc_agent.rpc.peer import Peer
from rpc_agent.runtime.events import SessionEvent
from rpc_agent.server.capabilities import ClientCapabilities
from rpc_agent.server.notifications import to_notification

_REPLAY_EVENTS = 4096
_REPLAY_BYTES = 8 << 20
"""A window reload takes seconds: what is kept covers the busiest of them, whatever the size of the messages."""


@dataclass(frozen=True, slots=True)
class Replay:
    """`truncated`: something after the asked-for number is no longer kept."""

    events: list[JsonObject]
    first_seq: int
    last_seq: int
    truncated: bool


@dataclass(slots=True)
class _Buffer:
    kept: deque[tuple[int, bytes]] = field(default_factory=deque)
    size: int = 0

    def add(self, seq: int, body: bytes) -> None:
        self.kept.append((seq, body))
        self.size += len(body)
        while len(self.kept) > _REPLAY_EVENTS or (self.size > _REPLAY_BYTES and len(self.kept) > 1):
            self.size -= len(self.kept.popleft()[1])


class SessionFeed:
    """Listens to one session for one client."""

    def __init__(self, session_id: str, peer: Peer, capabilities: Callable[[], ClientCapabilities]) -> None:
        self._session_id = session_id
        self._peer = peer
        self._capabilities = capabilities
        self._replay = _Buffer()
        self.last_seq = 0

    def hear(self, event: SessionEvent, run_id: str | None) -> None:
        name, fields = to_notification(event)
        if not self._capabilities().wants(name):
            return
        self.last_seq += 1
        params = {"sessionId": self._session_id, "seq": self.last_seq, **fields}
        if run_id is not None:
            params["runId"] = run_id
        body = encode_notification(name, params, fast_json.encode)
        self._replay.add(self.last_seq, body)
        self._peer.post(body)

    async def drained(self) -> None:
        await self._peer.drained()

    def replay(self, since: int, limit: int | None) -> Replay:
        """What was sent after number `since`, as far as it is kept."""
        kept = self._replay.kept
        first = kept[0][0] if kept else self.last_seq + 1
        events = [json_text.decode(body) for seq, body in kept if seq > since][:limit]
        found = [{"method": event["method"], "params": event["params"]} for event in events]
        return Replay(found, first, self.last_seq, since + 1 < first and since < self.last_seq)
