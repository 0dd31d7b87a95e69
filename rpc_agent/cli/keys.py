"""Single keys of a terminal, by name, without the need to press Enter. Gives no key a meaning."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

if sys.platform == "win32":
    import msvcrt
else:
    import select
    import termios
    import tty

Key = str
"""A character, or one of: up down left right home end page-up page-down enter escape backspace ctrl-c ctrl-d.
"" is a key that has no name here."""

# A terminal sends the bytes of an arrow key at once; a person who presses Escape sends nothing after it.
_ESCAPE_SECONDS = 0.1
_SEQUENCES = {
    "A": "up",
    "B": "down",
    "C": "right",
    "D": "left",
    "H": "home",
    "F": "end",
    "1~": "home",
    "7~": "home",
    "4~": "end",
    "8~": "end",
    "5~": "page-up",
    "6~": "page-down",
}
_CONTROLS = {"\r": "enter", "\n": "enter", "\x03": "ctrl-c", "\x04": "ctrl-d", "\x7f": "backspace", "\x08": "backspace"}


def name_of(typed: str) -> Key:
    """The key that sent these characters, which begin with Escape when there are several."""
    if typed == "\x1b":
        return "escape"
    if typed[:2] in ("\x1b[", "\x1bO"):
        return _SEQUENCES.get(typed[2:], "")
    return _CONTROLS.get(typed, typed if len(typed) == 1 and typed.isprintable() else "")


if sys.platform == "win32":
    _WINDOWS = {
        "H": "up",
        "P": "down",
        "K": "left",
        "M": "right",
        "G": "home",
        "O": "end",
        "I": "page-up",
        "Q": "page-down",
    }

    @contextmanager
    def keys_of(descriptor: int) -> Iterator[Iterator[Key]]:
        """Keys as they are pressed, without echo, until the context ends."""
        yield _windows_keys()

    def _windows_keys() -> Iterator[Key]:
        while True:
            typed = msvcrt.getwch()
            yield _WINDOWS.get(msvcrt.getwch(), "") if typed in ("\x00", "\xe0") else name_of(typed)

else:

    @contextmanager
    def keys_of(descriptor: int) -> Iterator[Iterator[Key]]:
        """Keys as they are pressed, without echo, until the context ends. Ctrl-C is a key too; the end of input too."""
        earlier = termios.tcgetattr(descriptor)
        try:
            # Not the usual flush: what was typed ahead counts.
            tty.setcbreak(descriptor, termios.TCSADRAIN)
            mode = termios.tcgetattr(descriptor)
            mode[3] &= ~termios.ISIG
            termios.tcsetattr(descriptor, termios.TCSADRAIN, mode)
            yield _posix_keys(descriptor)
        finally:
            termios.tcsetattr(descriptor, termios.TCSADRAIN, earlier)

    def _posix_keys(descriptor: int) -> Iterator[Key]:
        while data := os.read(descriptor, 1):
            typed = data.decode("latin-1")
            if typed == "\x1b":
                typed += _rest_of_sequence(descriptor)
            yield name_of(typed)
        yield "ctrl-d"

    def _rest_of_sequence(descriptor: int) -> str:
        """What follows Escape: `[` or `O`, numbers, and the letter or tilde that ends it."""
        rest = ""
        while select.select([descriptor], [], [], _ESCAPE_SECONDS)[0]:
            rest += os.read(descriptor, 1).decode("latin-1")
            if rest[0] not in "[O" or (len(rest) > 1 and (rest[-1].isalpha() or rest[-1] == "~")):
                break
        return rest
