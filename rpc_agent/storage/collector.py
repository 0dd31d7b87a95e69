"""When Python looks for cycles in what sessions are made of: not while they are loaded, and after they are closed.

Its state is the whole process's, so this is too.
"""

import contextlib
import gc
import time
from collections.abc import Iterator

_CLOSED_SESSIONS = 16
_CLOSED_BYTES = 16 * 1024 * 1024
"""Of closed sessions that may wait to be freed: a look at everything that is open takes tens of milliseconds."""


_REST = 4
"""Times as long as a look took nobody looks again: where many close at once, as at the end, it is not for that."""


class _Closed:
    sessions = 0
    bytes = 0
    not_before = 0.0


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """Loading makes many objects and no garbage; letting the collector look at them multiplies the time.

    Afterwards it leaves alone what there is: a walk through the entries of a long session would stop everything for a
    tenth of a second now and then.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.freeze()
            gc.enable()


def session_closed(size: int) -> None:
    """A session of `size` bytes was closed. Every so often what is left of closed ones is freed.

    Whatever is in a cycle when another session is loaded would stay for ever otherwise.
    """
    _Closed.sessions += 1
    _Closed.bytes += size
    is_much = _Closed.sessions >= _CLOSED_SESSIONS or _Closed.bytes >= _CLOSED_BYTES
    started = time.monotonic()
    if not is_much or started < _Closed.not_before or not gc.get_freeze_count():
        return
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    now = time.monotonic()
    _Closed.sessions = _Closed.bytes = 0
    _Closed.not_before = now + _REST * (now - started)
