"""One session's notifications on their way to the client: sequence numbers, opt-outs, deltas, a bounded replay buffer.

The only writer of `seq`: it grows by one with each notification that enters the outbox, so that a client can tell
that it missed none.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from rpc_agent.agent.events import MessageUpdate
from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.providers.assembly import BlockDelta
from rpc_agent.rpc import fast_json, json_text
from rpc_agent.rpc.envelopes import encode_notification
from rpc_agent.rpc.peer import Peer
from rpc_agent.runtime.events import SessionEvent
from rpc_agent.runtime.session_parts import SessionState
from rpc_agent.server.capabilities import ClientCapabilities
from rpc_agent.server.delta_notification import DeltaFrame, DeltaNotification
from rpc_agent.server.notifications import to_notification

_REPLAY_EVENTS = 4096
_REPLAY_BYTES = 8 << 20
"""A window reload takes seconds: what is kept covers the busiest of them, whatever the size of the messages."""
_MERGE_SECONDS = 0.016
"""One frame of a screen: nobody sees text come more often."""

Sent = bytes | DeltaNotification


class Replay(Struct, frozen=True):
    """`truncated`: something after the asked-for number is no longer kept."""

    events: list[JsonObject]
    first_seq: int
    last_seq: int
    truncated: bool


class _Buffer:
    """The newest notifications, bounded in number and bytes."""

    def __init__(self) -> None:
        self.kept: deque[tuple[int, Sent]] = deque()
        self._bytes = 0

    def add(self, seq: int, sent: Sent, size: int) -> None:
        self.kept.append((seq, sent))
        self.grew(size)

    def grew(self, extra_bytes: int) -> None:
        """The newest is larger by so much."""
        self._bytes += extra_bytes
        while len(self.kept) > _REPLAY_EVENTS or (self._bytes > _REPLAY_BYTES and len(self.kept) > 1):
            sent = self.kept.popleft()[1]
            self._bytes -= len(sent) if isinstance(sent, bytes) else sent.size


class SessionFeed:
    """Listens to one session for one client."""

    def __init__(self, session_id: str, peer: Peer, capabilities: Callable[[], ClientCapabilities]) -> None:
        self.last_state: tuple[SessionState, int, Mapping[str, Any]] | None = None
        """What the client was told last, with the number of the last notification, and its form on the wire."""
        self._session_id = session_id
        self._peer = peer
        self._capabilities = capabilities
        self._replay = _Buffer()
        self._frame = DeltaFrame(session_id, None)
        self._newest: DeltaNotification | None = None
        """The delta posted last, if nothing was posted since."""
        self._held: tuple[BlockDelta, MessageUpdate] | None = None
        self._held_text: list[str] = []
        self._due: asyncio.TimerHandle | None = None
        self._last_delta_at = 0.0
        self.last_seq = 0

    def hear(self, event: SessionEvent, run_id: str | None) -> None:
        """Send one event, unless the client does not want it."""
        if type(event) is MessageUpdate and type(event.update) is BlockDelta:
            return self._hear_delta(event, event.update, run_id)
        self._release()
        name, fields = to_notification(event)
        capabilities = self._capabilities()
        if not capabilities.wants(name) or (name == "message_update" and capabilities.deltas == "none"):
            return None
        seq = self._next_seq()
        params = {"sessionId": self._session_id, "seq": seq, **fields}
        if run_id is not None:
            params["runId"] = run_id
        body = encode_notification(name, params, fast_json.encode)
        self._newest = None
        self._replay.add(seq, body, len(body))
        self._peer.post(body)
        return None

    async def drained(self) -> None:
        await self._peer.drained()

    def replay(self, since: int, limit: int | None) -> Replay:
        """What was sent after number `since`, as far as it is kept."""
        kept = self._replay.kept
        first = kept[0][0] if kept else self.last_seq + 1
        wanted = [sent for seq, sent in kept if seq > since][:limit]
        events = [json_text.decode(sent if isinstance(sent, bytes) else sent.encode()) for sent in wanted]
        found = [{"method": event["method"], "params": event["params"]} for event in events]
        # A number that was never given belongs to another stream: whoever asks with it has to read anew.
        is_unknown = since > self.last_seq
        return Replay(found, first, self.last_seq, is_unknown or (since + 1 < first and since < self.last_seq))

    # Deltas

    def _hear_delta(self, event: MessageUpdate, delta: BlockDelta, run_id: str | None) -> None:
        capabilities = self._capabilities()
        if capabilities.deltas == "none" or not capabilities.wants("message_update"):
            return
        if run_id != self._frame.run_id:
            self._frame = DeltaFrame(self._session_id, run_id)
        if capabilities.deltas == "merged":
            self._hold(event, delta)
        else:
            self._post_delta(event, delta)

    def _post_delta(self, event: MessageUpdate, delta: BlockDelta) -> None:
        outbox, newest = self._peer.outbox, self._newest
        if outbox.is_full and newest is not None and outbox.last_unsent is newest and newest.continues(delta):
            # The client is behind: rather fewer, larger pieces than more of them.
            extra = newest.merge(delta)
            outbox.grew(extra)
            self._replay.grew(extra)
            return
        item = DeltaNotification(self._frame, self._next_seq(), delta, event.usage)
        self._newest = item
        self._replay.add(item.seq, item, item.size)
        outbox.post(item)

    def _hold(self, event: MessageUpdate, delta: BlockDelta) -> None:
        """Keep the delta until a frame has passed since the last one of its block."""
        held = self._held
        if held is not None and (held[0].index, held[0].kind) != (delta.index, delta.kind):
            self._release()
        self._held = (delta, event)
        self._held_text.append(delta.delta)
        loop = asyncio.get_running_loop()
        wait = self._last_delta_at + _MERGE_SECONDS - loop.time()
        if wait <= 0:
            self._release()
        elif self._due is None:
            self._due = loop.call_later(wait, self._release)

    def _release(self) -> None:
        """Send what is held."""
        if self._due is not None:
            self._due.cancel()
            self._due = None
        if self._held is None:
            return
        delta, event = self._held
        text, self._held_text, self._held = "".join(self._held_text), [], None
        self._last_delta_at = asyncio.get_running_loop().time()
        self._post_delta(event, BlockDelta(delta.index, delta.kind, text))

    def _next_seq(self) -> int:
        self.last_seq += 1
        return self.last_seq
