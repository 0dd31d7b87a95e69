"""The examples of docs/extensions.md do what it says, run as a reader would run them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rpc_agent.extensions.hooks import HOOK_NAMES
from tests.support.agent_server import Home, serving
from tests.support.compactions import chatty, talk
from tests.support.hooks import errors

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs" / "examples"
GUIDE = (ROOT / "docs" / "extensions.md").read_text(encoding="utf-8")
_SECONDS = 60


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "veto_compaction",
            ["asked about session_before_compact (manual)", "vetoed: compactionCancelled", "tokens became"],
        ),
        ("answer_navigation", ["back to: What does README.md say?", "remembered: Another attempt stopped after"]),
    ],
)
def test_a_client_of_the_examples_does_what_it_says(name: str, said: list[str], tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "README.md").write_text("# A project\n\nWith a word that is easily found: heron.\n" * 20)
    kept = {key: value for key, value in os.environ.items() if not key.endswith(("_API_KEY", "_BASE_URL"))}
    environment = {
        **kept,
        "PATH": str(Path(sys.executable).parent) + os.pathsep + kept.get("PATH", ""),
        "RPC_AGENT_CONFIG_DIR": str(tmp_path / "config"),
        "RPC_AGENT_SESSION_DIR": str(tmp_path / "sessions"),
    }
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py")],
        cwd=work, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, encoding="utf-8", timeout=_SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    missing = [sentence for sentence in said if sentence not in done.stdout]
    assert not missing, done.stdout


@pytest.mark.anyio
async def test_the_extension_that_summarises_needs_no_model(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chatty(home)
    async with serving(home, extensions=(str(EXAMPLES / "own_summary.py"),)) as client:
        await talk(client)
        result = await client.request("compact")
        assert result["summary"].startswith("- The user asked: question 0")
        assert (result["details"], errors(client)) == ({"questions": 2}, [])


def calls(home: Home, *tools: tuple[str, dict[str, str]]) -> None:
    home.settings(permissions={"mode": "allow"})
    home.script(*[{"toolCalls": [{"name": name, "arguments": args}]} for name, args in tools], {"text": "done"})


async def outcomes(home: Home, extension: Path) -> list[tuple[bool, str]]:
    async with serving(home, extensions=(str(extension),)) as client:
        await client.request("prompt", {"message": "go", "wait": True})
        assert errors(client) == []
        ends = [n.params for n in client.notifications if n.method == "tool_execution_end"]
        return [(end["isError"], end["result"]["content"][0]["text"]) for end in ends]


@pytest.mark.anyio
async def test_the_guard_blocks_what_it_says_and_nothing_else(tmp_path: Path) -> None:
    home = Home(tmp_path)
    calls(
        home,
        ("write", {"path": "sub/uv.lock", "content": "x"}),
        ("bash", {"command": "git push --force"}),
        ("write", {"path": "a.txt", "content": "x"}),
    )
    found = await outcomes(home, EXAMPLES / "guard.py")
    assert [is_error for is_error, _ in found] == [True, True, False]
    assert (found[0][1].startswith("uv.lock is made by"), found[1][1].startswith("No force pushes")) == (True, True)


@pytest.mark.anyio
async def test_the_extension_of_the_ten_minutes_works(tmp_path: Path) -> None:
    (code,) = re.findall(r"^<!-- file: no_secrets.py -->\n```python\n(.*?)^```$", GUIDE, re.M | re.S)
    file = tmp_path / "no_secrets.py"
    file.write_text(code, encoding="utf-8")
    home = Home(tmp_path)
    (home.project / ".env").write_text("KEY=secret")
    calls(home, ("read", {"path": ".env"}), ("ls", {}))
    found = await outcomes(home, file)
    assert (found[0][0], "secret" in found[0][1].split("Files with secrets")[0], found[1][0]) == (True, False, False)


def test_the_guide_has_a_row_for_each_hook() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", GUIDE, re.M)
    assert sorted(set(rows) & set(HOOK_NAMES)) == sorted(HOOK_NAMES)


def test_links_of_the_guide_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", GUIDE):
        assert (ROOT / "docs" / target).exists(), target
