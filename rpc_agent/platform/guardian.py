"""Ends what we started when we are killed and can end nothing ourselves. Knows process groups and marks, no commands.

A small shell beside us waits for the end of a pipe that only we hold open: the system closes it however we die. Then
it kills the groups it was told of, and (Linux) whatever carries our mark in its environment. One that somebody killed
is replaced before the next command. Where there is no /bin/sh nobody watches, and a kill of ours leaves running what
ran.
"""

import os
import subprocess
import sys
import threading
from collections import deque

_SCRIPT = r"""
trap '' HUP INT QUIT TERM
live=
while read -r sign pid; do
  case $sign in
    +) live="$live $pid" ;;
    -) rest=; for each in $live; do [ "$each" = "$pid" ] || rest="$rest $each"; done; live=$rest ;;
  esac
done
for pid in $live; do kill -s KILL -- "-$pid"; done
for again in 1 2 3; do
  for file in $(grep -ls "$1" /proc/[0-9]*/environ); do
    file=${file%/environ}
    kill -s KILL "${file#/proc/}"
  done
done
"""
"""Often, because a process may fork between the look and the signal."""
_SHELL = "/bin/sh"
_HAS_SHELL = sys.platform != "win32" and os.path.exists(_SHELL)


class Guardian:
    """`mark` is a word in the environment of everything that is guarded. `stand_by` comes before the first of them: a
    process that runs no command has no guardian."""

    def __init__(self, mark: str) -> None:
        self._mark = mark
        self._lock = threading.Lock()
        self._pipe: int | None = None
        self._groups: set[int] = set()
        self._untold: deque[str] = deque()

    def stand_by(self) -> None:
        """Start the shell if it is not there: some milliseconds, so not for the event loop."""
        with self._lock:
            if not self._is_there():
                self._start()

    @property
    def is_standing_by(self) -> bool:
        """False also while somebody is just starting it, and when somebody has killed it."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            return self._is_there()
        finally:
            self._lock.release()

    def guard(self, group: int) -> None:
        """The members of this process group die with us, whatever their environment."""
        with self._lock:
            self._groups.add(group)
            self._tell(f"+ {group}")

    def release(self, group: int) -> None:
        """The group has ended; its number may be given to others."""
        with self._lock:
            self._groups.discard(group)
            self._tell(f"- {group}")

    def _is_there(self) -> bool:
        # It passes over an empty line; that nobody will read it, the system says at once.
        return not _HAS_SHELL or self._tell("")

    def _start(self) -> None:
        theirs, ours = os.pipe()
        if sys.platform != "win32":
            # One that was stopped reads no more, and must not hold us when the pipe is full.
            os.set_blocking(ours, False)
        try:
            # In a session of its own: what is sent to our group is not for it. It keeps none of our descriptors open,
            # and nothing of our environment, so that nobody takes it for one of those it watches.
            shell = subprocess.Popen(
                [_SHELL, "-c", _SCRIPT, "rpc-agent-guardian", self._mark],
                stdin=theirs,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={"PATH": os.defpath},
                start_new_session=True,
            )
        except OSError:
            # No room for one more process: the command itself goes before its guard.
            os.close(ours)
        else:
            self._pipe = ours
            self._untold.clear()
            # It ends after us, so nobody waits for it; told so, Python does not complain of it at the end.
            shell.returncode = 0
            for group in self._groups:
                self._tell(f"+ {group}")
        finally:
            os.close(theirs)

    def _tell(self, line: str) -> bool:
        """Whether there is somebody to tell. One that was stopped is told the rest once it goes on."""
        if self._pipe is None:
            return False
        self._untold.append(line)
        try:
            while self._untold:
                # Whole or not at all: a line is far shorter than what a pipe takes in one piece.
                os.write(self._pipe, f"{self._untold[0]}\n".encode())
                self._untold.popleft()
        except BlockingIOError:
            if not line:
                # That somebody looked for it is no news.
                self._untold.pop()
        except OSError:
            os.close(self._pipe)
            self._pipe = None
            return False
        return True
