"""`make bench`: how fast and how large the server is, as ratios. `python -m bench NAME ...` measures some parts only.

Machines drift by a quarter from minute to minute, so only ratios of one run are worth comparing; the absolute figures
are for orientation. Nothing here fails: the numbers are for people.
"""

import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from bench.appends import appends
from bench.compaction import compaction
from bench.ledger import ledger
from bench.opening import make_files, opening
from bench.report import progress
from bench.rpc_round_trip import main as rpc_alone
from bench.start_up import round_trips, start_up
from bench.streaming import run as streaming
from bench.turns import prompt_to_request, tool_turns


def large_files() -> None:
    """What depends on the size of the file; the files are written once, about 1.1 GB."""
    with tempfile.TemporaryDirectory() as folder:
        files = make_files(Path(folder))
        opening(files)
        tool_turns({size: files[size] for size in (min(files), max(files))})


PARTS: Mapping[str, Callable[[], None]] = {
    "start-up": start_up,
    "round-trips": round_trips,
    "rpc": rpc_alone,
    "appends": appends,
    "turns": prompt_to_request,
    "streaming": streaming,
    "compaction": compaction,
    "ledger": ledger,
    "files": large_files,
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        sys.stderr.write(f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}\n")
        return 2
    for name in names or PARTS:
        progress(name)
        PARTS[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
