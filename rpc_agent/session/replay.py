"""Bytes of a session file -> its records, every damage noted once. Reads all there is and judges no entry.

`read_session` is the whole of opening a file that fits into memory: records, migration, tree.
"""

from collections.abc import Callable, Iterator

from msgspec import Struct, field

from rpc_agent.conversation.json_values import JsonObject, as_text
from rpc_agent.errors import SessionUnreadable
from rpc_agent.session.entries import SESSION_VERSION, has_null_content, read_entry
from rpc_agent.session.line_reader import NOT_A_RECORD, NULL_CONTENT, TORN_TAIL, UNREADABLE, Problem, read_line
from rpc_agent.session.migrations import migrate, version_of
from rpc_agent.session.tree import SessionTree
from rpc_agent.session.warnings import SessionWarning, WarningList


class Record(Struct, frozen=True):
    """One JSON object of the file. `line` counts from 1 (0 where it is unknown); `after_loss` says that something
    before it could not be read."""

    raw: JsonObject
    line: int
    after_loss: bool


class RecordReader(Struct):
    """Takes lines in file order and gives their records; collects warnings over all of them."""

    exact: bool = True
    lines: int = 0
    lost: bool = False
    has_crlf: bool = False
    warnings: WarningList = field(default_factory=WarningList)

    def read(self, line: bytes, *, ended: bool = True) -> list[Record]:
        """The records of the next line; `ended` says whether a newline follows it."""
        self.lines += 1
        if line.endswith(b"\r") and ended:
            self.has_crlf = True
            line = line[:-1]
        raws, problems = read_line(line, exact=self.exact)
        for problem in problems:
            self._note(TORN_TAIL if problem is UNREADABLE and not ended else problem)
        if b"null" in line and any(map(has_null_content, raws)):
            self._note(NULL_CONTENT)
        return [Record(raw, self.lines, self.lost) for raw in raws]

    def refuse(self, record: Record) -> None:
        """Note that a record is no entry; whatever hung from it has lost its parent."""
        self.lost = True
        self.warnings.add(NOT_A_RECORD.kind, NOT_A_RECORD.message, record.line)

    def note_duplicate(self, entry_id: str, line: int | None) -> None:
        message = f"Entry {entry_id} stands in the file more than once; the last one counts."
        self.warnings.add("duplicateId", message, line)

    def note_extra_header(self, record: Record) -> None:
        self.warnings.add("extraHeader", "A second session header was skipped.", record.line)

    def all_warnings(self) -> list[SessionWarning]:
        found = self.warnings.all()
        if self.has_crlf:
            # No count: the front and the tail of a large file are read apart, and one cause is one warning.
            found.append(SessionWarning("crlf", "Lines end in CR LF; they were read as if they ended in LF."))
        return found

    def _note(self, problem: Problem) -> None:
        self.lost = self.lost or problem.lost
        self.warnings.add(problem.kind, problem.message, self.lines)


class LoadedSession(Struct):
    """A whole session in memory. `ends_with_newline` is False when the next append has to begin with one."""

    header: JsonObject
    tree: SessionTree
    warnings: list[SessionWarning]
    ends_with_newline: bool
    migrated: bool


def read_session(data: bytes, *, draw_id: Callable[[], str]) -> LoadedSession:
    """Load a session file that is not empty. `draw_id` gives ids to the entries of version 1 files.

    Raises SessionUnreadable when the first readable record is no session header.
    """
    reader = RecordReader()
    records = list(read_records(data, reader))
    header = take_header(records)
    migrated = version_of(header) < SESSION_VERSION
    if migrated:
        header, records = _migrated(header, records, draw_id)
    tree = SessionTree()
    add_records(tree, records, reader)
    tree.note_broken_links()
    warnings = reader.all_warnings()
    return LoadedSession(header, tree, warnings, data.endswith(b"\n"), migrated)


def read_records(data: bytes, reader: RecordReader) -> Iterator[Record]:
    for line, ended in split_lines(data):
        yield from reader.read(line, ended=ended)


def split_lines(data: bytes) -> Iterator[tuple[bytes, bool]]:
    """Each line without its newline, and whether it had one."""
    at = 0
    while (end := data.find(b"\n", at)) >= 0:
        yield data[at:end], True
        at = end + 1
    if at < len(data):
        yield data[at:], False


def take_header(records: list[Record]) -> JsonObject:
    """Take the header off the front of the records. Raises SessionUnreadable."""
    if not records or not is_header(records[0].raw):
        raise SessionUnreadable(
            "The file does not begin with a session header, so it is not a session or its beginning is lost. "
            "It was left as it is; restore the first line from a copy to open it."
        )
    return records.pop(0).raw


def is_header(raw: JsonObject) -> bool:
    return raw.get("type") == "session" and bool(as_text(raw.get("id")))


def add_records(tree: SessionTree, records: list[Record], reader: RecordReader) -> None:
    """Hang the entries among the records into the tree; what is no entry is noted."""
    refused = False
    for record in records:
        if record.raw.get("type") == "session":
            reader.note_extra_header(record)
            continue
        entry = read_entry(record.raw)
        if entry is None:
            reader.refuse(record)
            refused = True
            continue
        if tree.has(entry.id):
            reader.note_duplicate(entry.id, record.line)
        # The reader has been to the end of the file by now: what it lost behind this entry was not its parent.
        tree.add(entry, after_loss=record.after_loss or refused)
    tree.is_damaged = tree.is_damaged or reader.lost


def _migrated(header: JsonObject, records: list[Record], draw_id: Callable[[], str]) -> tuple[JsonObject, list[Record]]:
    raws = [header, *(record.raw for record in records)]
    new_header, *new_raws = migrate(raws, draw_id=draw_id)
    moved = zip(records, new_raws, strict=True)
    return new_header, [Record(raw, old.line, old.after_loss) for old, raw in moved]
