"""What a piece of work asks the system for: as the interpreter reports it, nothing replaced."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple


class SystemCall(NamedTuple):
    """A function of `os` that was called, and the thread that called it."""

    name: str
    thread: threading.Thread


@contextmanager
def system_calls(*names: str) -> Iterator[list[SystemCall]]:
    """The calls of these functions of `os` by this thread and by those begun meanwhile, in order."""
    heard: list[SystemCall] = []
    system = sys.modules[os.name]

    def hear(frame: FrameType, event: str, called: Any) -> None:
        if event == "c_call" and getattr(called, "__self__", None) is system and called.__name__ in names:
            heard.append(SystemCall(called.__name__, threading.current_thread()))

    threading.setprofile(hear)
    sys.setprofile(hear)
    try:
        yield heard
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
