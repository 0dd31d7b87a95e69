"""Signals that come before anybody can act on them: the system keeps them meanwhile. On Windows they act at once.

On the path to the first answer: `signal` is all it imports.
"""

import signal
import sys

_HANGUP = getattr(signal, "SIGHUP", None)
ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT, *((_HANGUP,) if _HANGUP is not None else ()))
"""What tells a process to end."""


def hold_ending_signals() -> None:
    """From now on they wait, until `release_ending_signals`; they also do in threads and children begun meanwhile."""
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)


def release_ending_signals() -> None:
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING_SIGNALS)
