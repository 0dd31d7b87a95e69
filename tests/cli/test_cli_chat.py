"""`chat`, read from a pipe, against a scripted server."""

import io
from pathlib import Path
from typing import Any

import pytest
from rpc_agent_client import ServerExited, SyncClient

from rpc_agent.cli.chat import Chat
from rpc_agent.cli.chat_commands import COMMANDS
from rpc_agent.cli.conversation import Conversation, Inbox
from rpc_agent.cli.interrupts import Interrupts
from rpc_agent.cli.line_input import LineInput
from rpc_agent.cli.local_time import local_time
from rpc_agent.cli.terminal import Terminal
from tests.support.fake_server import FakeServer

STATE = {"sessionId": "s", "cwd": "/w", "model": {"provider": "offline", "id": "offline"}}
Script = dict[str, list[dict[str, Any]]]
UPDATE = "message_update"
WORDS = {"content": [{"type": "text", "text": "no\nway"}]}
ENTRY = {"entryId": "a", "parentId": None, "type": "message", "role": "user", "preview": "one", "childCount": 1}
UNASKED = ("initialize", "get_state", "get_commands", "shutdown", "exit")


def talk(folder: Path, typed: str, script: Script) -> tuple[list[str], list[dict[str, Any]]]:
    """What a person reads after the greeting, and what the server was asked after its state."""
    server = FakeServer(folder, {"get_state": [{"answer": STATE}], **script})
    screen = io.StringIO()
    out = Terminal(screen, {})
    with SyncClient.spawn(server.command) as client:
        ctrl_c, source = Interrupts(), LineInput(io.StringIO(typed), out)
        assert Chat(Conversation(out, source, Inbox(), ctrl_c), ctrl_c).begin(client) == 0
    greeting, *lines = screen.getvalue().splitlines()
    assert greeting.endswith("offline/offline, in /w. /help tells what can be typed.")
    asked = [message for message in server.received() if message["method"] not in UNASKED]
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
    assert lines == ["(thinking) hm", "  ls() gave 0 lines in 1 ms", "two files"]
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
        "compacting... (Ctrl-C stops it)",
        "78k tokens became a summary of 2k. /undo takes it back.",
    ]
    assert asked[0]["params"] == {"customInstructions": "keep names"}


def test_a_cancelled_compaction_is_told_once(tmp_path: Path) -> None:
    compact = [
        {"notify": ["compaction_start", {"reason": "manual"}]},
        {"notify": ["compaction_end", {"status": "cancelled"}]},
        {"error": [-32022, "cancelled", {"reason": "compactionCancelled"}]},
    ]
    lines, _ = talk(tmp_path, "/compact\n", {"compact": compact})
    assert lines == ["compacting... (Ctrl-C stops it)", "Compaction stopped; nothing was changed."]


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
    script: Script = {
        "get_tree": [{"answer": {"nodes": [first, second], "leafId": "b"}}],
        "navigate_tree": [{"answer": {"cancelled": False, "leafId": None, "editorText": "one"}}],
    }
    lines, asked = talk(tmp_path, "/tree\n/tree 9\n/tree 1\n/quit\n", script)
    assert lines == [
        "   1 * user: one",
        "   2 > assistant: two",
        "/tree N goes to line N; /tree N summarize sums up what is left behind.",
        "Type /tree first, then the number of one of its lines.",
        "Here we go on. What was said after this stays in the tree.",
        "The message there was: one",
    ]
    assert [message["params"] for message in asked if message["method"] == "navigate_tree"] == [{"targetId": "a"}]


def test_help_lists_the_commands(tmp_path: Path) -> None:
    lines, _ = talk(tmp_path, "/help\n", {})
    assert [line.split()[0] for line in lines[:-1]] == [f"/{command.name}" for command in COMMANDS]
    assert [line for line in lines if len(line) > 79] == []


def test_a_retry_and_a_recovery_are_told_in_words(tmp_path: Path) -> None:
    retry = {"attempt": 1, "maxAttempts": 3, "delayMs": 2500, "errorMessage": "it is overloaded"}
    result = {"tokensBefore": 78_400, "estimatedTokensAfter": 12_000, "summary": "s" * 8000}
    prompt = [
        {"notify": ["auto_retry_start", retry]},
        {"notify": ["auto_retry_end", {"success": True, "attempt": 1}]},
        {"notify": ["compaction_start", {"reason": "overflow"}]},
        {"notify": ["summarization_retry_scheduled", {**retry, "delayMs": 2000}]},
        {"notify": ["compaction_end", {"status": "completed", "result": result, "willRetry": True}]},
        {"notify": ["auto_retry_end", {"success": False, "attempt": 3}]},
        {
            "answer": {
                "stopReason": "error",
                "errorMessage": "no",
                "error": {"code": -32033, "reason": "providerFailed"},
            }
        },
    ]
    lines, _ = talk(tmp_path, "go\n", {"prompt": prompt})
    assert lines == [
        "The model's service failed: it is overloaded; trying again in 2.5 s (1 of 3)",
        "compacting... the context was too large for the model (Ctrl-C stops it)",
        "The summary failed: it is overloaded; trying again in 2 s (1 of 3)",
        "78k tokens became a summary of 2k, and 10k stay as they were. /undo takes it back.",
        "trying again",
        "Gave up after 4 tries.",
        "no",
        "  Try again; if it goes on, check the network, the key (rpc-agent doctor names where it was found) "
        "and the address (OPENAI_BASE_URL or ANTHROPIC_BASE_URL, or baseUrl in models.json).",
    ]


def test_tools_side_by_side_are_a_line_each_with_the_call_they_belong_to(tmp_path: Path) -> None:
    prompt = [
        {"notify": ["tool_execution_start", {"toolCallId": "1", "toolName": "read", "args": {"path": "a"}}]},
        {"notify": ["tool_execution_start", {"toolCallId": "2", "toolName": "read", "args": {"path": "b" * 90}}]},
        {"notify": ["tool_execution_end", {"toolCallId": "2", "toolName": "read", "isError": True, "result": WORDS}]},
        {"notify": ["tool_execution_end", {"toolCallId": "1", "toolName": "read", "result": WORDS, "durationMs": 3}]},
        {"answer": {"stopReason": "stop"}},
    ]
    lines, _ = talk(tmp_path, "go\n", {"prompt": prompt})
    assert lines == [f"  read(path={'b' * 53}... failed: no", "  read(path=a) gave 2 lines in 3 ms"]


def test_a_template_is_sent_as_it_was_typed_and_an_unknown_command_is_not(tmp_path: Path) -> None:
    script: Script = {
        "get_commands": [{"answer": {"commands": [{"name": "review", "source": "prompt"}]}}],
        "prompt": [{"answer": {"stopReason": "stop"}}],
    }
    lines, asked = talk(tmp_path, "/review now\n/reviewer\n/etc/hosts is a file\n", script)
    assert lines == ["There is no command /reviewer; /help lists them."]
    assert [message["params"]["message"] for message in asked] == ["/review now", "/etc/hosts is a file"]


def test_an_undone_compaction_and_a_name_and_a_label_go_through_the_protocol(tmp_path: Path) -> None:
    tree = [{"answer": {"nodes": [ENTRY], "leafId": "a"}}]
    script: Script = {
        "undo_compaction": [{"answer": {"leafId": "x", "previousLeafId": "y"}}],
        "set_session_name": [{"notify": ["session_info_changed", {"name": "birds"}]}, {"answer": {}}],
        "get_tree": tree,
        "set_label": [{"answer": {"entryId": "l"}}],
    }
    lines, asked = talk(tmp_path, "/undo\n/name birds\n/label start here\n/label 1\n/label 2 x\n", script)
    assert lines == [
        "The context is as it was before the compaction. /tree leads back to it.",
        "Now the session is called birds.",
        "Its name is start here now.",
        "It has no name now.",
        "Type /tree first, then the number of one of its lines.",
    ]
    assert [message["params"] for message in asked if message["method"] == "set_label"] == [
        {"entryId": "a", "label": "start here"},
        {"entryId": "a", "label": None},
    ]


def test_a_branch_is_summarized_when_asked_for_with_a_hint(tmp_path: Path) -> None:
    script: Script = {
        "get_tree": [{"answer": {"nodes": [ENTRY], "leafId": "a"}}],
        "navigate_tree": [
            {"notify": ["branch_summary_start", {}]},
            {"notify": ["branch_summary_end", {"aborted": True}]},
            {"answer": {"cancelled": True, "aborted": True, "leafId": "a"}},
        ],
    }
    lines, asked = talk(tmp_path, "/tree\n/tree 1 summarize the birds\n/tree 1 nonsense\n", script)
    assert lines[2:] == [
        "Summarizing the branch that is left (Ctrl-C stops it) ...",
        "The summary of the branch: stopped.",
        "We stay where we were; nothing has changed.",
        "/tree N goes to line N; /tree N summarize sums up what is left behind.",
    ]
    assert asked[-1]["params"] == {"targetId": "a", "summarize": True, "customInstructions": "the birds"}


def test_sessions_are_listed_and_opened_and_the_one_before_is_closed(tmp_path: Path) -> None:
    listed = {"id": "s2", "path": "/s/2.jsonl", "cwd": "/w", "modifiedAt": "2026-11-30T20:00:00.000Z", "bytes": 1}
    opened = {**STATE, "sessionId": "s2", "sessionName": "birds", "messageCount": 0}
    warning = {"kind": "tornLine", "message": "its last line was torn"}
    script: Script = {
        "list_sessions": [{"answer": {"sessions": [{**listed, "firstMessage": "what\nis here?"}]}}],
        "open_session": [{"answer": {**opened, "warnings": [warning]}}],
        "close_session": [{"answer": {"sessionId": "s"}}],
    }
    lines, asked = talk(tmp_path, "/sessions 1\n/sessions birds\n/sessions 1\n", script)
    assert lines == [
        "Type /sessions first, then /sessions with the number of one of its lines.",
        f"   1   {local_time('2026-11-30T20:00:00.000Z')} what is here?",
        "/sessions N opens one.",
        "The session's file: its last line was torn",
        "Now in session birds, 0 messages in the context.",
    ]
    assert [(message["method"], message["params"]) for message in asked] == [
        ("list_sessions", {"limit": 20, "query": "birds"}),
        ("open_session", {"path": "/s/2.jsonl"}),
        ("close_session", {"sessionId": "s"}),
    ]


def test_a_fork_begins_before_a_message_of_the_person(tmp_path: Path) -> None:
    answer = {**ENTRY, "entryId": "b", "parentId": "a", "role": "assistant", "preview": "two"}
    script: Script = {
        "get_tree": [{"answer": {"nodes": [ENTRY, answer], "leafId": "b"}}],
        "fork_session": [{"answer": {**STATE, "sessionId": "f", "messageCount": 0, "text": "one"}}],
        "close_session": [{"answer": {"sessionId": "s"}}],
    }
    lines, asked = talk(tmp_path, "/fork\n/fork 2\n/fork 1\n/quit\n", script)
    assert lines == [
        "   1 * user: one",
        "/fork N begins a new session that ends before message N.",
        "A fork begins before a message of yours; /fork lists them.",
        "Now in a session without a name, 0 messages in the context.",
        "The message there was: one",
    ]
    assert [message["params"] for message in asked if message["method"] == "fork_session"] == [{"entryId": "a"}]


def test_models_are_listed_and_chosen_by_number_or_name(tmp_path: Path) -> None:
    models = [
        {"provider": "offline", "id": "offline", "contextWindow": 32768},
        {"provider": "p", "id": "a/b", "contextWindow": 1_000_000},
    ]
    script: Script = {
        "get_available_models": [{"answer": {"models": models}}],
        "set_model": [{"answer": {"model": models[1]}}],
    }
    lines, asked = talk(tmp_path, "/model\n/model 2\n/model p/a/b\n/model x\n", script)
    assert lines == [
        "   1 > offline/offline, window 33k",
        "   2   p/a/b, window 1M",
        "/model N or /model PROVIDER/ID chooses another.",
        "p/a/b answers from here on.",
        "p/a/b answers from here on.",
        "Name a model as provider/id, or by its number in /model.",
    ]
    chosen = [message["params"] for message in asked if message["method"] == "set_model"]
    assert chosen == [{"provider": "p", "modelId": "a/b"}] * 2


def test_a_server_that_dies_is_told_with_its_last_words(tmp_path: Path) -> None:
    server = FakeServer(tmp_path, {"get_state": [{"answer": STATE}], "prompt": [{"exit": 7}]})
    screen = io.StringIO()
    out, ctrl_c = Terminal(screen, {}), Interrupts()
    with SyncClient.spawn(server.command) as client, pytest.raises(ServerExited):
        Chat(Conversation(out, LineInput(io.StringIO("go\n"), out), Inbox(), ctrl_c), ctrl_c).begin(client)
