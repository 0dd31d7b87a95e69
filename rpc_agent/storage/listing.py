"""The sessions that are there: lists, searches, look-ups by id, deletion. Opens files for reading only.

What a list shows of a file is remembered as long as its status stays, so that a second look costs one stat a file. The
first look at thousands of files takes seconds: an event loop asks through `in_thread`.
"""

import os
import re
import stat
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import anyio.to_thread
from msgspec import Struct

from rpc_agent.conversation.blocks import blocks_text, read_blocks
from rpc_agent.conversation.json_values import JsonObject, as_object, as_text
from rpc_agent.errors import InvalidValue, SessionNotFound, SessionUnreadable
from rpc_agent.session.line_reader import read_line
from rpc_agent.storage.file_header import first_records, header_in
from rpc_agent.storage.paths import SUFFIX, folder_name, id_in_name
from rpc_agent.storage.session_file import lock_session, originals_of, storage_errors

DEFAULT_PAGE = 100
_FIRST_MESSAGE_CHARACTERS = 200
_SCAN_LIMIT = 8 * 1024 * 1024
# Names and counts of larger files are read from their first part only; a list must not read gigabytes.
_NANOSECONDS = re.compile(r"-?[0-9]{1,30}")
"""A file's time of writing; before 1970 it is negative."""
_EPOCH = datetime.fromtimestamp(0, UTC)
_CALENDAR = (-62_135_596_800, 253_402_300_799)
"""Seconds from the epoch to the years 1 and 9999. File systems hold other times too, which no calendar has: one such
file must not take the list away."""


class SessionSummary(Struct, frozen=True):
    """What a list shows. Times are ISO 8601; `message_count` is None where the file was too large to count."""

    id: str
    path: Path
    cwd: str
    created_at: str
    modified_at: str
    bytes: int
    name: str | None
    first_message: str | None
    message_count: int | None

    def to_json(self) -> JsonObject:
        """As list_sessions answers it; what is not known is left out."""
        known = {
            "id": self.id,
            "path": str(self.path),
            "cwd": self.cwd,
            "createdAt": self.created_at,
            "modifiedAt": self.modified_at,
            "bytes": self.bytes,
            "name": self.name,
            "firstMessage": self.first_message,
            "messageCount": self.message_count,
        }
        return {name: value for name, value in known.items() if value is not None}


class SessionList(Struct, frozen=True):
    """`next_cursor` is what to pass as `cursor` for the next page, None when there is none."""

    sessions: list[SessionSummary]
    next_cursor: str | None


Answer = TypeVar("Answer")

_Status = tuple[int, int, int, int]


async def in_thread(look: Callable[[], Answer]) -> Answer:
    """What a question to a SessionDirectory answers; the event loop goes on meanwhile."""
    return await anyio.to_thread.run_sync(look)


class SessionDirectory:
    """The sessions below one sessions dir. Keeps summaries in memory; several threads may look at once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._known: dict[Path, tuple[_Status, SessionSummary | None]] = {}

    def list(
        self,
        *,
        cwd: str | None = None,
        query: str = "",
        cursor: str | None = None,
        limit: int = DEFAULT_PAGE,
    ) -> SessionList:
        """The newest first; of one working directory, or of all for None. `query` searches name, first message, cwd.

        Files that are no sessions are left out. Raises InvalidValue for a cursor that is none of ours.
        """
        found: list[SessionSummary] = []
        start, last = _parse_cursor(cursor), (0, "")
        for key, path, status in sorted(self._files(cwd), reverse=True):
            if start is not None and key >= start:
                continue
            summary = self._summary(path, status)
            if summary is None or not _matches(summary, cwd, query):
                continue
            if len(found) == limit:
                return SessionList(found, f"{last[0]}:{last[1]}")
            found.append(summary)
            last = key
        return SessionList(found, None)

    def latest(self, cwd: str) -> Path:
        """The session of a working directory that was written last. Raises SessionNotFound."""
        newest = self.list(cwd=cwd, limit=1).sessions
        if not newest:
            raise SessionNotFound(f"There is no session of {cwd} yet.", cwd=cwd)
        return newest[0].path

    def find(self, id_prefix: str) -> Path:
        """The file of the session whose id begins so. Raises SessionNotFound, InvalidValue when several do."""
        by_id = {id_in_name(path): path for _, path, _ in self._files(None) if id_in_name(path).startswith(id_prefix)}
        if not by_id or not id_prefix:
            by_id = self._find_by_header(id_prefix)
        if id_prefix in by_id:
            return by_id[id_prefix]
        if len(by_id) > 1:
            raise InvalidValue("id", f"{len(by_id)} sessions begin with {id_prefix!r}; give more of the id")
        if not by_id:
            raise SessionNotFound(f"There is no session whose id begins with {id_prefix!r}.", id=id_prefix)
        return next(iter(by_id.values()))

    def delete(self, path: Path) -> str:
        """Remove a session file of this dir that nobody writes; returns the session's id.

        Raises SessionNotFound, InvalidValue (outside the dir), SessionUnreadable (no session header), SessionLocked.
        """
        with storage_errors(path):
            resolved = path.resolve()
            if not resolved.is_relative_to(self.root.resolve()):
                raise InvalidValue("path", f"only files inside {self.root} can be deleted")
            if not resolved.is_file():
                raise SessionNotFound(f"There is no session file {path}.", path=str(path))
            with open(resolved, "rb") as file:
                header = header_in(first_records(file, _SCAN_LIMIT))
                if header is None:
                    raise SessionUnreadable(f"{path} has no session header, so it was not deleted.", path=str(path))
            with lock_session(resolved):
                for each in (*originals_of(resolved), resolved):
                    each.unlink()
            self._known.pop(resolved, None)
        return as_text(header.get("id"))

    def _find_by_header(self, id_prefix: str) -> dict[str, Path]:
        """For files that somebody renamed."""
        if not id_prefix:
            return {}
        summaries = (self._summary(path, status) for _, path, status in self._files(None))
        return {each.id: each.path for each in summaries if each is not None and each.id.startswith(id_prefix)}

    def _files(self, cwd: str | None) -> Iterator[tuple[tuple[int, str], Path, os.stat_result]]:
        folders = [self.root / folder_name(cwd)] if cwd is not None else _folders(self.root)
        for folder in folders:
            try:
                scanned = _scan(folder)
            except OSError:
                if cwd is not None or folder == self.root:
                    raise
                # As with a file: one that cannot be read must not hide the others.
                continue
            for entry in scanned:
                if not entry.name.endswith(SUFFIX):
                    continue
                try:
                    status = entry.stat()
                except OSError:
                    # Gone meanwhile, or a link in a circle: one odd name must not take all the others away.
                    continue
                if stat.S_ISREG(status.st_mode):
                    yield (status.st_mtime_ns, entry.path), Path(entry.path), status

    def _summary(self, path: Path, status: os.stat_result) -> SessionSummary | None:
        # Number and time of change, too: who copies or swaps files can leave size and time of writing as they were.
        seen = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        known = self._known.get(path)
        if known is not None and known[0] == seen:
            return known[1]
        try:
            summary = _read_summary(path, status)
        except OSError:
            # One file that cannot be read must not hide the others; it may be the next time.
            return None
        self._known[path] = (seen, summary)
        return summary


def _folders(root: Path) -> list[Path]:
    # Path.is_dir, unlike an entry's, says no to a link in a circle.
    return [root, *(place for entry in _scan(root) if (place := Path(entry.path)).is_dir())]


def _scan(folder: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _read_summary(path: Path, status: os.stat_result) -> SessionSummary | None:
    with open(path, "rb") as file:
        records = first_records(file, _SCAN_LIMIT)
        header = header_in(records)
        if header is None:
            return None
        content = _Content()
        for raw in records[1:]:
            content.take_record(raw)
        while file.tell() < _SCAN_LIMIT and (line := file.readline(_SCAN_LIMIT)):
            content.take(line)
    modified = _EPOCH + timedelta(seconds=min(max(status.st_mtime, _CALENDAR[0]), _CALENDAR[1]))
    return SessionSummary(
        id=as_text(header.get("id")),
        path=path,
        cwd=as_text(header.get("cwd")),
        created_at=as_text(header.get("timestamp")),
        modified_at=modified.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        bytes=status.st_size,
        name=content.name,
        first_message=content.first_message,
        message_count=content.messages if status.st_size <= _SCAN_LIMIT else None,
    )


class _Content:
    """What the lines behind a header say about a session as a whole."""

    def __init__(self) -> None:
        self.name: str | None = None
        self.first_message: str | None = None
        self.messages = 0

    def take(self, line: bytes) -> None:
        # Counting lines as messages by a search is ten times faster than parsing thousands of files.
        is_message = line.startswith(b'{"type":"message"') or line.startswith(b'{"type": "message"')
        if is_message and self.first_message is not None and line.rstrip().endswith(b"}"):
            self.messages += 1
            return
        if not is_message and b"session_info" not in line and b"message" not in line:
            return
        for raw in read_line(line.rstrip(b"\r\n"), exact=False)[0]:
            self.take_record(raw)

    def take_record(self, raw: JsonObject) -> None:
        if raw["type"] == "session_info":
            self.name = as_text(raw.get("name")).strip() or None
        elif raw["type"] == "message":
            self.messages += 1
            message = as_object(raw.get("message"))
            if self.first_message is None and message.get("role") == "user":
                self.first_message = _opening(message.get("content"))


def _opening(content: Any) -> str:
    text = content if isinstance(content, str) else blocks_text(read_blocks(content))
    return " ".join(text[: 2 * _FIRST_MESSAGE_CHARACTERS].split())[:_FIRST_MESSAGE_CHARACTERS]


def _matches(summary: SessionSummary, cwd: str | None, query: str) -> bool:
    # Two working directories can share a folder: both "/a/b" and "/a-b" become "--a-b--".
    if cwd is not None and summary.cwd != cwd:
        return False
    haystack = "\n".join((summary.name or "", summary.first_message or "", summary.cwd))
    return query.casefold() in haystack.casefold()


def _parse_cursor(cursor: str | None) -> tuple[int, str] | None:
    if cursor is None:
        return None
    time, colon, path = cursor.partition(":")
    if not colon or not _NANOSECONDS.fullmatch(time):
        raise InvalidValue("cursor", "this is no cursor of list_sessions; begin again without one")
    return int(time), path
