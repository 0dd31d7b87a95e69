"""Persist, then announce: every change of a session becomes an entry in its file before anyone hears of it.

Owns the store, the projection that grows with it, and the order of the two. Decides nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rpc_agent.agent.events import MessageEnd, MessageStart
from rpc_agent.context.projection import Projection, Projector
from rpc_agent.conversation.messages import Message
from rpc_agent.errors import SessionReadOnly
from rpc_agent.runtime.events import EntryAppended, LeafChanged, SessionEvent
from rpc_agent.session.entries import LEAF_MARKER, Entry
from rpc_agent.storage.session_store import Draft, SessionStore

Emit = Callable[[SessionEvent], None]


class SessionLog:
    """The session's entries as the runtime writes them. Not safe for threads: the event loop is its lock."""

    def __init__(self, store: SessionStore, emit: Emit) -> None:
        self.store = store
        self._emit = emit
        self._projector = Projector(store.branch())

    def require_writable(self) -> None:
        """Raises SessionReadOnly."""
        if self.store.read_only:
            raise SessionReadOnly("The session is open read-only: clone_session goes on in a copy.")

    @property
    def projection(self) -> Projection:
        return self._projector.projection

    @property
    def leaf_id(self) -> str | None:
        return self.store.leaf_id

    @property
    def path(self) -> Sequence[Entry]:
        """The entries of the active branch, as far as the context needs them."""
        return self._projector.path

    def append(self, kind: str, fields: Mapping[str, Any], *, entry_id: str | None = None) -> Entry:
        """Append at the leaf. Raises StorageFailed; then nothing changed and nobody was told.

        `entry_id` is one that the store reserved, for an entry that names itself.
        """
        entry = self.store.append(kind, fields, entry_id=entry_id)
        self._projector.append(entry)
        self._emit(EntryAppended(entry))
        return entry

    def append_many(self, drafts: Sequence[Draft], ids: Sequence[str | None] = ()) -> None:
        """Append at the leaf, all of them or, on an error, none. `ids` are reserved ones, None: draw one."""
        for entry in self.store.append_many(drafts, ids=ids):
            self._projector.append(entry)
            self._emit(EntryAppended(entry))

    def record(self, message: Message) -> Entry:
        """A message that comes whole: start, entry, end."""
        self._emit(MessageStart(message))
        return self.record_end(message)

    def record_end(self, message: Message) -> Entry:
        """The end of a message whose start was announced before."""
        entry = self.append("message", {"message": message})
        self._emit(MessageEnd(message, entry.id))
        return entry

    def omit(self, entry_ids: Sequence[str]) -> None:
        """Leave the messages of these entries out of the context; the entries stay."""
        for entry_id in entry_ids:
            self.append("context_edit", {"targetId": entry_id, "replacement": None})

    def append_at(self, parent_id: str | None, kind: str, fields: Mapping[str, Any]) -> Entry:
        """Append at another place of the tree: the leaf moves there, and the projection is made anew."""
        previous = self.store.leaf_id
        entry = self.store.append_at(parent_id, kind, fields)
        self._projector.move_to(self.store.branch())
        self._emit(EntryAppended(entry))
        self._emit(LeafChanged(entry.id, previous))
        return entry

    def move_leaf(self, target_id: str | None) -> Entry:
        """Move without a summary: a marker at the new place, so that a restart finds it."""
        return self.append_at(target_id, "custom", {"customType": LEAF_MARKER})

    async def sync(self) -> None:
        """Returns when everything appended so far is on the disk."""
        await self.store.sync()
