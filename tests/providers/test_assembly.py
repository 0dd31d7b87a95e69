from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpc_agent.conversation.models import Model
from rpc_agent.conversation.usage import make_usage
from rpc_agent.providers.assembly import Assembly, BlockDelta, BlockEnded, BlockStarted, BlockUpdate, invalid_arguments
from rpc_agent.providers.base import Stopped, StreamEvent, TextDelta, ThinkingDelta, ToolCallDelta, UsageReport
from rpc_agent.providers.call_arguments import parse_arguments

MODEL = Model(id="m", provider="p", api="a", cost={"input": 2.0, "output": 10.0})


def played(*events: StreamEvent) -> tuple[Assembly, list[BlockUpdate]]:
    assembly = Assembly()
    return assembly, [update for event in events for update in assembly.apply(event)]


def content(*events: StreamEvent) -> list[Any]:
    return list(played(*events)[0].message(MODEL, 1, "stop")["content"])


def test_an_answer_of_all_kinds_is_shown_block_by_block() -> None:
    call = {"type": "toolCall", "id": "c", "name": "ls", "arguments": {"path": "."}}
    text = {"type": "text", "text": "Let me look."}
    thinking = {"type": "thinking", "thinking": "hm", "thinkingSignature": "sig"}
    assembly, updates = played(
        ThinkingDelta("h"),
        ThinkingDelta("m", "sig"),
        TextDelta("Let me"),
        TextDelta(""),
        TextDelta(" look."),
        ToolCallDelta("0", "c", "ls"),
        ToolCallDelta("0", arguments='{"path":'),
        ToolCallDelta("0", arguments='"."}'),
        UsageReport(make_usage(input=1_000_000, output=100_000)),
        Stopped("toolUse", "r1"),
    )
    assert updates == [
        BlockStarted(0, "thinking"),
        BlockDelta(0, "thinking", "h"),
        BlockDelta(0, "thinking", "m"),
        BlockEnded(0, thinking),  # type: ignore[arg-type]
        BlockStarted(1, "text"),
        BlockDelta(1, "text", "Let me"),
        BlockDelta(1, "text", " look."),
        BlockEnded(1, text),  # type: ignore[arg-type]
        BlockStarted(2, "toolCall", "c", "ls"),
        BlockDelta(2, "toolCall", '{"path":'),
        BlockDelta(2, "toolCall", '"."}'),
        BlockEnded(2, call),  # type: ignore[arg-type]
    ]
    assert assembly.message(MODEL, 7, "toolUse") == {
        "role": "assistant",
        "content": [thinking, text, call],
        "api": "a",
        "provider": "p",
        "model": "m",
        "usage": {
            **make_usage(input=1_000_000, output=100_000),
            "cost": {"input": 2.0, "output": 1.0, "cacheRead": 0.0, "cacheWrite": 0.0, "total": 3.0},
        },
        "stopReason": "toolUse",
        "timestamp": 7,
        "responseId": "r1",
    }


@given(st.text(st.characters(exclude_categories=["Cs"])), st.data())
def test_at_any_moment_the_message_holds_exactly_the_text_so_far(text: str, data: st.DataObject) -> None:
    assembly, sent = Assembly(), ""
    while sent != text:
        piece = text[len(sent) : len(sent) + data.draw(st.integers(1, 5))]
        assembly.apply(TextDelta(piece))
        sent += piece
        assert assembly.message(MODEL, 1, "aborted", "stopped")["content"] == [{"type": "text", "text": sent}]


def test_a_call_that_was_cut_keeps_none_of_its_arguments() -> None:
    cut = played(TextDelta("hi"), ToolCallDelta("k", "c", "write", '{"path":"x.txt","content":"hel'))[0]
    message = cut.message(MODEL, 1, "aborted", "stopped by the user")
    call: Any = message["content"][1]
    assert (call["arguments"], invalid_arguments(call)) == ({}, '{"path":"x.txt","content":"hel')
    assert message.get("errorMessage") == "stopped by the user"


def test_arguments_that_are_no_object_are_kept_as_they_were_written() -> None:
    for written in ("[1]", "nonsense", '"text"', '{"a":NaN}', "{'a': 1}"):
        (call,) = content(ToolCallDelta("k", "c", "ls", written), Stopped("toolUse"))
        assert (call["arguments"], invalid_arguments(call)) == ({}, written)


@pytest.mark.parametrize(("levels", "is_kept"), [(99, True), (101, False), (500, False), (100_000, False)])
def test_arguments_nested_deeper_than_any_tools_are_none(levels: int, is_kept: bool) -> None:
    text = '{"a":' * levels + "1" + "}" * levels
    assert (parse_arguments(text) is not None) is is_kept


def test_a_call_without_arguments_is_a_call_with_none() -> None:
    (call,) = content(ToolCallDelta("k", "c", "ls"), Stopped("toolUse"))
    assert call == {"type": "toolCall", "id": "c", "name": "ls", "arguments": {}}


def test_escaped_lone_surrogates_in_arguments_become_replacement_characters() -> None:
    (call,) = content(ToolCallDelta("k", "c", "ls", '{"a":"\\ud800x","b":"\\ud83d\\ude00"}'), Stopped("toolUse"))
    assert call["arguments"] == {"a": "\ufffdx", "b": "😀"}


def test_calls_grow_side_by_side_and_text_after_them_is_a_new_block() -> None:
    blocks = content(
        TextDelta("a"),
        ToolCallDelta("0", "x", "ls", "{"),
        ToolCallDelta("1", "y", "ls", "{"),
        ToolCallDelta("0", arguments="}"),
        ToolCallDelta("1", arguments='"n":1}'),
        TextDelta("b"),
        Stopped("toolUse"),
    )
    assert [block.get("text", block.get("arguments")) for block in blocks] == ["a", {}, {"n": 1}, "b"]
