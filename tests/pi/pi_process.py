"""The Pi coding agent, installed in a folder of its own and driven in its rpc mode, offline, on one session file."""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".venv-pi"
PACKAGES = ("node@22.23.3", "@earendil-works/pi-coding-agent@1.6.0")
_INSTALL_SECONDS = 300


def install() -> str | None:
    """What went wrong; None when Pi is there. Once is enough."""
    marker = FOLDER / ".ready"
    if marker.is_file() and marker.read_text() == " ".join(PACKAGES):
        return None
    if (npm := shutil.which("npm")) is None:
        return "npm is not on PATH; on Debian: apt-get install npm"
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "package.json").write_text('{"private": true}')
    command = [npm, "install", "--silent", "--no-audit", "--no-fund", *PACKAGES]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False)
    if done.returncode != 0:
        return f"npm could not install Pi:\n{done.stdout}{done.stderr}"
    marker.write_text(" ".join(PACKAGES))
    return None


class PiProcess:
    """`ask` gives the data of an answer; events are read over."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self._number = 0

    def ask(self, command: str, /, **params: Any) -> Any:
        self._number += 1
        self._send({"id": str(self._number), "type": command, **params})
        message = self._until(lambda m: m.get("type") == "response" and m.get("id") == str(self._number))
        if not message["success"]:
            raise RuntimeError(f"Pi refused {command}: {message.get('error')}")
        return message.get("data")

    def prompt(self, text: str) -> None:
        """Returns when the run has settled."""
        self.ask("prompt", message=text)
        self._until(lambda m: m.get("type") == "agent_settled")

    def answers(self) -> dict[str, Any]:
        """What Pi makes of its session."""
        asked = ("state", "messages", "session_stats", "entries", "tree", "fork_messages", "last_assistant_text")
        return {name: self.ask(f"get_{name}") for name in asked}

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _until(self, is_it: Any) -> Any:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if is_it(message := json.loads(line)):
                return message
        assert self._process.stderr is not None
        raise RuntimeError(f"Pi ended: {self._process.stderr.read()[-2000:]}")


@contextlib.contextmanager
def pi(*options: str, cwd: Path, models: Mapping[str, Any]) -> Iterator[PiProcess]:
    """Pi with a home of its own; `models` are the providers of its models.json."""
    with tempfile.TemporaryDirectory() as home:
        config = Path(home) / ".pi" / "agent"
        config.mkdir(parents=True)
        (config / "models.json").write_text(json.dumps({"providers": models}))
        settings = {"compaction": {"keepRecentTokens": 100}, "retry": {"enabled": False}}
        (config / "settings.json").write_text(json.dumps({"defaultProvider": "p", "defaultModel": "m", **settings}))
        node = FOLDER / "node_modules" / "node" / "bin" / "node"
        script = FOLDER / "node_modules" / "@earendil-works" / "pi-coding-agent" / "dist" / "cli.js"
        process = subprocess.Popen(
            [str(node), str(script), "--mode", "rpc", "--offline", "--no-extensions", "--no-skills", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env={"PATH": os.environ["PATH"], "HOME": home, "PI_OFFLINE": "1"},
            text=True,
        )
        try:
            yield PiProcess(process)
        finally:
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
            process.wait(20)
