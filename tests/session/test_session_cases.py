"""The checked-in and the shared cases of session files: header, entries, path, labels, name as the model system sees them."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from rpc_agent.session.replay import LoadedSession, read_session
from tests.support.sessions import CountingIdentity

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("RPC_AGENT_CASES") or ROOT.parent / "shared" / "cases") / "sessions"
FILES = {
    path.stem: path for folder in (SHARED, ROOT / "tests" / "golden" / "sessions") for path in folder.glob("*.jsonl")
}
CASES = [
    (name, at)
    for name, path in sorted(FILES.items())
    if (expected := path.with_suffix(".expected.json")).exists()
    for at, run in enumerate(json.loads(expected.read_text(encoding="utf-8"))["runs"])
    if run["args"][0] == "projection"
]


def load(path: Path) -> LoadedSession:
    return read_session(path.read_bytes(), draw_id=CountingIdentity().draw_id)


@pytest.mark.parametrize(("name", "at"), CASES)
def test_a_case_loads_as_the_model_system_loads_it(name: str, at: int) -> None:
    path = FILES[name]
    run = json.loads(path.with_suffix(".expected.json").read_text(encoding="utf-8"))["runs"][at]
    args, expected = run["args"], run["output"]
    loaded = load(path)
    tree = loaded.tree
    leaf = args[args.index("--leaf") + 1] if "--leaf" in args else tree.leaf_id
    ids = [entry.id for entry in tree]

    def shown(entry_id: str | None) -> Any:
        # Version 1 files have no ids; there the cases name a record by its index.
        return f"@{ids.index(entry_id) + 1}" if entry_id and str(expected["leafId"]).startswith("@") else entry_id

    branch = tree.path(leaf)
    found = {
        "header": {key: loaded.header[key] for key in ("version", "id", "cwd")},
        "entryCount": len(tree),
        "leafId": shown(leaf),
        "roots": [shown(each) for each in tree.roots],
        "pathIds": [shown(entry.id) for entry in branch],
        "pathTypes": [entry.raw["type"] for entry in branch],
        "labels": tree.labels(),
        "name": tree.name,
    }
    assert found == {key: expected[key] for key in found}


@pytest.mark.parametrize(
    "name", ["session_torn_tail", "session_blank_crlf", "session_lone_surrogate", "session_null_args"]
)
def test_a_reported_file_loads(name: str) -> None:
    loaded = load(ROOT / "tests" / "golden" / "sessions" / f"{name}.jsonl")
    found = ([entry.id for entry in loaded.tree], [warning.kind for warning in loaded.warnings])
    assert (
        found
        == {
            "session_torn_tail": (["a1", "a2", "a3"], ["tornTail"]),
            "session_blank_crlf": (["a1", "a2"], ["blankLine", "blankLine", "crlf"]),
            "session_lone_surrogate": (["a1", "a2", "a3"], ["loneSurrogate"]),
            "session_null_args": (["a1", "a2", "a3"], []),
        }[name]
    )
