"""Text of files, models and services made harmless for a terminal. Shows what it takes out; knows no terminal."""

# C0 without tab and newline, DEL, and C1: what could move the cursor or change the terminal.
_CONTROLS = (code for code in (*range(0x20), *range(0x7F, 0xA0)) if code not in (0x09, 0x0A))
# What turns the order of other characters round: a command must be seen as it will run. The marks that languages
# written from right to left need are others.
_TURNS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_TABLE = dict.fromkeys((*_CONTROLS, *_TURNS), "\ufffd")


def printable(text: str) -> str:
    """`text` with control characters made visible: a file or a model must not drive the person's terminal."""
    return text.translate(_TABLE)
