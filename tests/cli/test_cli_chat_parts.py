"""The parts of a chat: the gauge, keys by name, permission questions, Ctrl-C between two moments."""

import signal
from typing import Any

import pytest
from rpc_agent_client.types import ContextUsage

from rpc_agent.cli.chat_questions import choose, describe
from rpc_agent.cli.gauge import gauge
from rpc_agent.cli.interrupts import Interrupts, leave
from rpc_agent.cli.keys import name_of


def usage(tokens: int | None, percent: float | None, window: int = 200_000) -> ContextUsage:
    return {"tokens": tokens, "contextWindow": window, "percent": percent}


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (usage(82_400, 41.2), "context [####------] 41%, 82k of 200k tokens"),
        (usage(0, 0), "context [----------] 0%, 0 of 200k tokens"),
        (usage(10, 0.005), "context [#---------] 0%, 10 of 200k tokens"),
        (usage(260_000, 130.0), "context [##########] 130%, 260k of 200k tokens"),
        (usage(None, None, 1_048_576), "context [??????????] not counted yet, window 1M"),
        (None, ""),
        (usage(5, None, 0), ""),
    ],
)
def test_the_gauge_shows_a_bar_the_share_and_the_tokens(given: ContextUsage | None, shown: str) -> None:
    assert gauge(given) == shown


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("\x1b[A", "up"),
        ("\x1bOB", "down"),
        ("\x1b[5~", "page-up"),
        ("\x1b[1~", "home"),
        ("\x1b", "escape"),
        ("\r", "enter"),
        ("\x03", "ctrl-c"),
        ("q", "q"),
        ("\x1b[99~", ""),
        ("\x01", ""),
    ],
)
def test_a_key_has_a_name(typed: str, name: str) -> None:
    assert name_of(typed) == name


OPTIONS = [
    {"id": "o1", "label": "Allow", "kind": "allow_once"},
    {"id": "o2", "label": "Allow for this session", "kind": "allow_always"},
    {"id": "o3", "label": "Reject", "kind": "reject_once"},
    {"id": "o4", "label": "Something new", "kind": "from_the_future"},
]


@pytest.mark.parametrize(
    ("typed", "option"),
    [("y", "o1"), (" A ", "o2"), ("n", "o3"), ("", "o3"), ("2", "o2"), ("4", "o4"), ("reject", "o3"), ("yes!", None)],
)
def test_an_answer_is_meant_by_letter_number_or_label_and_nothing_rejects(typed: str, option: str | None) -> None:
    assert choose(typed, OPTIONS) == option


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ({"command": "cd /tmp\nrm -rf " + "x" * 300}, ["cd /tmp", "rm -rf " + "x" * 300]),
        ({"path": "a", "content": "one\ntwo"}, ["write: /w/a", "+ one", "+ two"]),
        ({"path": "a", "content": "x\n" * 20}, ["write: /w/a", *["+ x"] * 12, "  ... 8 more"]),
        ({"path": "a", "edits": [{"oldText": "x", "newText": "y"}, None]}, ["write: /w/a", "- x", "+ y"]),
        ({}, ["write: /w/a"]),
    ],
)
def test_what_a_tool_would_do_is_told_a_command_whole(args: dict[str, Any], told: list[str]) -> None:
    assert describe({"toolName": "write", "title": "write: /w/a", "args": args}) == told


def test_ctrl_c_between_two_moments_counts_for_the_next_one() -> None:
    heard: list[str] = []
    with Interrupts() as ctrl_c, ctrl_c.kept():
        signal.raise_signal(signal.SIGINT)
        assert heard == []
        with ctrl_c.during(lambda: heard.append("pressed")):
            assert heard == ["pressed"]
            signal.raise_signal(signal.SIGINT)
        with ctrl_c.during(lambda: heard.append("never")):
            pass
    assert heard == ["pressed", "pressed"]


def test_ctrl_c_leaves_where_nothing_else_was_said() -> None:
    with Interrupts() as ctrl_c:
        with pytest.raises(KeyboardInterrupt), ctrl_c.during(leave):
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
