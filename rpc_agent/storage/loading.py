"""Opens what is on disk, whole or from its tail, and gives it as a tree. Writes only when a format is migrated."""

import contextlib
import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.errors import SessionUnreadable
from rpc_agent.session.entries import SESSION_VERSION
from rpc_agent.session.json_lines import write_json
from rpc_agent.session.line_reader import BOM, read_line
from rpc_agent.session.migrations import version_of
from rpc_agent.session.replay import add_records, is_header, read_session
from rpc_agent.session.tree import SessionTree
from rpc_agent.session.warnings import SessionWarning
from rpc_agent.storage.file_head import FileHead
from rpc_agent.storage.file_tail import read_tail
from rpc_agent.storage.session_file import read_range, replace_file, storage_errors

WHOLE_FILE_LIMIT = 2 * 1024 * 1024
"""Bytes. Up to here reading everything takes no longer than a blink, and all questions are answered from memory."""


@dataclass(slots=True)
class Loaded:
    """A session as it was found. `head` is what lies before the tree's entries, None when the tree has them all."""

    header: JsonObject
    tree: SessionTree
    size: int
    head: FileHead | None = None
    warnings: list[SessionWarning] = field(default_factory=list)

    @property
    def is_future(self) -> bool:
        """A later program wrote it; we can read what we know, and must not write."""
        return version_of(self.header) > SESSION_VERSION


def load(path: Path, *, draw_id: Callable[[], str], may_write: bool, whole_limit: int = WHOLE_FILE_LIMIT) -> Loaded:
    """Load a file that is not empty. Old versions are migrated, on disk too if `may_write`.

    Raises SessionUnreadable, StorageFailed.
    """
    with storage_errors(path), _collector_paused():
        size = path.stat().st_size
        if size > whole_limit:
            header = _first_header(path, size)
            if header is not None and version_of(header) >= SESSION_VERSION:
                return _load_tail(path, header, size)
        return _load_whole(path, size, draw_id=draw_id, may_write=may_write)


def session_bytes(header: JsonObject, tree: SessionTree) -> bytes:
    """A whole file: the header and every entry in file order."""
    return b"".join(write_json(raw) + b"\n" for raw in (header, *(entry.raw for entry in tree)))


def _load_whole(path: Path, size: int, *, draw_id: Callable[[], str], may_write: bool) -> Loaded:
    found = read_session(read_range(path, 0, size), draw_id=draw_id)
    if found.migrated and may_write:
        data = session_bytes(found.header, found.tree)
        replace_file(path, data)
        size = len(data)
    return Loaded(found.header, found.tree, size, warnings=found.warnings)


def _load_tail(path: Path, header: JsonObject, size: int) -> Loaded:
    tail = read_tail(path, size)
    head = FileHead(path, tail.start) if tail.start > 0 else None
    tree = SessionTree(head)
    records = tail.records
    if head is None and records and is_header(records[0].raw):
        records = records[1:]
    add_records(tree, records, tail.reader)
    if head is not None and not len(tree):
        # Nothing in the tail is an entry (a hole of many megabytes, say): the front has all there is.
        return _load_whole(path, size, draw_id=_no_id, may_write=False)
    warnings = tail.reader.all_warnings()
    if head is not None:
        # Lines are counted from the front, and the front was not read.
        warnings = [SessionWarning(warning.kind, warning.message) for warning in warnings]
    return Loaded(header, tree, size, head, warnings)


def _first_header(path: Path, size: int) -> JsonObject | None:
    """The header if the first line that holds anything is one. Raises SessionUnreadable when it is something else."""
    with open(path, "rb") as file:
        at = 0
        while at < size:
            line = file.readline()
            at += len(line)
            records, _ = read_line(line.removeprefix(BOM).rstrip(b"\r\n"), exact=True)
            if records:
                return records[0] if is_header(records[0]) else None
    raise SessionUnreadable("No line of the file can be read as part of a session. It was left as it is.")


def _no_id() -> str:
    raise AssertionError("only files of version 1 need ids, and those are read whole")


@contextlib.contextmanager
def _collector_paused() -> Iterator[None]:
    """Loading makes many objects and no garbage; letting the collector look at them multiplies the time.

    Afterwards it leaves them alone for good: a walk through the entries of a long session would stop everything for a
    tenth of a second now and then. Entries hold no cycles, so they go without it when the session is closed.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.freeze()
            gc.enable()
