"""Every snippet that is marked to be run is run, as a reader would who has the virtual environment on PATH.

`<!-- run: WORDS -->` before it says that it prints these words, one after another.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_MARKED = re.compile(r"^<!-- run(?:: (.*?))? -->\n```(\w+)\n(.*?)^```$", re.M | re.S)
# docs/extensions.md shows files that a server loads: test_extension_examples.py runs them.
_ELSEWHERE = {"extensions.md"}
_PAGES = (
    "README.md",
    "clients/python/README.md",
    "protocol/README.md",
    *(f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md")) if page.name not in _ELSEWHERE),
)
_SECONDS = 60


def snippets() -> list[object]:
    found = []
    for name in _PAGES:
        for number, match in enumerate(_MARKED.finditer((ROOT / name).read_text(encoding="utf-8")), 1):
            found.append(pytest.param(match[2], match[3], match[1], id=f"{name}-{number}-{match[2]}"))
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


@pytest.mark.parametrize(("language", "code", "printed"), snippets())
def test_a_marked_snippet_does_what_it_says(language: str, code: str, printed: str | None, tmp_path: Path) -> None:
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
    if printed is not None:
        assert printed in " ".join(done.stdout.split())
    else:
        assert any(word in done.stdout for word in ("README.md", "heron", "stop", "tokens became"))


@pytest.mark.parametrize("name", _PAGES)
def test_no_snippet_that_could_be_run_is_left_unmarked(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    blocks = re.findall(r"^(.*)\n```(?:sh|python)\n(.*?)^```$", text, re.M | re.S)
    # `make` is what runs this test.
    assert [code for before, code in blocks if not before.endswith("-->") and not code.startswith("make ")] == []


def test_the_pages_have_snippets_that_are_run() -> None:
    assert len(snippets()) >= 12
