"""Puts text on a terminal, or in a pipe: width, colour, a progress line, and no control characters of others."""

import contextlib
import os
import shutil
import sys
import unicodedata
from collections.abc import Callable, Mapping
from itertools import accumulate
from typing import Literal, TextIO

from rpc_agent.cli.controls import printable

Style = Literal["plain", "bold", "dim", "good", "bad", "note"]
_CODES = {"plain": "", "bold": "1", "dim": "2", "good": "32", "bad": "31", "note": "36"}
_FALLBACK_WIDTH, _FALLBACK_ROWS = 80, 24


class Terminal:
    """One output stream. Colour and moving progress only where a person looks at it; NO_COLOR is obeyed."""

    def __init__(self, stream: TextIO, environment: Mapping[str, str], *, width: int | None = None) -> None:
        self._stream = stream
        self.is_tty = stream.isatty()
        dumb = environment.get("TERM") == "dumb"
        self.has_colour = (
            self.is_tty and not dumb and not environment.get("NO_COLOR") and _understands_colour(environment)
        )
        self.moves = self.is_tty and not dumb
        """Whether the cursor can be sent back, so that what was written can be replaced."""
        self._progress = ""
        self._column_zero = True
        self.fault: OSError | None = None
        """Why nothing is written any more: the reader went away (`| head`), or the disk is full. The work may end."""
        self._fixed_width = width
        self.unicode = (stream.encoding or "").lower().replace("-", "") == "utf8"

    @property
    def width(self) -> int:
        """Columns, as wide as the window is now; a pipe has 80."""
        return self._fixed_width or self._size().columns

    @property
    def rows(self) -> int:
        return self._size().lines

    def write(self, text: str, style: Style = "plain") -> None:
        """Text as it is, without a newline of ours; shown at once."""
        if not text:
            return
        self._clear_progress()
        self._put(self.styled(printable(text), style))
        self._column_zero = text.endswith("\n")

    def line(self, text: str = "", style: Style = "plain") -> None:
        """A line of its own, whatever was written before."""
        self.fresh_line()
        self.write(text + "\n", style) if text else self.write("\n")

    def fresh_line(self) -> None:
        if not self._column_zero:
            self.write("\n")

    def progress(self, text: str) -> None:
        """A line that the next output replaces. A pipe does not get it."""
        if not self.moves:
            return
        self.fresh_line()
        self._clear_progress()
        self._progress = self.clipped(printable(text))
        self._put(self.styled(self._progress, "dim"))

    def clipped(self, text: str, width: int | None = None) -> str:
        """`text` on one line, cut with an ellipsis where it is longer than the terminal is wide."""
        room = (width or self.width) - 1
        # A tab is one character and up to eight columns.
        one_line = " ".join(text.split()) if "\n" in text else text.expandtabs()
        return one_line if columns(one_line) <= room else _beginning(one_line, room - 3) + "..."

    def styled(self, text: str, style: Style) -> str:
        if not self.has_colour or style == "plain":
            return text
        # The line's end stays outside, or some terminals colour the next line too.
        body = text.removesuffix("\n")
        return f"\x1b[{_CODES[style]}m{body}\x1b[0m{text[len(body) :]}"

    def glyph(self, unicode_form: str, ascii_form: str) -> str:
        return unicode_form if self.unicode else ascii_form

    def erase_lines(self, count: int) -> None:
        """Take back the last `count` lines, each of them shorter than the terminal is wide. Only where it `moves`."""
        self._put(f"\x1b[{count}A\r\x1b[J")

    def _size(self) -> os.terminal_size:
        if not self.is_tty:
            return os.terminal_size((_FALLBACK_WIDTH, _FALLBACK_ROWS))
        return shutil.get_terminal_size((_FALLBACK_WIDTH, _FALLBACK_ROWS))

    def _clear_progress(self) -> None:
        if self._progress:
            # Overwritten with blanks rather than erased: every terminal can do that.
            blank, self._progress = "\r" + " " * columns(self._progress) + "\r", ""
            self._put(blank)

    def _put(self, text: str) -> None:
        """Raises OSError, but not for a reader that went away."""
        if self.fault is not None:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError as error:
            self.fault = error
            # What is still buffered must go somewhere when Python ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
            if not isinstance(error, BrokenPipeError):
                raise


def raw_messages(out: Terminal) -> Callable[[str, bytes], None]:
    """What a client is to do with its traffic: print it. Raises nothing, for a client has other work; see `fault`."""

    def show(_direction: str, body: bytes) -> None:
        with contextlib.suppress(OSError):
            out.line(body.decode("utf-8", "replace"))

    return show


def standard_output() -> Terminal:
    return _terminal(sys.stdout)


def standard_error() -> Terminal:
    return _terminal(sys.stderr)


def columns(text: str) -> int:
    """How wide `text` is on a terminal: a Chinese character or an emoji takes two columns, a loose accent none."""
    return len(text) if text.isascii() else sum(map(_columns_of, text))


def _beginning(text: str, room: int) -> str:
    """As much of `text` as fits into `room` columns."""
    widths = accumulate(map(_columns_of, text))
    return text[: sum(1 for width in widths if width <= room)]


def _columns_of(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _terminal(stream: TextIO) -> Terminal:
    if hasattr(stream, "reconfigure"):
        # A name or an answer that the terminal's encoding lacks must not end the program.
        stream.reconfigure(errors="replace")
    return Terminal(stream, os.environ)


def _understands_colour(environment: Mapping[str, str]) -> bool:
    # The old Windows console prints escapes as they are; what replaced it says who it is.
    return sys.platform != "win32" or bool(environment.get("WT_SESSION") or environment.get("TERM"))
