"""How much work something is, whatever else the machine does."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def takes_at_most(seconds: float) -> Iterator[None]:
    """Bounds the processor's time of this thread, so that other work on the machine does not count."""
    begun = time.thread_time()
    yield
    spent = time.thread_time() - begun
    assert spent < seconds, f"{spent:.1f} s of the processor"
