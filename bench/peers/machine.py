"""On what was measured: the facts that stand above a table. Everything in it is public knowledge about a machine."""

import os
import platform
import subprocess
import sys
from pathlib import Path

from bench.peers import installed
from bench.peers.peer import PeerFailed

_SECONDS = 10


def facts() -> dict[str, str]:
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "memory": _memory(),
        "system": f"{_system()}, {platform.system()} {'.'.join(platform.release().split('.')[:2])}",
        "load when it began": f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "not told",
        "Python": platform.python_version(),
        "Node": _node(),
    }


def _processor() -> str:
    return _field("/proc/cpuinfo", "model name") or platform.processor() or platform.machine()


def _memory() -> str:
    total = _field("/proc/meminfo", "MemTotal")
    return f"{int(total.split()[0]) / (1 << 20):.0f} GiB" if total else "not told"


def _field(file: str, name: str) -> str:
    path = Path(file)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "")


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return sys.platform


def _node() -> str:
    try:
        told = subprocess.run([installed.node(), "--version"], capture_output=True, timeout=_SECONDS, check=True)
    except (PeerFailed, OSError, subprocess.SubprocessError):
        return "not there"
    return told.stdout.decode().strip().removeprefix("v")
