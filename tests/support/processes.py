"""Looks for living processes by a word in their command line."""

import os
import sys
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
