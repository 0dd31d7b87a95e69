"""Turns the bytes a program writes for a terminal into text for a model. Pure; takes them in pieces of any size."""

import codecs
import re

_ESCAPE = re.compile(
    r"\x1b(?:"
    r"\[[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"  # titles, links and other strings
    r"|[ -/]*[0-~]"  # character sets, single commands
    r")"
)
_OPEN_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)\Z")

_LONGEST_ESCAPE = 4096
"""What has not ended by then is no control sequence but a program's own data."""

_CONTROLS = {code: None for code in (*range(0x20), 0x7F) if chr(code) not in "\t\n\r"}


class TerminalText:
    """Feed it bytes, get text: UTF-8 with U+FFFD for the rest, CR LF as LF, no colours and no control characters."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._open_escape = ""
        self._return = ""
        """A carriage return that a line feed may still follow."""

    def feed(self, data: bytes) -> str:
        """The text so far complete; a sequence that may go on is held back until the next call."""
        text = self._open_escape + self._decode(data)
        cut = _open_end(text)
        self._open_escape = text[cut:]
        plain = self._return + _plain(text[:cut])
        self._return = "\r" if plain.endswith("\r") else ""
        return plain.removesuffix("\r").replace("\r\n", "\n")

    def finish(self) -> str:
        text = self._open_escape + self._decode(b"", True)
        plain = self._return + _plain(text)
        self._open_escape = self._return = ""
        return plain.replace("\r\n", "\n")


def _open_end(text: str) -> int:
    open_escape = _OPEN_ESCAPE.search(text, max(0, len(text) - _LONGEST_ESCAPE))
    return open_escape.start() if open_escape else len(text)


def _plain(text: str) -> str:
    return (_ESCAPE.sub("", text) if "\x1b" in text else text).translate(_CONTROLS)
