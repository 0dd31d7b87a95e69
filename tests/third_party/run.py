"""Runs JSON-RPC clients that are not ours against the server: `make test-clients`. Installs them, judges what they print.

Each script beside this file is what a user of that client would write, and is printed in docs/clients.md. All of them do
the same: initialize, prompts with tools, a compaction that is aborted, and one that is not. A client that cannot be
installed is a failure.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
VENV = ROOT / ".venv-clients"
SCRIPTS = "Scripts" if sys.platform == "win32" else "bin"

EXPECTED = [
    "initialize: rpc-agent, version 1",
    "prompt: stop, tools ls read",
    "abort_compaction: true",
    "compact: compactionCancelled",
    "compact again: smaller",
]
# One takes about five seconds; a machine under load ten times that.
_SECONDS = 90
# The server promises to be gone within five seconds of its client.
_GONE_SECONDS = 10
_INSTALL_SECONDS = 240
# Before each dozen characters of the offline model: a summary takes about a second, so that there is something to stop.
_PACE_MS = "30"
_NOTES = "# What we drank\n\n" + "".join(
    f"- On day {day} we drank mint tea in the old boat house; it was worth a second cup.\n" for day in range(1, 21)
)


@dataclass(frozen=True)
class ThirdParty:
    name: str
    script: str
    command: Callable[[Path], Sequence[str]]
    """How the script is started; the first word is the program."""


class CannotRun(Exception):
    """For people: what is missing, and what to do."""


def program(name: str, package: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise CannotRun(f"{name} is not on PATH; on Debian: apt-get install {package}")
    return found


def node(script: Path) -> list[str]:
    return [program("node", "nodejs"), str(script)]


def python(script: Path) -> list[str]:
    return [str(VENV / SCRIPTS / "python"), str(script)]


def emacs(script: Path) -> list[str]:
    return [program("emacs", "emacs-nox"), "--batch", "-Q", "-l", str(script)]


def neovim(script: Path) -> list[str]:
    # An error in the script must end it; without this it would wait for keys.
    run = f"lua local good, why = pcall(dofile, [[{script}]]); if not good then print(why) vim.cmd('cquit') end vim.cmd('qall!')"
    return [program("nvim", "neovim"), "--headless", "-u", "NONE", "-i", "NONE", "-c", run]


CLIENTS = (
    ThirdParty("vscode-jsonrpc", "vscode_jsonrpc.mjs", node),
    ThirdParty("json-rpc-2.0", "json_rpc_2_0.mjs", node),
    ThirdParty("python-lsp-jsonrpc", "pylsp_jsonrpc_client.py", python),
    ThirdParty("jsonrpcclient", "jsonrpcclient_client.py", python),
    ThirdParty("Emacs jsonrpc.el", "emacs_client.el", emacs),
    ThirdParty("Neovim vim.lsp.rpc", "neovim_client.lua", neovim),
)


def install() -> list[str]:
    """What could not be installed. Does nothing for what is there already."""
    return [fault for step in (install_from_npm, install_from_pypi) if (fault := step())]


def install_from_npm() -> str | None:
    if is_fresh(HERE / "node_modules" / ".ready", HERE / "package.json"):
        return None
    if (npm := shutil.which("npm")) is None:
        return "npm is not on PATH; on Debian: apt-get install npm"
    return run_installers([[npm, "install", "--silent"]], HERE, HERE / "node_modules" / ".ready")


def install_from_pypi() -> str | None:
    requirements = HERE / "requirements.txt"
    if is_fresh(VENV / ".ready", requirements):
        return None
    pip = [str(VENV / SCRIPTS / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    make, fill = [sys.executable, "-m", "venv", str(VENV)], [*pip, "--requirement", str(requirements)]
    return run_installers([make, fill], ROOT, VENV / ".ready")


def is_fresh(marker: Path, source: Path) -> bool:
    return marker.is_file() and marker.stat().st_mtime >= source.stat().st_mtime


def run_installers(commands: Sequence[Sequence[str]], folder: Path, marker: Path) -> str | None:
    """What went wrong. When nothing did, `marker` says so the next time."""
    for command in commands:
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return f"{' '.join(command)} took longer than {_INSTALL_SECONDS} s"
        if done.returncode != 0:
            return f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}"
    marker.touch()
    return None


def faults_of(client: ThirdParty, home: Path) -> list[str]:
    """What went otherwise than it should. Empty: all is well."""
    project, environment = prepare(home)
    try:
        command = client.command(HERE / client.script)
        done = subprocess.run(
            command,
            cwd=project,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_SECONDS,
            check=False,
        )
    except (CannotRun, OSError) as error:
        return [str(error)]
    except subprocess.TimeoutExpired as late:
        return [f"not done within {_SECONDS} s; it had printed:\n{(late.stdout or b'').decode()}"]
    printed = done.stdout.decode()
    faults = [] if done.returncode == 0 else [f"exit code {done.returncode}"]
    if [line.strip() for line in printed.splitlines() if line.strip()] != EXPECTED:
        faults.append("it printed:\n" + printed)
    return faults + session_faults(home / "sessions") + left_behind(home)


def prepare(home: Path) -> tuple[Path, dict[str, str]]:
    """A project, a configuration of its own, and no key of anybody's."""
    project, config = home / "project", home / "config"
    for folder in (project, config):
        folder.mkdir()
    (project / "notes.md").write_text(_NOTES, encoding="utf-8")
    # The model without a key, and little enough kept that two prompts are worth compacting.
    settings = {"defaultModel": "offline/offline", "compaction": {"keepRecentTokens": 200}}
    (config / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_BASE_URL"))}
    return project, {
        **kept,
        "PATH": str(Path(sys.executable).parent) + os.pathsep + kept.get("PATH", ""),
        "HOME": str(home),
        "RPC_AGENT_CONFIG_DIR": str(config),
        "RPC_AGENT_SESSION_DIR": str(home / "sessions"),
        "RPC_AGENT_OFFLINE_PACE_MS": _PACE_MS,
    }


def session_faults(sessions: Path) -> list[str]:
    """The file knows what really happened: tools ran, and of two compactions one came to its end."""
    files = list(sessions.rglob("*.jsonl"))
    if len(files) != 1:
        return [f"{len(files)} session files instead of one"]
    entries = [json.loads(line) for line in files[0].read_text(encoding="utf-8").split("\n") if line]
    tools = [e["message"]["toolName"] for e in entries if e.get("message", {}).get("role") == "toolResult"]
    compactions = [e for e in entries if e["type"] == "compaction"]
    faults = [] if tools == ["ls", "read"] else [f"tools in the file: {tools}"]
    return faults if len(compactions) == 1 else [*faults, f"{len(compactions)} compactions in the file instead of one"]


def left_behind(home: Path) -> list[str]:
    """Processes that still run for this home after its client has ended. Looked for where /proc tells."""
    end = time.monotonic() + _GONE_SECONDS
    while found := _processes_of(home):
        if time.monotonic() > end:
            return [f"left behind: processes {found}"]
        time.sleep(0.1)
    return []


def _processes_of(home: Path) -> list[int]:
    found = []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            if os.fsencode(f"RPC_AGENT_SESSION_DIR={home}") in environ.read_bytes():
                found.append(int(environ.parent.name))
        except OSError:
            continue  # It has ended meanwhile, or is somebody else's.
    return found


def main(chosen: Sequence[str]) -> int:
    """0: all clients did it. `chosen`: names of scripts; none: all."""
    missing = install()
    for fault in missing:
        print(f"FAILED  {fault}")
    failed = len(missing)
    for client in CLIENTS:
        if chosen and client.script not in chosen:
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="rpc-agent-clients-", ignore_cleanup_errors=True) as folder:
            faults = faults_of(client, Path(folder))
        print(f"{'FAILED' if faults else 'ok':6}  {client.name} ({time.monotonic() - began:.1f} s)", flush=True)
        for fault in faults:
            print(f"        {fault}")
        failed += bool(faults)
    print("all third-party clients did it" if failed == 0 else f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
