"""Looks at living processes: by a word in their command line, their memory, and whether they work."""

import os
import re
import select
import sys
import time
import uuid
from pathlib import Path

import pytest

needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


def new_tag() -> str:
    """A word to put into a command line, to find it again by."""
    return f"tag{uuid.uuid4().hex}"


def living(tag: str) -> list[str]:
    """The command lines that hold `tag`; zombies have none."""
    lines = (_command_line(name) for name in os.listdir("/proc") if name.isdigit())
    return [line for line in lines if tag in line]


def _command_line(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""


def resident_mebibytes(pid: int) -> float:
    """What a process holds of the memory now."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def peak_mebibytes(pid: int) -> float:
    """The most it ever held."""
    return int(re.findall(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())[0]) / 1024


def wait_until_idle(pid: int, *, seconds: float = 60) -> None:
    """Return when a process has used no processor for a while: what it can do without us is done.

    Nothing tells of that, so it is looked at again and again.
    """

    def ticks() -> int:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    deadline, quiet, before = time.monotonic() + seconds, 0, ticks()
    while quiet < 8:
        assert time.monotonic() < deadline, "the process never came to rest"
        time.sleep(0.05)
        now = ticks()
        quiet, before = (quiet + 1, now) if now == before else (0, now)


def wait_until_gone(pid: int, *, seconds: float) -> None:
    """Return when a process, of ours or not, has ended."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([watched], [], [], seconds)[0], f"process {pid} still lives"
    finally:
        os.close(watched)
