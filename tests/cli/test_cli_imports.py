"""run, chat and demo speak through the client and never to the engine; the client never imports the agent."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MAY_KNOW_THE_ENGINE = {"serve", "doctor", "models", "schema", "sessions", "session_text"}


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module)):
                yield module


def test_commands_that_talk_know_the_client_and_not_the_engine() -> None:
    files = [path for path in (ROOT / "rpc_agent" / "cli").glob("*.py") if path.stem not in MAY_KNOW_THE_ENGINE]
    ours = {name for path in files for name in imports(path) if name.split(".")[0] == "rpc_agent"}
    assert len(files) > 5
    assert {name for name in ours if name != "rpc_agent" and not name.startswith("rpc_agent.cli.")} == set()


def test_the_client_never_imports_the_agent() -> None:
    files = list((ROOT / "clients" / "python" / "rpc_agent_client").glob("*.py"))
    assert len(files) > 5
    assert {name for path in files for name in imports(path) if name.split(".")[0] == "rpc_agent"} == set()
