"""Session files from reports of users, opened through the server: what is in them, and the next request made of them."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.support.agent_server import Home
from tests.support.chat_server import ChatServer, serve_in_thread, text_reply
from tests.support.serve_process import ServeProcess, serve_process

GOLDEN = ROOT / "tests" / "golden" / "sessions"
SHARED = Path(os.environ.get("RPC_AGENT_CASES") or ROOT.parent / "shared" / "cases") / "reports"
FORMAT_NOTES = {"blankLine", "crlf", "bom", "loneSurrogate", "nullContent"}
"""Warnings about what is unusual and harmless; all others are damage."""


def cases() -> dict[str, tuple[Path, dict[str, Any]]]:
    """The cases and their files by name: our copies, and all that are there beside the repository."""
    found: dict[str, tuple[Path, dict[str, Any]]] = {}
    for index in (GOLDEN / "reports.json", SHARED / "index.json"):
        if index.exists():
            for case in json.loads(index.read_text(encoding="utf-8")):
                if case["kind"] == "session_jsonl":
                    found[case["name"]] = (index.parent / case["input_file"], case)
    return found


CASES = cases()
assert CASES, "our copies are part of the repository"


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_reported_session_file_opens_and_goes_on(tmp_path: Path, name: str) -> None:
    source, case = CASES[name]
    expected = case["expected_value"]
    home, path = a_home_with(source, tmp_path)
    before = path.read_bytes()
    with serve_in_thread([text_reply("Good.", repeat=True)]) as service:
        model = {"id": "m", "contextWindow": case.get("context_window", 200_000), "maxTokens": 1000}
        home.models({"p": {"baseUrl": service.base_url, "api": "openai-completions", "apiKey": "k", "models": [model]}})
        home.settings(defaultModel="p/m", compaction={"reserveTokens": 16384})
        with serve_process(home) as server:
            expect_as_opened(server, server.ask("open_session", path=str(path)), expected)
            # Reading writes nothing; only an empty file gets its header.
            assert path.read_bytes() == before or (before == b"" and len(path.read_bytes().splitlines()) == 1)
            server.request(99, "prompt", {"message": "what now", "wait": True})
            methods = []
            while (message := server.receive()).get("id") != 99:
                methods.append(message.get("method"))
            assert (message["result"]["stopReason"], service.faults) == ("stop", [])
            assert ("compaction_start" in methods) == expected.get("should_compact", False)
            entries = server.ask("get_entries")["entries"]
        expect_request(service, expected)
    assert path.read_bytes().startswith(before)
    with serve_process(home) as server:
        again = server.ask("open_session", path=str(path))
        assert server.ask("get_entries")["entries"] == entries
        assert again["leafId"] == entries[-1]["id"]


WITH_APPEND = sorted(
    name for name, (_, case) in CASES.items() if "after_append_reload_entries" in case["expected_value"]
)


@pytest.mark.parametrize("name", WITH_APPEND)
def test_one_more_entry_stands_on_its_own_line_and_survives_a_reload(tmp_path: Path, name: str) -> None:
    source, case = CASES[name]
    home, path = a_home_with(source, tmp_path)
    with serve_process(home) as server:
        server.ask("open_session", path=str(path))
        server.ask("set_session_name", name="kept")
    assert json.loads(path.read_bytes().splitlines()[-1])["name"] == "kept"
    with serve_process(home) as server:
        assert server.ask("open_session", path=str(path))["sessionName"] == "kept"
        entries = server.ask("get_entries")["entries"]
    assert len(entries) == case["expected_value"]["after_append_reload_entries"]


def a_home_with(source: Path, folder: Path) -> tuple[Home, Path]:
    path = folder / "session.jsonl"
    path.write_bytes(source.read_bytes())
    return Home(folder), path


def expect_as_opened(server: ServeProcess, opened: Any, expected: dict[str, Any]) -> None:
    entries = server.ask("get_entries")["entries"]
    nodes = server.ask("get_tree")["nodes"]
    nested = server.ask("get_tree", form="nested")["tree"]
    messages = server.ask("get_messages")["messages"]
    ids = [entry["id"] for entry in entries]
    assert ([node["entryId"] for node in nodes], bool(nested)) == (ids, bool(ids))
    assert len(messages) == opened["messageCount"]
    if "entries" in expected:
        assert len(entries) == expected["entries"]
    if "entry_ids" in expected:
        assert ids == expected["entry_ids"]
    damage = [warning for warning in opened["warnings"] if warning["kind"] not in FORMAT_NOTES]
    assert len(damage) == expected.get("damaged", 0)
    usage = opened["contextUsage"]["tokens"]
    assert usage is None or usage < 10_000


def expect_request(service: ChatServer, expected: dict[str, Any]) -> None:
    sent = [message for message in service.requests[0]["messages"] if message["role"] != "system"]
    assert sent[-1]["content"] == "what now"
    if "projected_roles" in expected:
        assert [message["role"] for message in sent[:-1]] == expected["projected_roles"]
    if "must_contain" in expected:
        assert expected["must_contain"] in service.raw_requests[0].decode("utf-8")
    for message in sent:
        for call in message.get("tool_calls") or ():
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
