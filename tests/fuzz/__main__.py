"""The long form: each target led by its coverage, for millions of inputs. Prints seed, counts and durations.

    python -m tests.fuzz [--keep] [TARGET ...]

FUZZ_RUNS is the number of inputs for each target (default 1,000,000), RPC_AGENT_SEED the seed. A failure ends with
the smallest input, as a line for tests/golden/fuzz/TARGET.found.jsonl. `--keep` puts the inputs that went somewhere
new into tests/golden/fuzz, where the short form begins.
"""

import base64
import importlib.util
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.conftest import ROOT
from tests.fuzz.mutations import mutants, smallest
from tests.fuzz.targets import NAMES, corpus, failure, findings, kind_of, target, write_corpus

GUIDED = importlib.util.find_spec("atheris") is not None
_HANG_SECONDS = 10
_MEMORY_MB = 1024
_GROWTH_MB = 100
"""From a quarter of the runs on. What the fuzzer itself keeps grows a little for as long as it learns."""
_KEPT = 80
_KEPT_BYTES = 600
"""What is checked in is small."""


@dataclass(frozen=True, slots=True)
class Outcome:
    runs: int
    seconds: float
    places: int
    """Branches of our code that were reached."""
    memory_mb: tuple[int, int]
    """Resident, after a quarter of the runs and at the end."""
    broke: str
    """What the fuzzer said about a failure, "" for none."""


def main() -> int:
    if not GUIDED:
        print("The coverage-guided fuzzer (atheris) is not installed: inputs are random neighbours of the known ones.")
    names = [argument for argument in sys.argv[1:] if argument in NAMES] or list(NAMES)
    seed = int(os.environ.get("RPC_AGENT_SEED", "13"))
    runs = int(os.environ.get("FUZZ_RUNS", "1000000"))
    return max(_fuzz(name, seed, runs, keep="--keep" in sys.argv) for name in names)


def _fuzz(name: str, seed: int, runs: int, *, keep: bool) -> int:
    with tempfile.TemporaryDirectory(prefix="fuzz-") as place:
        folder = Path(place)
        outcome = _guided(name, seed, runs, folder) if GUIDED else _unguided(name, seed, runs, folder)
        print(
            f"fuzz {name}: seed {seed}, {outcome.runs} inputs in {outcome.seconds:.0f} s, {outcome.places} places, "
            f"memory {outcome.memory_mb[0]} MB after a quarter and {outcome.memory_mb[1]} MB at the end",
            flush=True,
        )
        if outcome.broke:
            print(_report(name, outcome.broke, folder))
            return 1
        if keep:
            write_corpus(name, _kept(folder / "corpus"))
    return 0


def _guided(name: str, seed: int, runs: int, folder: Path) -> Outcome:
    begin = folder / "corpus"
    begin.mkdir()
    tested = target(name)
    for number, data in enumerate((*tested.seeds(), *corpus(name), *(data for _, data in findings(name)))):
        (begin / f"known-{number}").write_bytes(data)
    words = folder / "words"
    words.write_text("".join(f'"{_escaped(token)}"\n' for token in tested.TOKENS))
    limits = {"atheris_runs": runs, "seed": seed, "timeout": _HANG_SECONDS, "max_len": tested.MAX_BYTES, "dict": words}
    more = {"rss_limit_mb": _MEMORY_MB, "artifact_prefix": f"{folder}/broke-", "reload": 0, "len_control": 0}
    command = [sys.executable, "-m", "tests.fuzz.guided", name, *(f"-{k}={v}" for k, v in {**limits, **more}.items())]
    started = time.monotonic()
    done = subprocess.run([*command, str(begin)], cwd=ROOT, capture_output=True, check=False)
    return _read_outcome(done.stderr.decode("utf-8", "replace"), done, runs, time.monotonic() - started)


def _unguided(name: str, seed: int, runs: int, folder: Path) -> Outcome:
    """Neighbours of what is known: for systems that have no atheris."""
    tested, started = target(name), time.monotonic()
    known = [*tested.seeds(), *corpus(name), *(data for _, data in findings(name))]
    early = done = 0
    for data in itertools.islice(mutants(Random(seed), known, tested.TOKENS, tested.MAX_BYTES), runs):
        done += 1
        if why := failure(tested, data):
            (folder / "broke-0").write_bytes(data)
            return Outcome(done, time.monotonic() - started, 0, (early, _memory()), why)
        if done == runs // 4:
            early = _memory()
    return Outcome(done, time.monotonic() - started, 0, (early, _memory()), "")


def _memory() -> int:
    """Resident, in MB; 0 where nobody can tell."""
    status = Path("/proc/self/status")
    found = re.search(r"VmRSS:\s+(\d+) kB", status.read_text()) if status.exists() else None
    return int(found[1]) // 1024 if found else 0


def _escaped(token: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in token)


def _read_outcome(log: str, done: "subprocess.CompletedProcess[bytes]", runs: int, seconds: float) -> Outcome:
    rows = [
        (int(n), int(cov), int(rss)) for n, cov, rss in re.findall(r"^#(\d+)\s.*cov: (\d+).*rss: (\d+)Mb", log, re.M)
    ]
    if not rows:
        return Outcome(0, seconds, 0, (0, 0), log + done.stdout.decode("utf-8", "replace"))
    early = next((rss for n, _, rss in rows if n >= runs / 4), rows[-1][2])
    memory = (early, rows[-1][2])
    broke = "" if done.returncode == 0 else log[-3000:] + done.stdout.decode("utf-8", "replace")[-3000:]
    if not broke and memory[1] - memory[0] > _GROWTH_MB:
        broke = f"memory grew from {memory[0]} to {memory[1]} MB"
    return Outcome(rows[-1][0], seconds, rows[-1][1], memory, broke)


def _report(name: str, said: str, folder: Path) -> str:
    found = sorted(folder.glob("broke-*"))
    if not found:
        return said
    tested = target(name)
    data = found[0].read_bytes()
    why = kind_of(failure(tested, data))
    small = smallest(data, lambda shorter: kind_of(failure(tested, shorter)) == why) if why else data
    row = json.dumps({"broke": "", "data": base64.b64encode(small).decode()})
    return f"{said}\n{small!r}\n{row}"


def _kept(folder: Path) -> list[bytes]:
    new = [file.read_bytes() for file in folder.iterdir() if not file.name.startswith("known-")]
    short = sorted((data for data in new if len(data) <= _KEPT_BYTES), key=len)
    return short[:: -(-len(short) // _KEPT) or 1]


if __name__ == "__main__":
    sys.exit(main())
