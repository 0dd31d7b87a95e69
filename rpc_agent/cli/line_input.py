"""Lines a person types, with history and editing where the system has them; or lines of a pipe."""

import contextlib
import sys
from typing import TextIO

from rpc_agent.cli.terminal import Terminal

try:
    import readline
except ImportError:  # Windows, whose console edits lines by itself.
    readline = None  # type: ignore[assignment]


class LineInput:
    def __init__(self, source: TextIO, out: Terminal) -> None:
        self._source, self._out = source, out
        self._interactive = source.isatty() and out.is_tty
        self._suggestion = ""

    def suggest(self, text: str) -> None:
        """Have `text` on the next line, to be changed and sent; where lines cannot be edited it is shown."""
        self._suggestion = text

    def read(self, prompt: str) -> str | None:
        """The next line without its end; None at the end of input, and when Ctrl-C is pressed twice."""
        self._offer_suggestion()
        try:
            return self._read(prompt)
        finally:
            self._suggestion = ""
            if self._interactive:
                _preset("")

    def _offer_suggestion(self) -> None:
        if not self._suggestion:
            return
        if not self._interactive or not _preset(self._suggestion):
            self._out.line(f"The message there was: {self._suggestion}", "dim")

    def _read(self, prompt: str) -> str | None:
        if not self._interactive:
            line = self._source.readline()
            return line.rstrip("\r\n") if line else None
        self._out.fresh_line()
        for _ in range(2):
            with contextlib.suppress(EOFError, KeyboardInterrupt):
                return self._ask(prompt)
        return None

    def _ask(self, prompt: str) -> str:
        try:
            return input(prompt)
        except EOFError:
            self._out.line()
            raise
        except KeyboardInterrupt:
            self._out.line("\nCtrl-C again leaves.", "dim")
            raise


def _preset(text: str) -> bool:
    """Have `text` typed already when the next line is asked for; False where the system cannot."""
    if sys.platform == "win32" or readline is None:
        return False
    readline.set_startup_hook((lambda: readline.insert_text(text)) if text else None)
    return True
