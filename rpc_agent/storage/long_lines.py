"""Lines of a session file, none of them so long that reading it takes the machine's memory: a hole of gigabytes costs
whoever makes it nothing."""

from typing import BinaryIO

LONGEST_LINE = 128 * 1024 * 1024
"""Twice the largest message that a client may send, which is the largest of entries."""

TOO_LONG = b"a line too long to be an entry\n"
"""Stands for such a line: it is no JSON, so it counts as one that cannot be read."""

_PIECE = 1024 * 1024


def bounded_line(file: BinaryIO) -> tuple[bytes, int]:
    """The next line, b"" at the end, and how many bytes of the file it takes."""
    pieces: list[bytes] = []
    length = 0
    while piece := file.readline(_PIECE):
        length += len(piece)
        if length <= LONGEST_LINE:
            pieces.append(piece)
        else:
            pieces.clear()
        if piece.endswith(b"\n"):
            break
    return (b"".join(pieces) if length <= LONGEST_LINE else TOO_LONG), length
