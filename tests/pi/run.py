"""Sessions of ours opened by Pi, and sessions of Pi opened by us: `make test-pi`. Both must make the same of each file.

Compared are messages, entries, leaf, tree with labels, counts, tokens, name, thinking level and model. Node's npm fetches
Pi once, into a folder of this repository that is not checked in.
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.pi.pi_process import install, pi
from tests.pi.sessions import WITH_OURS, WITH_PI
from tests.support.agent_server import Home
from tests.support.chat_server import serve_in_thread, text_reply
from tests.support.serve_process import ServeProcess, serve_process

NOWHERE = "http://127.0.0.1:9/v1"
ASKED = ("get_state", "get_messages", "get_session_stats", "get_entries", "get_fork_messages")
COUNTS = ("userMessages", "assistantMessages", "toolCalls", "toolResults", "totalMessages", "tokens", "cost")


def models(base_url: str) -> dict[str, Any]:
    more = {"contextWindow": 100_000, "maxTokens": 4096, "reasoning": True, "input": ["text", "image"]}
    both = [{"id": name, **more} for name in ("m", "m2")]
    return {"p": {"baseUrl": base_url, "apiKey": "none", "api": "openai-completions", "models": both}}


class Asker:
    def __init__(self, server: ServeProcess) -> None:
        self._server = server
        self._number = 0

    def __call__(self, method: str, /, **params: Any) -> Any:
        self._number += 1
        self._server.request(self._number, method, params)
        return self._server.answer(self._number)

    def answers(self) -> dict[str, Any]:
        found = {method.removeprefix("get_"): self(method) for method in ASKED}
        return {**found, "tree": self("get_tree", form="nested")}


def with_ours(name: str, folder: Path) -> list[str]:
    """What Pi sees otherwise in a session of ours."""
    hold, replies = WITH_OURS[name]
    home = Home(folder)
    (home.project / "n.txt").write_text("a note")
    home.script(*replies, summaries=[{"text": "## Goal\nWhat it was about."}] * 6)
    scripted = {"api": "scripted", "script": str(home.config / "replies.json")}
    home.models({"p": {**models(NOWHERE)["p"], **scripted}})
    home.settings(defaultModel="p/m")
    with serve_process(home, "--permissions", "allow") as server:
        ask = Asker(server)
        hold(ask)
        ours = ask.answers()
        server.finish()
    file = folder / "copy.jsonl"
    shutil.copy(ours["state"]["sessionFile"], file)
    before = file.read_bytes()
    with pi("--session", str(file), cwd=home.project, models=models(NOWHERE)) as theirs:
        found = theirs.answers()
    if not file.read_bytes().startswith(before):
        return ["Pi rewrote the file"]
    return differences(ours, without_additions(found, len(ours["entries"]["entries"])))


def with_pi(name: str, folder: Path) -> list[str]:
    """What we see otherwise in a session of Pi."""
    home = Home(folder)
    home.models(models(NOWHERE))
    home.settings(defaultModel="p/m")
    replies = [text_reply(f"answer {n} " + "word " * 500) for n in range(8)]
    with (
        serve_in_thread(replies) as service,
        pi("--session-dir", str(folder / "of-pi"), cwd=home.project, models=models(service.base_url)) as theirs,
    ):
        WITH_PI[name](theirs)
        found = theirs.answers()
    with serve_process(home) as server:
        ask = Asker(server)
        warnings = ask("open_session", path=found["state"]["sessionFile"])["warnings"]
        ours = ask.answers()
        server.finish()
    return [*map(str, warnings), *differences(ours, found)]


def without_additions(found: dict[str, Any], known: int) -> dict[str, Any]:
    """Pi notes the level it thinks at in a file that names none: that entry is not about ours."""
    entries = found["entries"]["entries"]
    added = entries[known:]
    if [entry["type"] for entry in added] == ["thinking_level_change"]:
        found["entries"] = {"entries": entries[:known], "leafId": added[0]["parentId"]}
        found["tree"]["tree"] = _without(found["tree"]["tree"], added[0]["id"])
    return found


def _without(tree: Sequence[Mapping[str, Any]], entry_id: str) -> list[dict[str, Any]]:
    kept = (node for node in tree if node["entry"]["id"] != entry_id)
    return [{**node, "children": _without(node["children"], entry_id)} for node in kept]


def differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    mine, other = seen(ours, ours["session_stats"]), seen(theirs, theirs["session_stats"])
    if not any(entry["type"] == "thinking_level_change" for entry in ours["entries"]["entries"]):
        # Each has a default of its own where the file says nothing.
        mine["thinkingLevel"] = other["thinkingLevel"]
    return [
        f"{what}: ours {_short(mine[what])}, Pi's {_short(other[what])}" for what in mine if mine[what] != other[what]
    ]


def seen(answers: Mapping[str, Any], stats: Mapping[str, Any]) -> dict[str, Any]:
    state, entries = answers["state"], answers["entries"]
    return {
        "messages": answers["messages"]["messages"],
        "entries": entries["entries"],
        "leaf": entries["leafId"],
        "tree": _shape(answers["tree"]["tree"]),
        "forks": answers["fork_messages"]["messages"],
        "model": state["model"]["id"],
        **{name: state.get(name) for name in ("sessionId", "sessionName", "thinkingLevel", "messageCount")},
        **{name: stats.get(name) for name in COUNTS},
        "context": (stats.get("contextUsage") or {}).get("tokens"),
    }


def _shape(tree: Sequence[Mapping[str, Any]]) -> list[Any]:
    return [(node["entry"]["id"], node.get("label"), _shape(node["children"])) for node in tree]


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) < 300 else f"{text[:300]}…"


def main() -> int:
    if fault := install():
        sys.stderr.write(f"{fault}\n")
        return 1
    failed = 0
    for kind, names, check in (("ours, opened by Pi", WITH_OURS, with_ours), ("Pi's, opened by us", WITH_PI, with_pi)):
        for name in names:
            with tempfile.TemporaryDirectory() as folder:
                faults = check(name, Path(folder).resolve())
            failed += bool(faults)
            sys.stdout.write(f"{'FAILED' if faults else 'ok'}: {name} ({kind})\n")
            sys.stdout.writelines(f"  {fault}\n" for fault in faults)
            sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
