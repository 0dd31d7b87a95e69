"""`chat`, read from a pipe, against a scripted server."""

import io
from pathlib import Path
from typing import Any

from rpc_agent_client import SyncClient

from rpc_agent.cli.chat import Chat
from rpc_agent.cli.line_input import LineInput
from rpc_agent.cli.terminal import Terminal
from tests.support.fake_server import FakeServer

STATE = {"sessionId": "s", "cwd": "/w", "model": {"provider": "offline", "id": "offline"}}
UPDATE = "message_update"


def talk(folder: Path, typed: str, script: dict[str, list[dict[str, Any]]]) -> tuple[list[str], list[dict[str, Any]]]:
    """What a person reads after the greeting, and what the server was asked after its state."""
    server = FakeServer(folder, {"get_state": [{"answer": STATE}], **script})
    screen = io.StringIO()
    out = Terminal(screen, {})
    with SyncClient.spawn(server.command) as client:
        assert Chat(client, out, LineInput(io.StringIO(typed), out)).talk() == 0
    greeting, *lines = screen.getvalue().splitlines()
    assert greeting.endswith("offline/offline, in /w. /help tells what can be typed.")
    asked = [message for message in server.received() if message["method"] not in ("get_state", "shutdown", "exit")]
    return lines, asked


def test_text_streams_thinking_is_shown_and_tools_are_one_line(tmp_path: Path) -> None:
    prompt = [
        {"notify": [UPDATE, {"assistantMessageEvent": {"type": "thinking_delta", "delta": "hm"}}]},
        {"notify": [UPDATE, {"assistantMessageEvent": {"type": "thinking_end"}}]},
        {"notify": ["tool_execution_start", {"toolName": "ls", "args": {}}]},
        {"notify": ["tool_execution_end", {"toolName": "ls", "result": {"content": []}, "durationMs": 1}]},
        {"notify": [UPDATE, {"assistantMessageEvent": {"type": "text_delta", "delta": "two "}}]},
        {"notify": [UPDATE, {"assistantMessageEvent": {"type": "text_delta", "delta": "files"}}]},
        {"notify": ["message_end", {}]},
        {"answer": {"stopReason": "stop"}},
    ]
    lines, asked = talk(tmp_path, "what is here?\n\n/quit\nnever sent\n", {"prompt": prompt})
    assert lines == ["hm", "  ls gave 0 lines in 1 ms", "two files"]
    assert [message["params"] for message in asked] == [{"message": "what is here?", "wait": True}]


def test_a_failed_run_is_told_and_the_talk_goes_on(tmp_path: Path) -> None:
    prompt = [{"answer": {"stopReason": "error", "errorMessage": "the service is down"}}]
    lines, asked = talk(tmp_path, "one\ntwo", {"prompt": prompt})
    assert (lines, len(asked)) == (["the service is down"] * 2, 2)


def test_a_compaction_is_told_in_words(tmp_path: Path) -> None:
    result = {"tokensBefore": 78000, "estimatedTokensAfter": 2000}
    compact = [
        {"notify": ["compaction_start", {"reason": "manual"}]},
        {"notify": ["compaction_progress", {"phase": "summary", "receivedChars": 10}]},
        {"notify": ["compaction_end", {"status": "completed", "result": result}]},
        {"answer": result},
    ]
    lines, asked = talk(tmp_path, "/compact keep names\n", {"compact": compact})
    assert lines == [
        "Compacting (Ctrl-C stops it) ...",
        "Done: a context of 78k tokens became 2000. /tree leads back to before it.",
    ]
    assert asked[0]["params"] == {"customInstructions": "keep names"}


def test_a_cancelled_compaction_is_told_once(tmp_path: Path) -> None:
    compact = [
        {"notify": ["compaction_start", {"reason": "manual"}]},
        {"notify": ["compaction_end", {"status": "cancelled"}]},
        {"error": [-32022, "cancelled", {"reason": "compactionCancelled"}]},
    ]
    lines, _ = talk(tmp_path, "/compact\n", {"compact": compact})
    assert lines == ["Compacting (Ctrl-C stops it) ...", "Compaction stopped; nothing was changed."]


def test_nothing_to_compact_is_an_answer_and_no_end(tmp_path: Path) -> None:
    compact = [{"error": [-32020, "there is nothing to summarise", {"reason": "nothingToCompact"}]}]
    lines, _ = talk(tmp_path, "/compact\n/nonsense\n", {"compact": compact})
    assert lines[0] == "there is nothing to summarise"
    assert lines[-1] == "There is no command /nonsense; /help lists them."


def test_the_tree_is_drawn_and_walked_by_number(tmp_path: Path) -> None:
    first = {"entryId": "a", "parentId": None, "type": "message", "role": "user", "preview": "one", "childCount": 1}
    second = {
        "entryId": "b",
        "parentId": "a",
        "type": "message",
        "role": "assistant",
        "preview": "two",
        "childCount": 0,
    }
    script = {
        "get_tree": [{"answer": {"nodes": [first, second], "leafId": "b"}}],
        "navigate_tree": [{"answer": {"cancelled": False, "leafId": None, "editorText": "one"}}],
    }
    lines, asked = talk(tmp_path, "/tree\n/tree 9\n/tree 1\n/quit\n", script)
    assert lines == [
        "   1   user: one",
        "   2 > assistant: two",
        "/tree N goes to line N.",
        "Type /tree first, then /tree with the number of one of its lines.",
        "Here we go on. What was said after this stays in the tree.",
        "The message there was: one",
    ]
    assert [message["params"] for message in asked if message["method"] == "navigate_tree"] == [{"targetId": "a"}]


def test_help_lists_the_commands(tmp_path: Path) -> None:
    lines, _ = talk(tmp_path, "/help\n", {})
    assert [line.split()[0] for line in lines[:5]] == ["/compact", "/tree", "/tree", "/help", "/quit"]
