"""What a running process weighs: memory and processor time, where the system tells it. Starts and ends none."""

import os
import sys
from pathlib import Path


def resident_mib(pid: int) -> float:
    """Resident memory now; 0 where the system does not tell."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0.0
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def cpu_seconds(pid: int) -> float:
    """Processor time of all its threads so far; 0 where the system does not tell."""
    stat = Path(f"/proc/{pid}/stat")
    if sys.platform == "win32" or not stat.exists():
        return 0.0
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / float(os.sysconf("SC_CLK_TCK"))
