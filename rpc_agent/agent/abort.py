"""The stop signal of a run: it interrupts whatever the run waits for, and stays given.

An abort is a value here, not an exception: the interrupted step ends early, and the code after it runs on to store
the partial answer and to tell the client. Only the interruptible part of a step is cancelled.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import anyio


class Abort:
    """`requested` turns true once and never back; a run gets a new Abort."""

    def __init__(self) -> None:
        self.requested = False
        self._scopes: set[anyio.CancelScope] = set()

    def request(self) -> None:
        self.requested = True
        for scope in tuple(self._scopes):
            scope.cancel()

    @contextmanager
    def interruptible(self) -> Iterator[anyio.CancelScope]:
        """A block that an abort leaves early, without an exception; entered after an abort its first await ends it."""
        with anyio.CancelScope() as scope:
            self._scopes.add(scope)
            if self.requested:
                scope.cancel()
            try:
                yield scope
            finally:
                self._scopes.discard(scope)
