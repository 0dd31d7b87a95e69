"""The process's own stdin and stdout, taken away from everybody else. Knows descriptors and nothing of messages."""

import os
import sys


def claim_stdio() -> tuple[int, int]:
    """Take the real stdin and stdout: (input descriptor, output descriptor), which no child inherits.

    From now on prints and child processes write to stderr, and children read an empty stdin. To be called before
    anything is opened (an event loop too): a descriptor that was closed from the start becomes the null device, but
    only if nothing else has taken its number.
    """
    for fd in (0, 1, 2):
        _open_if_closed(fd)
    input_fd, output_fd = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415 - exists on Windows only

        msvcrt.setmode(input_fd, os.O_BINARY)
        msvcrt.setmode(output_fd, os.O_BINARY)
    return input_fd, output_fd


def _open_if_closed(fd: int) -> None:
    try:
        os.fstat(fd)
    except OSError:
        # The lowest free number is given, and those below are taken.
        os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
