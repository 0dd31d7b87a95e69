"""One session, open: its entries in memory and in its file, always the same. The facade the runtime writes through.

An entry is in memory only after it is in the file. Nothing is ever changed or removed. Not safe for threads, except
for the index of a large file's front, which a worker thread may build.
"""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio.to_thread

from rpc_agent.conversation.json_values import JsonObject, as_text
from rpc_agent.errors import SessionNotFound, SessionReadOnly, SessionUnreadable
from rpc_agent.session.context_reach import ContextReach
from rpc_agent.session.entries import SESSION_VERSION, Entry, MessageEntry, new_entry, read_entry
from rpc_agent.session.entry_ids import new_entry_id
from rpc_agent.session.json_lines import write_json, write_object
from rpc_agent.session.names import snapshot_name
from rpc_agent.session.replay import RecordReader, add_records, read_records
from rpc_agent.session.tree import SessionTree, is_marker
from rpc_agent.session.warnings import SessionWarning, WarningList
from rpc_agent.storage.file_head import FileHead
from rpc_agent.storage.identity import Identity
from rpc_agent.storage.loading import WHOLE_FILE_LIMIT, Loaded, load
from rpc_agent.storage.paths import session_file_path
from rpc_agent.storage.session_file import SessionFile, storage_errors
from rpc_agent.storage.tree_pages import EntryPage, TreePage, TreePages

Draft = tuple[str, Mapping[str, Any]]
"""Kind and fields of an entry to be."""


class SessionStore:
    """Made by `create` or `open`, never directly. All methods raise StorageFailed when the disk refuses."""

    def __init__(self, header: JsonObject, identity: Identity, tree: SessionTree, head: FileHead | None = None) -> None:
        self.header = header
        self.path: Path | None = None
        """Where the session is or will be kept, None when it is ephemeral."""
        self.read_only = False
        self._identity = identity
        self._tree = tree
        self._head = head
        self._leaf_id = tree.leaf_id
        self._file: SessionFile | None = None
        self._size = 0
        self._reserved: set[str] = set()
        self._warnings = WarningList()

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
            store._warnings.extend(loaded.warnings)
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

    # What is there.

    @property
    def session_id(self) -> str:
        return as_text(self.header.get("id"))

    @property
    def cwd(self) -> str:
        return as_text(self.header.get("cwd"))

    @property
    def leaf_id(self) -> str | None:
        """Where the next entry will hang; None before the first and after moving above the root."""
        return self._leaf_id

    @property
    def is_on_disk(self) -> bool:
        return self._file is not None or self.read_only

    @property
    def file_bytes(self) -> int:
        """The size of the file, 0 while there is none."""
        return self._file.size if self._file else self._size

    @property
    def warnings(self) -> list[SessionWarning]:
        """Every damage found so far, once. More may come while the front of a large file is indexed."""
        found = WarningList()
        found.extend(self._head.warnings if self._head else [])
        found.extend(self._warnings.all())
        found.extend(self._tree.warnings.all())
        return found.all()

    @property
    def session_name(self) -> str | None:
        """The name given last. For a large file whose front is not indexed: as far as its tail says."""
        entry = self._tree.name_entry() or (self._head.name_entry if self._head else None)
        if entry is not None:
            return entry.name
        return snapshot_name(self.branch()) if self._head and not self._head.is_complete else None

    @property
    def index_is_complete(self) -> bool:
        """Whether every entry is known; until then names and labels may be missing, and look-ups may take long."""
        return self._head is None or self._head.is_complete

    async def complete_index(self) -> None:
        """Index the front of a large file in a worker thread, letting the event loop go on."""
        if self._head is not None and not self._head.is_complete:
            await anyio.to_thread.run_sync(functools.partial(self._head.complete, politely=True))

    async def index_some(self, seconds: float) -> bool:
        """Index the front of a large file for about this long, in a worker thread; whether there is more to do."""
        if self._head is None or self._head.is_complete:
            return False
        return await anyio.to_thread.run_sync(self._head.work, seconds)

    async def know(self, *entry_ids: str | None) -> None:
        """Before questions about these entries: index the front if one of them is not at hand."""
        if not all(entry_id is None or self._tree.has(entry_id) for entry_id in entry_ids):
            await self.complete_index()

    def get(self, entry_id: str) -> Entry:
        """Raises EntryNotFound."""
        return self._tree.get(entry_id)

    def label(self, entry_id: str) -> str | None:
        return self.label_with_time(entry_id)[0]

    def label_with_time(self, entry_id: str) -> tuple[str | None, str | None]:
        """The label of an entry and when it was given, both None when it has none."""
        return self.pages.label(entry_id)

    def labels(self) -> dict[str, str]:
        """All labels by entry id."""
        merged = {**(self._head.labels if self._head else {}), **self._tree.label_entries()}
        return {target: entry.label for target, entry in merged.items() if entry.label is not None}

    def branch(self, leaf_id: str | None = None) -> list[Entry]:
        """The path to `leaf_id` (default: the leaf), oldest first.

        For a large file it begins where the context does: at the kept range of the newest compaction on it.
        `whole_branch` begins at the root. Raises EntryNotFound.
        """
        leaf = self._leaf_id if leaf_id is None else leaf_id
        return self._tree.path(leaf, is_enough=self._reach() if self._head else None)

    def whole_branch(self, leaf_id: str | None = None) -> list[Entry]:
        """The path from the root, however long it takes to read."""
        return self._tree.path(self._leaf_id if leaf_id is None else leaf_id)

    def is_on_branch(self, entry_id: str) -> bool:
        """Whether an entry lies on the path to the leaf, found without reading what the path is made of."""
        return self._on_path_to(self._leaf_id)(entry_id)

    def left_behind(self, place: str | None) -> list[Entry]:
        """What of the path to the leaf is not on the path to `place`, oldest first; only that is read."""
        is_shared = self._on_path_to(place)
        path = self._tree.path(self._leaf_id, is_enough=lambda entry: is_shared(entry.id))
        return path[1:] if path and is_shared(path[0].id) else path

    def _on_path_to(self, leaf_id: str | None) -> Callable[[str], bool]:
        """Whether an id is on that path, answered from memory and the index."""
        near: set[str] = set()
        marks = bytearray()
        head, at = self._head, leaf_id
        while at is not None and at not in near:
            if self._tree.has(at):
                near.add(at)
                at = self._tree.parent_of(self._tree.get(at))
            elif head is not None:
                # The front may lead back into the tail, in files whose children stand before their parents.
                marks = marks or bytearray(head.size())
                top = head.mark_path(at, marks)
                at = None if top is None else self._tree.parent_of(self._tree.get(top))
            else:
                break

        def is_on_path(entry_id: str) -> bool:
            if entry_id in near or not marks or head is None or self._tree.has(entry_id):
                return entry_id in near
            position = head.position_of(entry_id)
            return position is not None and bool(marks[position])

        return is_on_path

    def nearest_substantial(self, leaf_id: str | None = None) -> Entry | None:
        """The leaf, or if it is a marker, a label or a name, its nearest ancestor that is not."""
        return self._tree.climb(self._leaf_id if leaf_id is None else leaf_id, lambda entry: not is_marker(entry))

    def entries(self, since: str | None = None, limit: int | None = None) -> EntryPage:
        """Entries in file order, those strictly after `since`. Raises EntryNotFound."""
        return self.pages.entries(since, limit)

    def tree_nodes(
        self,
        *,
        root_id: str | None = None,
        depth: int | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> TreePage:
        """Entries with their place in the tree, in file order; of `root_id` and down to `depth` levels below."""
        return self.pages.nodes(root_id=root_id, depth=depth, cursor=cursor, limit=limit)

    def children(self, entry_id: str | None) -> list[str]:
        """Ids of the entries below one, in file order; the roots for None. Raises EntryNotFound."""
        return self.pages.children(entry_id)

    def entry_count(self) -> int:
        if self._head is None:
            return len(self._tree)
        self._head.complete()
        return len(self._head.index) + len(self._tree)

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

    def _append(self, parent_id: str | None, drafts: Sequence[Draft], ids: Sequence[str | None] = ()) -> list[Entry]:
        if self.read_only:
            raise SessionReadOnly(
                "The session is open read-only, so nothing can be added. Fork it to go on in a copy.",
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
        reader = RecordReader()
        before = len(self._tree)
        add_records(self._tree, list(read_records(data, reader)), reader)
        found = [SessionWarning(warning.kind, warning.message) for warning in reader.all_warnings()]
        self._warnings.extend(found)
        message = (
            f"Another program added {len(data)} bytes ({len(self._tree) - before} entries) while the session was open; "
            "they were read and the session went on from its own leaf."
        )
        self._warnings.add("foreignAppend", message)

    def _reach(self) -> Callable[[Entry], bool]:
        """Says where the context of a branch begins, without reading a large file's front for nothing."""
        reach = ContextReach()

        def is_enough(entry: Entry) -> bool:
            if reach(entry):
                return True
            crosses = self._tree.has(entry.id) and entry.parent_id is not None and not self._tree.has(entry.parent_id)
            if not crosses or reach.first_kept_id is None or self._head is None or entry.parent_id is None:
                return False
            return reach.has_own_tail or not self._head.is_on_path(reach.first_kept_id, entry.parent_id)

        return is_enough

    @property
    def pages(self) -> TreePages:
        """Questions about entries and tree, as they are at this moment."""
        return TreePages(self._tree, self._head, self._leaf_id)


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
