"""Keeps a child process from taking all of the memory. Only Linux can be asked for it; elsewhere this does nothing."""

import contextlib
import sys


def limit_memory(pid: int, most_bytes: int) -> None:
    """From now on what the process wants beyond that is refused to it; most programs end then."""
    if sys.platform == "linux":
        import resource  # noqa: PLC0415 - Windows has no such module

        # Gone already, or started by a program with other rights: then there is nothing to limit.
        with contextlib.suppress(OSError, ValueError):
            resource.prlimit(pid, resource.RLIMIT_AS, (most_bytes, most_bytes))
