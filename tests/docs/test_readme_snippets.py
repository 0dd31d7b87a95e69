"""Every snippet of the READMEs that is marked to be run is run, as a reader would who has the virtual environment on PATH."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_MARKED = re.compile(r"^<!-- run -->\n```(\w+)\n(.*?)^```$", re.M | re.S)
_SECONDS = 60


def snippets() -> list[object]:
    found = []
    for name in ("README.md", "clients/python/README.md"):
        for number, match in enumerate(_MARKED.finditer((ROOT / name).read_text(encoding="utf-8")), 1):
            found.append(pytest.param(match[1], match[2], id=f"{name}-{number}-{match[1]}"))
    return found


def environment(folder: Path) -> dict[str, str]:
    """A machine without any configuration or key, with the commands of this environment on PATH."""
    kept = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_BASE_URL"))}
    scripts = str(Path(sys.executable).parent)
    return {
        **kept,
        "PATH": scripts + os.pathsep + kept.get("PATH", ""),
        "RPC_AGENT_CONFIG_DIR": str(folder / "config"),
        "RPC_AGENT_SESSION_DIR": str(folder / "sessions"),
    }


@pytest.mark.parametrize(("language", "code"), snippets())
def test_a_marked_snippet_does_what_it_says(language: str, code: str, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "README.md").write_text("# A project to try things on\n\nWith a word that is easily found: heron.\n" * 20)
    if language == "sh":
        code = code.replace(".venv/bin/rpc-agent", f'"{Path(sys.executable).parent / "rpc-agent"}"')
        command = ["sh", "-ec", code]
    else:
        command = [sys.executable, "-c", code]
    done = subprocess.run(
        command,
        cwd=work,
        env=environment(tmp_path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (
        "README.md" in done.stdout or "heron" in done.stdout or "stop" in done.stdout or "tokens became" in done.stdout
    )


def test_both_readmes_have_snippets_that_are_run() -> None:
    assert len(snippets()) >= 6
