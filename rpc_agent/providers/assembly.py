"""Stream events -> the blocks of one answer, and the updates a front end draws. Pure: no clock, no service, no tools.

A tool call's arguments are parsed once, when the answer is complete. A call that was cut keeps no half-read arguments,
so nobody can run it by mistake.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, assert_never, cast

from msgspec import Struct

from rpc_agent.conversation.blocks import AssistantBlock, ThinkingBlock, ToolCallBlock, text_block
from rpc_agent.conversation.json_values import without_lone_surrogates
from rpc_agent.conversation.messages import AssistantMessage, StopReason
from rpc_agent.conversation.models import Model
from rpc_agent.conversation.usage import Usage, make_usage
from rpc_agent.providers.base import (
    BlockStopped,
    Stopped,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    UsageReport,
)
from rpc_agent.providers.call_arguments import parse_arguments
from rpc_agent.providers.pricing import with_cost

BlockKind = Literal["text", "thinking", "toolCall"]

INVALID_ARGUMENTS = "invalidArguments"
"""Field of a tool call block whose arguments were no JSON object: the text the model wrote. `arguments` is {} then."""


class BlockStarted(Struct, frozen=True):
    """`index` is the block's place in the message's content. `id` and `name` are a tool call's."""

    index: int
    kind: BlockKind
    id: str = ""
    name: str = ""


class BlockDelta(Struct, frozen=True):
    """More of a block; for a tool call a piece of its arguments' JSON."""

    index: int
    kind: BlockKind
    delta: str


class BlockEnded(Struct, frozen=True):
    index: int
    block: AssistantBlock


BlockUpdate = BlockStarted | BlockDelta | BlockEnded

_NOTHING: tuple[BlockUpdate, ...] = ()


class _Block:
    """A block while it grows."""

    __slots__ = ("ended", "id", "index", "kind", "name", "parts", "redacted", "signature")

    def __init__(self, index: int, kind: BlockKind, call_id: str = "", name: str = "") -> None:
        self.index = index
        self.kind: BlockKind = kind
        self.id = call_id
        self.name = name
        self.parts: list[str] = []
        self.signature: str | None = None
        self.redacted = False
        self.ended = False

    def text(self) -> str:
        return without_lone_surrogates("".join(self.parts))


class Assembly:
    """One answer as it grows. `message` may be asked for at any moment."""

    def __init__(self) -> None:
        self._blocks: list[_Block] = []
        self._calls: dict[str, _Block] = {}
        self._open: _Block | None = None
        """The text or thinking block that deltas go to; calls may grow side by side and are found by key."""
        self.usage: Usage = make_usage()
        self.stopped: Stopped | None = None
        """Set when the service said that the answer is complete."""

    def apply(self, event: StreamEvent) -> Sequence[BlockUpdate]:
        """Take one event in; what changed, in the order to show it."""
        # Text comes first and by exact type: it is nearly all there is, and this runs once a delta.
        if type(event) is TextDelta and event.signature is None:
            open_block = self._open
            if open_block is not None and open_block.kind == "text":
                if not event.text:
                    return _NOTHING
                open_block.parts.append(event.text)
                return (BlockDelta(open_block.index, "text", event.text),)
            return self._grow("text", event.text) if event.text else _NOTHING
        match event:
            case ThinkingDelta():
                return self._think(event)
            case ToolCallDelta():
                return self._call(event)
            case UsageReport(usage):
                self.usage = usage
                return _NOTHING
            case Stopped():
                self.stopped = event
                return self.close()
            case TextDelta(text, signature):
                updates = self._grow("text", text)
                if self._open is not None:
                    self._open.signature = signature
                return updates
            case BlockStopped():
                return self._end_open()
            case _:
                assert_never(event)

    def close(self) -> Sequence[BlockUpdate]:
        """End every block that is still open: the answer is complete, or nothing more will come."""
        updates = [self._end(block) for block in self._blocks if not block.ended]
        self._open = None
        return updates

    def message(
        self, model: Model, timestamp: int, stop_reason: StopReason, error_message: str | None = None
    ) -> AssistantMessage:
        """The answer so far. `timestamp` is milliseconds since the epoch."""
        message: AssistantMessage = {
            "role": "assistant",
            "content": [_finished(block) for block in self._blocks],
            "api": model.api,
            "provider": model.provider,
            "model": model.id,
            "usage": with_cost(self.usage, model.cost, model.price_tiers),
            "stopReason": stop_reason,
            "timestamp": timestamp,
        }
        if error_message is not None:
            message["errorMessage"] = error_message
        if self.stopped is not None and self.stopped.response_id:
            message["responseId"] = without_lone_surrogates(self.stopped.response_id)
        return message

    def _grow(self, kind: BlockKind, text: str) -> Sequence[BlockUpdate]:
        """Text for the open block of this kind, or for a new one."""
        updates: list[BlockUpdate] = []
        block = self._open
        if block is None or block.kind != kind:
            updates += self._end_open()
            block = self._open = self._start(kind)
            updates.append(BlockStarted(block.index, kind))
        if text:
            block.parts.append(text)
            updates.append(BlockDelta(block.index, kind, text))
        return updates

    def _think(self, event: ThinkingDelta) -> Sequence[BlockUpdate]:
        if not event.text and not event.signature:
            return _NOTHING
        updates = self._grow("thinking", event.text)
        if event.signature and self._open is not None:
            self._open.signature = event.signature
            self._open.redacted = event.redacted
        return updates

    def _call(self, event: ToolCallDelta) -> Sequence[BlockUpdate]:
        updates: list[BlockUpdate] = []
        block = self._calls.get(event.key)
        if block is None:
            updates += self._end_open()
            call_id = self._unused_id(event.id or event.key)
            block = self._calls[event.key] = self._start("toolCall", call_id, event.name)
            updates.append(BlockStarted(block.index, "toolCall", block.id, block.name))
        block.name = block.name or without_lone_surrogates(event.name)
        block.signature = event.signature or block.signature
        if event.arguments:
            block.parts.append(event.arguments)
            updates.append(BlockDelta(block.index, "toolCall", event.arguments))
        return updates

    def _unused_id(self, call_id: str) -> str:
        """Some servers give two calls of an answer one id, of which a result could tell only one."""
        taken = {block.id for block in self._calls.values()}
        return f"{call_id}_{len(taken) + 1}" if call_id in taken else call_id

    def _start(self, kind: BlockKind, call_id: str = "", name: str = "") -> _Block:
        block = _Block(len(self._blocks), kind, without_lone_surrogates(call_id), without_lone_surrogates(name))
        self._blocks.append(block)
        return block

    def _end_open(self) -> list[BlockUpdate]:
        block, self._open = self._open, None
        return [self._end(block)] if block is not None else []

    def _end(self, block: _Block) -> BlockEnded:
        block.ended = True
        return BlockEnded(block.index, _finished(block))


def invalid_arguments(block: ToolCallBlock) -> str | None:
    """What the model wrote where a JSON object was due; None when the arguments were one."""
    raw = cast(Mapping[str, Any], block).get(INVALID_ARGUMENTS)
    return raw if isinstance(raw, str) else None


def _finished(block: _Block) -> AssistantBlock:
    match block.kind:
        case "text":
            text = text_block(block.text())
            if block.signature:
                text["textSignature"] = without_lone_surrogates(block.signature)
            return text
        case "thinking":
            thinking: ThinkingBlock = {"type": "thinking", "thinking": block.text()}
            if block.signature:
                thinking["thinkingSignature"] = without_lone_surrogates(block.signature)
            if block.redacted:
                thinking["redacted"] = True
            return thinking
        case "toolCall":
            return _finished_call(block)
        case _:
            assert_never(block.kind)


def _finished_call(block: _Block) -> ToolCallBlock:
    text = block.text()
    arguments = parse_arguments(text)
    call: dict[str, Any] = {"type": "toolCall", "id": block.id, "name": block.name, "arguments": arguments or {}}
    if arguments is None:
        call[INVALID_ARGUMENTS] = text
    if block.signature:
        call["thoughtSignature"] = without_lone_surrogates(block.signature)
    return cast(ToolCallBlock, call)
