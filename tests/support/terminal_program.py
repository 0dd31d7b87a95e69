"""Runs a program in a pseudo-terminal of 80 by 24, as a person would, and waits for what it shows. Not on Windows."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

WAIT_SECONDS = 30.0


class TerminalProgram:
    """A context; leaving it ends the program. `shown` is everything it has written so far."""

    def __init__(self, command: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self._process = subprocess.Popen(
            list(command),
            cwd=cwd,
            env=dict(env),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            # Ctrl-C reaches the foreground group of a controlling terminal only.
            preexec_fn=_take_terminal,
        )
        os.close(theirs)
        self.shown = ""
        self._seen = 0

    def press(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def wait_for(self, text: str) -> None:
        """Until `text` is shown after what was waited for before."""
        end = time.monotonic() + WAIT_SECONDS
        while (at := self.shown.find(text, self._seen)) < 0:
            if not self._read(end):
                raise AssertionError(f"{text!r} was not shown; shown was:\n{self.shown[self._seen :]}")
        self._seen = at + len(text)

    def wait_for_exit(self) -> int:
        end = time.monotonic() + WAIT_SECONDS
        while self._read(end):
            pass
        return self._process.wait(max(0.1, end - time.monotonic()))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(WAIT_SECONDS)
        os.close(self._ours)

    def _read(self, end: float) -> bool:
        """Take what comes; False when the time is over or nothing can come any more."""
        ready, _, _ = select.select([self._ours], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            return False
        try:
            data = os.read(self._ours, 65536)
        except OSError:
            return False
        self.shown += data.decode("utf-8", "replace")
        return bool(data)


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
