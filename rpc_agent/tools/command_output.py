"""Collects what a command writes: the end of it as text in memory, all of it in a file once it is too much.

Is fed from the reading thread and read from the event loop; every public method takes the lock.
"""

import contextlib
import os
import tempfile
import threading
from typing import BinaryIO

from msgspec import Struct

from rpc_agent.tools.terminal_text import TerminalText
from rpc_agent.tools.truncation import MAX_BYTES, Truncation, truncate_tail, utf8_size

_KEPT_CHARACTERS = 2 * MAX_BYTES
"""More than is ever shown, so that cutting it down to whole lines has something to choose from."""

_MOST_FILE_BYTES = 256 * 1024 * 1024
"""A command that prints for ever must not fill the disk."""


class FullOutput(Struct, frozen=True):
    """The file with the output as it came. Not `complete`: it reached the limit, or the disk was full."""

    path: str
    complete: bool


class CommandOutput:
    """The output of one command. `finish` ends it and must be called, or `discard`.

    `folder` is where the file goes; without it (or if it is not there) the system's folder for such files.
    """

    def __init__(self, folder: str | None = None) -> None:
        self._folder = folder if folder and os.path.isdir(folder) else None
        self._lock = threading.Lock()
        self._text = TerminalText()
        self._tail = ""
        self._unseen = ""
        self._lines = 0
        self._bytes = 0
        self._raw: bytearray | None = bytearray()
        self._file: BinaryIO | None = None
        self._file_path: str | None = None
        self._file_bytes = 0
        self._file_complete = True

    def feed(self, data: bytes) -> None:
        with self._lock:
            self._keep_raw(data)
            self._add(self._text.feed(data))

    def take_new(self) -> str:
        """What came since the last call; of a flood only the newest part."""
        with self._lock:
            new, self._unseen = self._unseen, ""
        return truncate_tail(new).text

    def finish(self) -> tuple[Truncation, FullOutput | None]:
        """The end of the output with the totals of all of it, and the whole when something is missing."""
        with self._lock:
            self._add(self._text.finish())
            shown = truncate_tail(self._tail)
            total_lines = self._lines + (0 if self._tail.endswith("\n") or not self._tail else 1)
            truncated = shown.truncated or self._bytes > shown.total_bytes
            kept = Truncation(
                text=shown.text,
                kept_lines=shown.kept_lines,
                total_lines=total_lines,
                total_bytes=self._bytes,
                truncated=truncated,
                cuts_line=shown.cuts_line,
            )
            return kept, self._close_file(wanted=truncated)

    def discard(self) -> None:
        with self._lock:
            self._close_file(wanted=False)

    def _add(self, text: str) -> None:
        self._lines += text.count("\n")
        self._bytes += utf8_size(text)
        self._tail = (self._tail + text)[-_KEPT_CHARACTERS:]
        self._unseen = (self._unseen + text)[-_KEPT_CHARACTERS:]

    def _keep_raw(self, data: bytes) -> None:
        if self._raw is not None:
            self._raw += data
            if len(self._raw) > MAX_BYTES:
                self._open_file()
        else:
            self._write(data)

    def _open_file(self) -> None:
        raw, self._raw = bytes(self._raw or b""), None
        # A full disk costs the rest of the file, never the command.
        with contextlib.suppress(OSError):
            descriptor, self._file_path = tempfile.mkstemp(".log", "rpc-agent-bash-", self._folder)
            self._file = open(descriptor, "wb")  # noqa: SIM115 - lives until finish or discard
        self._write(raw)

    def _write(self, data: bytes) -> None:
        if self._file is None or not self._file_complete:
            return
        try:
            self._file_bytes += self._file.write(data)
            self._file_complete = self._file_bytes < _MOST_FILE_BYTES
        except OSError:
            self._file_complete = False

    def _close_file(self, *, wanted: bool) -> FullOutput | None:
        if wanted and self._raw is not None:
            self._open_file()
        self._raw = None
        if self._file is not None:
            try:
                self._file.close()
            except OSError:
                self._file_complete = False
            self._file = None
        path = self._file_path
        if path is not None and not wanted:
            self._file_path = None
            with contextlib.suppress(OSError):
                os.unlink(path)
        return FullOutput(path, self._file_complete) if wanted and path is not None else None
