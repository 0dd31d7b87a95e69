"""What services want back with a block, and where one block ends and the next of its kind begins."""

from typing import Any

from rpc_agent.conversation.models import Model
from rpc_agent.providers.assembly import Assembly, BlockDelta, BlockEnded, BlockStarted, BlockUpdate
from rpc_agent.providers.base import BlockStopped, StreamEvent, TextDelta, ThinkingDelta, ToolCallDelta

MODEL = Model(id="m", provider="p", api="a")


def played(*events: StreamEvent) -> tuple[list[Any], list[BlockUpdate]]:
    assembly = Assembly()
    updates = [update for event in events for update in assembly.apply(event)]
    return list(assembly.message(MODEL, 1, "stop")["content"]), updates


def test_a_block_that_was_ended_is_not_gone_on_with() -> None:
    content, updates = played(
        ThinkingDelta("a"), ThinkingDelta("", "s1"), BlockStopped(), ThinkingDelta("b", "s2"), BlockStopped()
    )
    first: Any = {"type": "thinking", "thinking": "a", "thinkingSignature": "s1"}
    second: Any = {"type": "thinking", "thinking": "b", "thinkingSignature": "s2"}
    assert content == [first, second]
    assert updates == [
        BlockStarted(0, "thinking"),
        BlockDelta(0, "thinking", "a"),
        BlockEnded(0, first),
        BlockStarted(1, "thinking"),
        BlockDelta(1, "thinking", "b"),
        BlockEnded(1, second),
    ]


def test_an_end_where_nothing_is_open_changes_nothing() -> None:
    content, updates = played(
        BlockStopped(), ToolCallDelta("k", "c", "ls"), BlockStopped(), ToolCallDelta("k", "", "", "{}")
    )
    assert content == [{"type": "toolCall", "id": "c", "name": "ls", "arguments": {}}]
    assert updates == [BlockStarted(0, "toolCall", "c", "ls"), BlockDelta(0, "toolCall", "{}")]


def test_redacted_thinking_keeps_its_data_and_says_what_it_is() -> None:
    content, _ = played(ThinkingDelta("", "data", redacted=True), BlockStopped(), TextDelta("x"))
    redacted = {"type": "thinking", "thinking": "", "thinkingSignature": "data", "redacted": True}
    assert content == [redacted, {"type": "text", "text": "x"}]


def test_text_may_have_a_signature_too() -> None:
    content, updates = played(TextDelta("a"), TextDelta("b", "s"), TextDelta("", "t"))
    signed: Any = {"type": "text", "text": "ab", "textSignature": "t"}
    assert content == [signed]
    assert updates == [BlockStarted(0, "text"), BlockDelta(0, "text", "a"), BlockDelta(0, "text", "b")]
