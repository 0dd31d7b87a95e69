"""Where the peers are, and how they get there: npm packages of pinned versions in a scratch folder. Runs none of them.

The versions stand in `package.json` beside this file and nowhere else. What cannot be installed is said in the table.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from bench.peers.peer import PeerFailed

PINNED = Path(__file__).with_name("package.json")
SCRATCH = Path(os.environ.get("BENCH_PEERS") or Path(sys.prefix) / "bench-peers")
"""Below the virtual environment, which git ignores; `make bench-peers` says it too."""
PACKAGES = SCRATCH / "node_modules"
COMPILE_CACHE = SCRATCH / "compile-cache"
_INSTALL_SECONDS = 300
"""800 MB on a slow line; most is the native program of one peer."""


def version(package: str) -> str:
    pinned: str = json.loads(PINNED.read_text(encoding="utf-8"))["dependencies"][package]
    return pinned


def install() -> None:
    """Raises PeerFailed with the reason. Does nothing when these very versions are there."""
    installed = SCRATCH / "package.json"
    if (PACKAGES / ".ready").is_file() and installed.read_bytes() == PINNED.read_bytes():
        return
    npm = shutil.which("npm")
    if npm is None:
        raise PeerFailed("not installed: npm is not on PATH")
    SCRATCH.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(PINNED, installed)
    try:
        command = [npm, "install", "--silent", "--no-audit", "--no-fund"]
        done = subprocess.run(command, cwd=SCRATCH, capture_output=True, timeout=_INSTALL_SECONDS, check=False)
    except subprocess.TimeoutExpired as late:
        raise PeerFailed(f"not installed: npm took longer than {_INSTALL_SECONDS} s") from late
    if done.returncode != 0:
        raise PeerFailed(f"not installed: npm ended with {done.returncode}")
    (PACKAGES / ".ready").touch()


def node() -> Path:
    return _found(PACKAGES / "node" / "bin" / ("node.exe" if sys.platform == "win32" else "node"))


def pi() -> Path:
    return _found(PACKAGES / "@earendil-works" / "pi-coding-agent" / "dist" / "bundle" / "cli.js")


def codex() -> Path:
    """The native program itself: what a package's launcher in front of it would cost is none of its own doing."""
    system, machine = platform.system().lower(), platform.machine()
    folder = PACKAGES / "@openai" / f"codex-{system}-{_NPM_MACHINES.get(machine, machine)}" / "vendor"
    name = "codex.exe" if sys.platform == "win32" else "codex"
    programs = sorted(folder.glob(f"*/bin/{name}"))
    return _found(programs[0] if programs else folder / name)


_NPM_MACHINES = {"x86_64": "x64", "AMD64": "x64", "aarch64": "arm64"}


def _found(path: Path) -> Path:
    if not path.is_file():
        raise PeerFailed(f"not installed: its package has no {path.name}")
    return path
