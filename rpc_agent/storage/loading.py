"""Opens what is on disk, whole or from its tail, and gives it as a tree. Writes only when a format is migrated."""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct, field

from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.errors import SessionUnreadable
from rpc_agent.session.entries import SESSION_VERSION
from rpc_agent.session.json_lines import write_json
from rpc_agent.session.migrations import version_of
from rpc_agent.session.replay import LoadedSession, Record, add_records, is_header, read_session, take_header
from rpc_agent.session.tree import SessionTree
from rpc_agent.session.warnings import SessionWarning
from rpc_agent.storage import collector
from rpc_agent.storage.file_head import FileHead
from rpc_agent.storage.file_header import first_records
from rpc_agent.storage.file_tail import read_tail
from rpc_agent.storage.long_lines import LONGEST_LINE
from rpc_agent.storage.session_file import keep_original, read_range, replace_file, storage_errors

WHOLE_FILE_LIMIT = 2 * 1024 * 1024
"""Bytes. Up to here reading everything takes no longer than a blink, and all questions are answered from memory."""
_TAIL_SHARE = 16
# Times the limit above: 32 MiB. Further back an index (a fiftieth of the size) is cheaper than keeping everything read.
_MIGRATED_LIMIT = 512 * 1024 * 1024
"""Bytes. Programs of those days wrote no such files, and all of it would have to be in memory, several times."""
_NOTHING_LOST = {"blankLine", "crlf", "bom", "joinedLine", "nullContent"}
"""Kinds of warnings about lines whose every record comes out as it was."""


class Loaded(Struct):
    """A session as it was found. `head` is what lies before the tree's entries, None when the tree has them all; the
    lines in `warnings` count from where it ends."""

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
    with storage_errors(path), collector.paused():
        size = path.stat().st_size
        if size > whole_limit:
            header = _first_header(path)
            if version_of(header) >= SESSION_VERSION:
                return _load_tail(path, header, size, limit=_TAIL_SHARE * whole_limit)
            _refuse_giant(path, size)
        return _load_whole(path, size, draw_id=draw_id, may_write=may_write)


def session_bytes(header: JsonObject, tree: SessionTree) -> bytes:
    """A whole file: the header and every entry in file order."""
    return b"".join(write_json(raw) + b"\n" for raw in (header, *(entry.raw for entry in tree)))


def _load_whole(path: Path, size: int, *, draw_id: Callable[[], str], may_write: bool) -> Loaded:
    found = read_session(read_range(path, 0, size), draw_id=draw_id)
    if found.migrated and may_write:
        size = _write_migrated(path, found)
    return Loaded(found.header, found.tree, size, warnings=found.warnings)


def _write_migrated(path: Path, found: LoadedSession) -> int:
    """Put the migrated session in the file's place; returns its size. Where that loses a byte of anything, the
    original is kept beside it, and a warning says so."""
    data = session_bytes(found.header, found.tree)
    if {warning.kind for warning in found.warnings} - _NOTHING_LOST:
        kept = keep_original(path)
        message = f"Not all of the old file could be read; it was kept as {kept.name}, and what could be read migrated."
        found.warnings.append(SessionWarning("originalKept", message))
    replace_file(path, data)
    return len(data)


def _load_tail(path: Path, header: JsonObject, size: int, *, limit: int) -> Loaded:
    tail = read_tail(path, size, limit=limit)
    head = FileHead(path, tail.start) if tail.start > 0 else None
    tree = SessionTree(head)
    records = tail.records
    if head is None and records and is_header(records[0].raw):
        records = records[1:]
    add_records(tree, records, tail.reader)
    if head is None:
        tree.note_broken_links()
    return Loaded(header, tree, size, head, tail.reader.all_warnings())


def _first_header(path: Path) -> JsonObject:
    """The header, which the first line that holds anything must be. Raises SessionUnreadable."""
    with open(path, "rb") as file:
        records = first_records(file, LONGEST_LINE)
    if not records:
        raise SessionUnreadable("No line of the file can be read as part of a session. It was left as it is.")
    return take_header([Record(raw, 0, False) for raw in records])


def _refuse_giant(path: Path, size: int) -> None:
    if size > _MIGRATED_LIMIT:
        raise SessionUnreadable(f"{path} is of an old version and too large to be migrated. It was left as it is.")
