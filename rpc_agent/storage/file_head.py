"""The part of a session file before the tail that was read when it was opened. Indexed only when somebody asks.

Satisfies the tree's port for older entries. Its scan goes in small steps, so that another thread gets its turn.
"""

import errno
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.errors import EntryNotFound
from rpc_agent.session.entries import (
    Entry,
    LabelEntry,
    SessionInfoEntry,
    entry_links,
    read_entry,
    with_text_ids,
)
from rpc_agent.session.line_reader import read_line
from rpc_agent.session.replay import RecordReader
from rpc_agent.session.warnings import SessionWarning
from rpc_agent.storage.entry_index import DEAD, UNKNOWN, EntryIndex
from rpc_agent.storage.long_lines import bounded_line
from rpc_agent.storage.session_file import storage_errors

_STEP_BYTES = 64 * 1024
# A fifth of a millisecond of work between two chances for other threads.
_LET_IN_SECONDS = 0.0001
_IDS_KEPT = 1024
"""Those read last. Who reads on in the file asks for parents, and the parent is nearly always one of them."""


class FileHead:
    """Entries in the bytes [0, `end`) of a file. Questions about them finish the index first, however long it takes."""

    def __init__(self, path: Path, end: int) -> None:
        self._path = path
        self._end = end
        self._at = 0
        self._working = threading.RLock()
        self._scanner: BinaryIO | None = None
        self._lines: BinaryIO | None = None
        self._joined: dict[tuple[int, bool], list[JsonObject]] = {}
        """The last line with several records in it, taken apart: that is too slow to be done for each of them."""
        self._ids: dict[int, str] = {}
        """Ids by position, of what was read lately."""
        self._reader = RecordReader(exact=False)
        self._orphans: dict[int, tuple[str, int]] = {}
        """By position: the parent that was not there, and the entry before it in the file if something was lost."""
        self._has_header = False
        self.index = EntryIndex(self.id_at)
        self.strays: dict[str, list[int]] = {}
        """Positions by the id of their parent, where that is not in here; it may stand behind, in the tail."""
        self.behind: dict[int, str] = {}
        """The parent of an entry that hangs from one of the tail, by position."""
        self.labels: dict[str, LabelEntry] = {}
        self.name_entry: SessionInfoEntry | None = None
        self.is_complete = False
        self._is_closed = False

    @property
    def warnings(self) -> list[SessionWarning]:
        return self._reader.all_warnings()

    @property
    def lines(self) -> int:
        """How many were read so far."""
        return self._reader.lines

    def step(self) -> bool:
        """Index a little more; whether there is anything left to do."""
        if self.is_complete or self._is_closed:
            return False
        with self._working, storage_errors(self._path):
            # Asked again under the lock: the session may have been closed while a worker was indexing.
            if not self.is_complete and not self._is_closed:
                self._index_lines(_STEP_BYTES)
                if self._at >= self._end:
                    self._finish()
        return not self.is_complete and not self._is_closed

    def work(self, seconds: float) -> bool:
        """Index for about this long, letting other threads in between steps; whether there is anything left to do."""
        end = time.monotonic() + seconds
        while self.step():
            if time.monotonic() >= end:
                return True
            # A sleep of no length at all is often over before another thread has woken up.
            time.sleep(_LET_IN_SECONDS)
        return False

    def complete(self, *, politely: bool = False) -> None:
        """Index all of it. `politely` lets other threads run in between."""
        while self.step():
            if politely:
                time.sleep(0)

    def close(self) -> None:
        """Free the file; a worker that is indexing it stops at its next step."""
        with self._working:
            self._is_closed = True
            for file in (self._scanner, self._lines):
                if file is not None:
                    file.close()
            self._scanner = self._lines = None

    # The tree's port.

    def find(self, entry_id: str) -> Entry | None:
        self.complete()
        position = self.index.find(entry_id)
        return None if position is None else self.entry_at(position)

    def last_id(self, *, before: str) -> str | None:
        self.complete()
        at = len(self.index) - 1
        if at >= 0 and self.id_at(at) == before:
            at = self._before(at)
        return self.id_at(at) if at >= 0 else None

    def parent_of(self, entry: Entry) -> str | None:
        self.complete()
        position = self.index.find(entry.id)
        parent = UNKNOWN if position is None else self.index.parents[position]
        return self.id_at(parent) if parent >= 0 else self.behind.get(position or 0)

    def is_damaged(self) -> bool:
        self.complete()
        return self._reader.lost

    def first_of(self, entry_ids: Iterable[str]) -> str:
        self.complete()
        return min(entry_ids, key=lambda entry_id: self.index.find(entry_id) or 0)

    def size(self) -> int:
        """How many positions there are; those of entries that came again count nothing."""
        self.complete()
        return len(self.index)

    # By position.

    def id_at(self, position: int) -> str:
        known = self._ids.get(position)
        return known if known is not None else self._links_in(self._raw_at(position), position)[0]

    def entry_at(self, position: int) -> Entry:
        entry = read_entry(self._raw_at(position, exact=True))
        if entry is None:
            raise EntryNotFound(f"#{position}")
        self._note_id(position, entry.id)
        return entry

    def objects_at(self, positions: Iterable[int]) -> list[JsonObject]:
        """What `entry_at` gives as `raw`, without making entries of it: five times as fast."""
        with self._working, storage_errors(self._path):
            return [self._object_at(position) for position in positions]

    def _object_at(self, position: int) -> JsonObject:
        raw = self._record_at(position, exact=True)
        return with_text_ids(raw, self._links_in(raw, position))

    def _links_in(self, raw: JsonObject, position: int) -> tuple[str, str | None]:
        links = entry_links(raw)
        if links is None:
            raise EntryNotFound(f"#{position}")
        self._note_id(position, links[0])
        return links

    def _note_id(self, position: int, entry_id: str) -> None:
        if len(self._ids) >= _IDS_KEPT:
            self._ids.clear()
        self._ids[position] = entry_id

    def note_duplicate(self, entry_id: str, line: int | None = None) -> None:
        self._reader.note_duplicate(entry_id, line)

    def position_of(self, entry_id: str) -> int | None:
        self.complete()
        return self.index.find(entry_id)

    def is_on_path(self, entry_id: str, leaf_id: str) -> bool:
        """Whether `entry_id` is `leaf_id` or above it, found without reading the entries between."""
        wanted, marks = self.position_of(entry_id), bytearray(len(self.index))
        self.mark_path(leaf_id, marks)
        return wanted is not None and bool(marks[wanted])

    def mark_path(self, leaf_id: str, marks: bytearray) -> str | None:
        """Set the byte of each position that is `leaf_id` or above it, up to one that is set already.

        Gives the id of the last that was set; None when none was.
        """
        top, at = None, self.position_of(leaf_id)
        while at is not None and at >= 0 and not marks[at]:
            marks[at] = 1
            top, at = at, self.index.parents[at]
        return None if top is None else self.id_at(top)

    def _raw_at(self, position: int, *, exact: bool = False) -> JsonObject:
        with self._working, storage_errors(self._path):
            return self._record_at(position, exact=exact)

    def _record_at(self, position: int, *, exact: bool) -> JsonObject:
        if self._lines is None:
            self._lines = open(self._path, "rb")  # noqa: SIM115 - kept open until close()
        offset = self.index.offsets[position]
        line_at, number = offset >> _RECORD_BITS, offset & _RECORD_MASK
        if (records := self._joined.get((line_at, exact))) is None:
            self._lines.seek(line_at)
            records = read_line(self._lines.readline().rstrip(b"\r\n"), exact=exact)[0]
            if len(records) > 1:
                self._joined = {(line_at, exact): records}
        if number >= len(records):
            raise OSError(errno.ESTALE, "the session file was replaced or cut by another program")
        return records[number]

    def _index_lines(self, budget: int) -> None:
        if self._scanner is None:
            self._scanner = open(self._path, "rb", buffering=_STEP_BYTES)  # noqa: SIM115 - kept open between steps
        stop = min(self._at + budget, self._end)
        while self._at < stop:
            line, length = bounded_line(self._scanner)
            if not line:
                # The file was cut behind our back; the next append says so.
                self._end = self._at
                return
            self._index_line(line)
            self._at += length

    def _index_line(self, line: bytes) -> None:
        for number, record in enumerate(self._reader.read(line.removesuffix(b"\n"))):
            raw = record.raw
            if raw["type"] == "session":
                if self._has_header:
                    self._reader.note_extra_header(record)
                self._has_header = True
                continue
            links = entry_links(raw)
            if links is None:
                self._reader.refuse(record)
                continue
            entry_id, parent_id = links
            position = len(self.index)
            before = self.index.add(entry_id, parent_id, self._at << _RECORD_BITS | min(number, _RECORD_MASK))
            if before is not None:
                self.note_duplicate(entry_id, record.line)
                self._orphans.pop(before, None)
            if parent_id is not None and self.index.parents[position] == UNKNOWN:
                self._orphans[position] = (parent_id, self._before(position) if self._reader.lost else UNKNOWN)
            self._note_names(raw)

    def _before(self, position: int) -> int:
        """The nearest earlier entry; ROOT where there is none."""
        before = position - 1
        while before >= 0 and self.index.parents[before] == DEAD:
            before -= 1
        return before

    def _note_names(self, raw: JsonObject) -> None:
        if raw["type"] not in ("label", "session_info"):
            return
        entry = read_entry(raw)
        if isinstance(entry, LabelEntry):
            self.labels[entry.target_id] = entry
        elif isinstance(entry, SessionInfoEntry):
            self.name_entry = entry

    def _finish(self) -> None:
        """Find the parents that stood behind their children, and bridge the gaps that damage left."""
        for position, (parent_id, before) in self._orphans.items():
            found = self.index.find(parent_id)
            if found is not None:
                self.index.hang(position, found)
                continue
            self.strays.setdefault(parent_id, []).append(position)
            if before != UNKNOWN:
                self.index.hang(position, before)
        self._orphans.clear()
        if self._scanner is not None:
            self._scanner.close()
            self._scanner = None
        # Here, where it costs nobody anything: the first question would have to wait for it.
        self.index.settle()
        self.index.child_counts()
        self.is_complete = True


_RECORD_BITS = 20
_RECORD_MASK = (1 << _RECORD_BITS) - 1
# A line can hold many glued records (a program that forgot its newlines); which one an entry is shares the offset's
# 64 bits. A million in one line, in a file of 16 TiB.
