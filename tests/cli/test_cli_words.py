"""Messages in words."""

from typing import Any

import pytest

from rpc_agent.cli import words
from rpc_agent.protocol.notifications import NOTIFICATIONS


@pytest.mark.parametrize(
    ("method", "params", "said"),
    [
        ("agent_settled", {"aborted": True}, "everything is done, after an abort"),
        ("message_end", {"message": {"role": "user", "content": "hi\nthere"}}, 'user: "hi there"'),
        (
            "message_start",
            {"message": {"role": "assistant", "content": [{"type": "toolCall", "name": "ls", "id": "1"}]}},
            "assistant: asks for ls",
        ),
        (
            "tool_execution_start",
            {"toolName": "read", "args": {"path": "a.md", "limit": 3}},
            "read(path=a.md, limit=3)",
        ),
        (
            "tool_execution_end",
            {"toolName": "ls", "result": {"content": [{"type": "text", "text": "a\nb"}]}, "durationMs": 4},
            "ls gave 2 lines in 4 ms",
        ),
        (
            "tool_execution_end",
            {"toolName": "bash", "isError": True, "result": {"content": [{"type": "text", "text": "no\nway"}]}},
            "bash failed: no",
        ),
        (
            "compaction_end",
            {"status": "completed", "result": {"tokensBefore": 78_400, "estimatedTokensAfter": 2000}},
            "a context of 78k tokens became 2k",
        ),
        ("compaction_end", {"status": "cancelled"}, "stopped; nothing was changed"),
        ("compaction_end", {"status": "failed", "errorMessage": "no"}, "failed, nothing was changed: no"),
        (
            "context_usage_changed",
            {"tokens": 1200, "contextWindow": 12000, "percent": 10},
            "the context holds 1.2k tokens, 10.0 % of the window",
        ),
        (
            "context_usage_changed",
            {"tokens": None, "contextWindow": 12000, "percent": None},
            "the size of the context is unknown until the next answer",
        ),
    ],
)
def test_a_notification_is_told_in_words(method: str, params: dict[str, Any], said: str) -> None:
    assert words.tell(method, params) == said


@pytest.mark.parametrize("method", sorted(NOTIFICATIONS))
def test_every_notification_of_the_protocol_can_be_told_even_without_its_fields(method: str) -> None:
    assert words.tell(method, {}), f"add {method} to words.py"


def test_an_unknown_notification_is_passed_over() -> None:
    assert words.tell("from_the_future", {"x": 1}) == ""
