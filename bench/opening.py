"""Opening sessions of any length: the time beside that of reading the file once, and the memory it takes."""

import statistics
import time
from collections.abc import Mapping
from pathlib import Path

from bench.report import milliseconds, progress, row
from bench.server import serving
from bench.session_files import write_chain

SIZES = (1_000, 100_000, 1_000_000)
_OPENS = 5
_BLOCK = 1 << 20


def make_files(folder: Path) -> dict[int, Path]:
    """A file of each size, about 1 KB a line, compacted near its end."""
    progress(f"files of {', '.join(f'{size:,}' for size in SIZES)} entries (writing them)")
    return {size: write_chain(folder / f"{size}.jsonl", size, compacted=True) for size in SIZES}


def opening(files: Mapping[int, Path]) -> None:
    """Open + get_state in a fresh process that is past its start."""
    firsts: list[float] = []
    for size, path in files.items():
        progress(f"opening {size} entries")
        times, memories = [], []
        for _ in range(_OPENS):
            seconds, mib = _open(path)
            times.append(seconds)
            memories.append(mib)
        firsts.append(statistics.median(times))
        once = _read_once(path)
        ratio = f"{firsts[-1] / firsts[0]:.2f} of the first (aim: 2), {firsts[-1] / once:.3f} of reading the file once"
        row(f"open + get_state, {size:,} entries", milliseconds(firsts[-1]), ratio)
        row("  memory then", f"{statistics.median(memories):.1f} MiB", "(aim: 60 MiB)")
    _index(files[max(files)], max(files))


def _open(path: Path) -> tuple[float, float]:
    with serving() as server:
        server.ask("get_state")
        started = time.perf_counter()
        server.ask("open_session", {"path": str(path)})
        server.ask("get_state")
        return time.perf_counter() - started, server.resident_mib()


def _read_once(path: Path) -> float:
    started = time.perf_counter()
    with path.open("rb", buffering=0) as file:
        while file.read(_BLOCK):
            pass
    return time.perf_counter() - started


def _index(path: Path, size: int) -> None:
    """A question that needs the whole index, and the memory after it."""
    progress("the index of the largest file")
    with serving() as server:
        server.ask("get_state")
        before = server.resident_mib()
        server.ask("open_session", {"path": str(path)})
        started = time.perf_counter()
        server.ask("get_tree", {"limit": 10})
        row(f"the first get_tree of {size:,} entries", milliseconds(time.perf_counter() - started))
        grown = (server.resident_mib() - before) * (1 << 20) / size
        row("  memory then", f"{server.resident_mib():.1f} MiB", f"{grown:.0f} bytes an entry beside the bare server")
