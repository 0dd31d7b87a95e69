"""One session, open: its entries in memory and in its file, always the same. The facade the runtime writes through.

An entry is in memory only after it is in the file. Nothing is ever changed or removed. Not safe for threads, except
for the index of a large file's front, which a worker thread may build.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio.to_thread

from rpc_agent.conversation.json_values import JsonObject, as_text
from rpc_agent.errors import SessionNotFound, SessionReadOnly, SessionUnreadable
from rpc_agent.session.entries import SESSION_VERSION, Entry, MessageEntry, new_entry, read_entry
from rpc_agent.session.entry_ids import new_entry_id
from rpc_agent.session.json_lines import write_json, write_object
from rpc_agent.session.replay import RecordReader, add_records, read_records
from rpc_agent.session.tree import SessionTree
from rpc_agent.storage import collector
from rpc_agent.storage.file_head import FileHead
from rpc_agent.storage.identity import Identity
from rpc_agent.storage.loading import WHOLE_FILE_LIMIT, Loaded, load
from rpc_agent.storage.paths import session_file_path
from rpc_agent.storage.session_file import SessionFile, storage_errors
from rpc_agent.storage.stored_entries import StoredEntries

Draft = tuple[str, Mapping[str, Any]]
"""Kind and fields of an entry to be."""


class SessionStore(StoredEntries):
    """Made by `create` or `open`, never directly. All methods raise StorageFailed when the disk refuses."""

    def __init__(self, header: JsonObject, identity: Identity, tree: SessionTree, head: FileHead | None = None) -> None:
        super().__init__(tree, head)
        self.header = header
        self.path: Path | None = None
        """Where the session is or will be kept, None when it is ephemeral."""
        self.read_only = False
        self._identity = identity
        self._file: SessionFile | None = None
        self._size = 0
        self._reserved: set[str] = set()
        self._is_closed = False

    @classmethod
    def create(
        cls,
        directory: Path | None,
        *,
        cwd: str,
        identity: Identity,
        parent_session: str | None = None,
    ) -> "SessionStore":
        """A new session of `cwd` below the sessions dir `directory`; None keeps it in memory only.

        Its file appears with the first user or assistant message and everything that was appended before.
        """
        header = new_header(identity, cwd=cwd, parent_session=parent_session)
        store = cls(header, identity, SessionTree())
        if directory is not None:
            started = header["timestamp"]
            store.path = session_file_path(directory, cwd=cwd, session_id=header["id"], timestamp=started)
        return store

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        identity: Identity,
        read_only: bool = False,
        cwd: str = "",
        whole_limit: int = WHOLE_FILE_LIMIT,
    ) -> "SessionStore":
        """Open a file. `cwd` goes into the header of a file that is still empty.

        Raises SessionNotFound, SessionLocked (another process writes it), SessionUnreadable.
        """
        with storage_errors(path):
            path = path.resolve()
            if not path.exists():
                raise SessionNotFound(f"There is no session file {path}.", path=str(path))
            if not path.is_file():
                raise SessionUnreadable(f"{path} is not a file, so it cannot be a session.")
            if path.stat().st_size == 0 and _gives_bytes(path):
                raise SessionUnreadable(f"{path} is a file of the system, so it cannot be a session.")
        file = None if read_only else SessionFile.open(path)
        try:
            return cls._opened(path, file, identity, cwd, whole_limit)
        except BaseException:
            if file is not None:
                file.close()
            raise

    @classmethod
    def _opened(
        cls, path: Path, file: SessionFile | None, identity: Identity, cwd: str, whole_limit: int
    ) -> "SessionStore":
        with storage_errors(path):
            is_empty = path.stat().st_size == 0
        if is_empty:
            store = cls(new_header(identity, cwd=cwd), identity, SessionTree())
            if file is not None:
                file.append(write_json(store.header) + b"\n")
        else:
            loaded = load(path, draw_id=identity.draw_id, may_write=file is not None, whole_limit=whole_limit)
            store = cls(loaded.header, identity, loaded.tree, loaded.head)
            store._tail_warnings = loaded.warnings
            file = store._writable(loaded, file)
            store._size = loaded.size
        store.path, store._file, store.read_only = path, file, file is None
        return store

    def _writable(self, loaded: Loaded, file: SessionFile | None) -> SessionFile | None:
        """The file to append to, if this version of the format may be written."""
        if loaded.is_future:
            message = (
                f"The file has version {self.header['version']} of the format and this program writes "
                f"{SESSION_VERSION}; it is open read-only. Fork it or update this program to go on."
            )
            self._warnings.add("futureVersion", message)
            if file is not None:
                file.close()
            return None
        if file is not None:
            file.was_read(loaded.size)
        return file

    # Its file.

    @property
    def session_id(self) -> str:
        return as_text(self.header.get("id"))

    @property
    def cwd(self) -> str:
        return as_text(self.header.get("cwd"))

    @property
    def is_on_disk(self) -> bool:
        return self._file is not None or self.read_only

    @property
    def file_bytes(self) -> int:
        """The size of the file, 0 while there is none."""
        return self._file.size if self._file else self._size

    # What is added.

    def append(self, kind: str, fields: Mapping[str, Any], *, entry_id: str | None = None) -> Entry:
        """A new entry below the leaf, which it becomes. `entry_id` is one that `reserve_id` gave."""
        return self._append(self._leaf_id, [(kind, fields)], [entry_id])[0]

    def reserve_id(self) -> str:
        """The id of an entry that is still to be appended, for one that has to name itself."""
        entry_id = self._new_id(self._reserved)
        self._reserved.add(entry_id)
        return entry_id

    def append_many(self, drafts: Iterable[Draft], *, ids: Sequence[str | None] = ()) -> list[Entry]:
        """Several entries, each below the one before: all of them or, on an error, none.

        `ids` are those that `reserve_id` gave, in the order of the drafts; None where there is none.
        """
        return self._append(self._leaf_id, list(drafts), ids)

    def append_at(self, parent_id: str | None, kind: str, fields: Mapping[str, Any]) -> Entry:
        """A new entry at another place of the tree, which becomes the leaf. Raises EntryNotFound."""
        if parent_id is not None:
            self.get(parent_id)
        return self._append(parent_id, [(kind, fields)])[0]

    def adopt(self, entries: Iterable[Entry]) -> None:
        """Take entries as they are, ids and times too: how a new session begins as a copy of another."""
        adopted = list(entries)
        self._write(adopted, b"".join(write_json(entry.raw) + b"\n" for entry in adopted))
        self._remember(adopted)

    async def sync(self) -> None:
        """Returns when the disk has everything appended so far; the event loop goes on meanwhile."""
        if self._file is not None:
            await anyio.to_thread.run_sync(self._file.sync)

    def close(self) -> None:
        """Give the file and its lock free. What was never a conversation leaves no file."""
        for part in (self._file, self._head):
            if part is not None:
                part.close()
        if not self._is_closed:
            self._is_closed = True
            collector.session_closed(self.file_bytes)

    def _append(self, parent_id: str | None, drafts: Sequence[Draft], ids: Sequence[str | None] = ()) -> list[Entry]:
        if self.read_only:
            raise SessionReadOnly(
                "The session is open read-only, so nothing can be added. clone_session goes on in a copy.",
                sessionId=self.session_id,
            )
        self._take_in_growth()
        entries, lines = self._make(parent_id, drafts, ids)
        self._write(entries, lines)
        self._remember(entries)
        return entries

    def _make(
        self, parent_id: str | None, drafts: Sequence[Draft], ids: Sequence[str | None]
    ) -> tuple[list[Entry], bytes]:
        entries: list[Entry] = []
        lines = bytearray()
        taken = set(self._reserved)
        reserved = iter(ids)
        for kind, fields in drafts:
            entry_id = next(reserved, None) or self._new_id(taken)
            taken.add(entry_id)
            entry = new_entry(kind, fields, entry_id=entry_id, parent_id=parent_id, timestamp=self._identity.now_iso())
            line, raw = write_object(entry.raw)
            entries.append(entry if raw is entry.raw else read_entry(raw) or entry)
            lines += line + b"\n"
            parent_id = entry_id
        return entries, bytes(lines)

    def _new_id(self, taken: set[str]) -> str:
        # Asking the front of a large file would index it; longer ids make that needless.
        known: Callable[[str], bool] = self._tree.has
        if self._head is not None and self._head.is_complete:
            known = lambda entry_id: self._tree.has(entry_id) or self._head_has(entry_id)  # noqa: E731
        return new_entry_id(
            self._identity.draw_id,
            self._identity.full_id,
            lambda entry_id: entry_id in taken or known(entry_id),
            certain=self.index_is_complete,
        )

    def _head_has(self, entry_id: str) -> bool:
        return self._head is not None and self._head.position_of(entry_id) is not None

    def _write(self, entries: Sequence[Entry], lines: bytes) -> None:
        if self._file is not None:
            self._file.append(lines)
        elif self.path is not None and any(map(_begins_conversation, entries)):
            buffered = (self.header, *(entry.raw for entry in self._tree))
            self._file = SessionFile.create(self.path, b"".join(write_json(raw) + b"\n" for raw in buffered) + lines)

    def _remember(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            self._tree.add(entry)
            self._reserved.discard(entry.id)
        if entries:
            self._leaf_id = entries[-1].id

    def _take_in_growth(self) -> None:
        """Read what another program added. Our leaf stays: the running conversation did not see those entries."""
        if self._file is None or not self._file.growth():
            return
        data = self._file.accept_growth()
        reader = RecordReader(lost=self._tree.is_damaged)
        before = len(self._tree)
        add_records(self._tree, list(read_records(data, reader)), reader)
        self._tree.note_broken_links()
        self._warnings.extend_from_part(reader.all_warnings(), None)
        message = (
            f"Another program added {len(data)} bytes ({len(self._tree) - before} entries) while the session was open; "
            "they were read and the session went on from its own leaf."
        )
        self._warnings.add("foreignAppend", message)


def _gives_bytes(path: Path) -> bool:
    """Whether a file that says it is empty is not, as many of /proc; what we wrote there would be an order."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        return bool(os.read(descriptor, 1))
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)


def new_header(identity: Identity, *, cwd: str, parent_session: str | None = None) -> JsonObject:
    """The first line of a session file."""
    header: JsonObject = {
        "type": "session",
        "version": SESSION_VERSION,
        "id": identity.session_id(),
        "timestamp": identity.now_iso(),
        "cwd": cwd,
    }
    return header if parent_session is None else {**header, "parentSession": parent_session}


def _begins_conversation(entry: Entry) -> bool:
    return isinstance(entry, MessageEntry) and entry.message["role"] in ("user", "assistant")
