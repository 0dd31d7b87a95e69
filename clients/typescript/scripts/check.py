"""Checks this package whole: types fresh, built, examples type-checked, tests passed. `make test-typescript` runs it.

Needs Node 20 or newer. Without it nothing here can be checked: it says so in one line, and fails only where CI is set.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
OLDEST_NODE = 20
# The tests take half a minute; ten times that on a machine under load.
_SECONDS = 600


def why_not() -> str | None:
    """What is missing to check anything."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return f"Node {OLDEST_NODE} or newer with npm is not on PATH"
    version = subprocess.run([node, "-p", "process.versions.node"], capture_output=True, text=True, check=True).stdout
    if int(version.split(".")[0]) < OLDEST_NODE:
        return f"Node is {version.strip()}, older than {OLDEST_NODE}"
    return None


def install() -> None:
    """The development tools, when package.json has changed since the last time."""
    marker, wanted = PACKAGE / "node_modules" / ".ready", PACKAGE / "package.json"
    if not marker.is_file() or marker.stat().st_mtime < wanted.stat().st_mtime:
        run(["npm", "install", "--silent"])
        marker.touch()


def run(command: Sequence[str]) -> str:
    """What it printed. Prints it and exits when it failed."""
    done = subprocess.run(
        [shutil.which(command[0]) or command[0], *command[1:]],
        cwd=PACKAGE,
        env={**os.environ, "RPC_AGENT_PYTHON": sys.executable},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        print(done.stdout)
        sys.exit(f"{' '.join(command)} failed in {PACKAGE}")
    return done.stdout


def passed(output: str) -> str:
    """The number of tests passed, from the runner's last lines."""
    return next((line.split()[-1] for line in output.splitlines() if line[2:].startswith("pass ")), "no")


def main() -> int:
    if (missing := why_not()) is not None:
        print(f"LEFT OUT: the TypeScript client was not checked, because {missing}.")
        return 1 if os.environ.get("CI") else 0
    install()
    run(["npm", "run", "--silent", "check"])
    print(f"clients/typescript: {passed(run(['npm', 'test', '--silent']))} tests passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
