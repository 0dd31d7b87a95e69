"""What Ctrl-C does at each moment of a program that talks. Knows no server and no terminal."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Self


def leave() -> None:
    """The action that ends what is being done."""
    raise KeyboardInterrupt


class Interrupts:
    """A context: within it a press calls the action of the moment, and at first that is `leave`.

    Actions run in the main thread, between any two steps of it.
    """

    def __init__(self) -> None:
        self._action: Callable[[], None] = leave
        self._kept = False

    def __enter__(self) -> Self:
        self._earlier = signal.signal(signal.SIGINT, self._pressed)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGINT, self._earlier)

    @contextmanager
    def during(self, action: Callable[[], None]) -> Iterator[None]:
        """Within, a press calls `action`; a press that was kept is made up for at once."""
        earlier, self._action = self._action, action
        try:
            if self._kept:
                self._kept = False
                action()
            yield
        finally:
            self._action = earlier

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Within, a press counts for the next moment that has an action: it falls between two of them."""
        earlier, self._action = self._action, self._keep
        try:
            yield
        finally:
            self._action = earlier

    def _keep(self) -> None:
        self._kept = True

    def _pressed(self, _number: int, _frame: FrameType | None) -> None:
        self._action()
