"""What of a message's content a given model may be sent. Blocks in, the same blocks or fewer out."""

from collections.abc import Sequence
from typing import Any, TypeVar, cast

from msgspec import Struct, field

from rpc_agent.conversation.blocks import (
    AssistantBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    UserBlock,
    is_image_kind,
    plain_base64,
    text_block,
)
from rpc_agent.conversation.json_values import without_lone_surrogates
from rpc_agent.conversation.messages import AssistantMessage, ToolResultMessage
from rpc_agent.nesting import is_deeper

BlockT = TypeVar("BlockT", TextBlock, ThinkingBlock, ToolCallBlock)

_IMAGE_NOTE = "[An image was here; this model does not read images.]"
_IMAGES_BLOCKED_NOTE = "[An image was here; sending images is switched off.]"
_IMAGE_BROKEN_NOTE = "[An image was here; what is recorded of it is not the data of an image, so it cannot be sent.]"
"""A service refuses such a request as a whole, and then every one after it."""
_SILENT_RESULT = "(no output)"
"""Anthropic and others refuse an empty result, and a command that prints nothing is ordinary."""
_MOST_LEVELS = 100
"""Of arguments: files hold anything, services refuse what is nested some hundreds deep, and so do JSON writers."""


class Recipient(Struct, frozen=True):
    """Whom the messages are for. `input` are the kinds of content it reads: "text", "image"."""

    provider: str
    model_id: str
    input: Sequence[str] = field(default=("text",))
    images_blocked: bool = False

    def wrote(self, message: AssistantMessage) -> bool:
        return message["provider"] == self.provider and message["model"] == self.model_id


def shown_content(content: str | list[UserBlock], recipient: Recipient) -> str | list[UserBlock]:
    """The content without what cannot be sent; the same object when all of it can; empty when nothing is left."""
    if isinstance(content, str):
        clean = without_lone_surrogates(content) if content.strip() else ""
        return content if clean == content else clean
    blocks = [shown for block in content if (shown := _shown_block(block, recipient)) is not None]
    return content if _same(blocks, content) else blocks


def tool_result_for(message: ToolResultMessage, recipient: Recipient) -> ToolResultMessage:
    content = shown_content(message["content"], recipient) or [text_block(_SILENT_RESULT)]
    if content is message["content"]:
        return message
    return {**message, "content": cast(list[UserBlock], content)}


def assistant_for(message: AssistantMessage, recipient: Recipient) -> AssistantMessage | None:
    """The answer as `recipient` may see it, or None when nothing of it is left."""
    own = recipient.wrote(message)
    blocks = [shown for block in message["content"] if (shown := _answer_block(block, own)) is not None]
    if not blocks:
        return None
    return message if _same(blocks, message["content"]) else {**message, "content": blocks}


def _shown_block(block: UserBlock, recipient: Recipient) -> UserBlock | None:
    if block["type"] == "text":
        return _text(block)
    if recipient.images_blocked:
        return text_block(_IMAGES_BLOCKED_NOTE)
    if "image" not in recipient.input:
        return text_block(_IMAGE_NOTE)
    plain = plain_base64(block["data"]) if is_image_kind(block["mimeType"]) else None
    if plain is None:
        return text_block(_IMAGE_BROKEN_NOTE)
    return block if plain is block["data"] else {**block, "data": plain}


def _answer_block(block: AssistantBlock, own: bool) -> AssistantBlock | None:
    match block["type"]:
        case "text":
            shown = _text(block)
            return shown if own or shown is None else _without(shown, "textSignature")
        case "toolCall":
            return _call(block if own else _without(block, "thoughtSignature"))
        case "thinking":
            # Signatures are checked by the service that made them, and reasoning is only asked back by its own model.
            return _thinking(block) if own else None


def _text(block: TextBlock) -> TextBlock | None:
    text = without_lone_surrogates(block["text"])
    if not text.strip():
        return None
    return block if text == block["text"] else {**block, "text": text}


def _thinking(block: ThinkingBlock) -> ThinkingBlock | None:
    if not block["thinking"].strip() and not block.get("thinkingSignature"):
        return None
    thinking = without_lone_surrogates(block["thinking"])
    return block if thinking == block["thinking"] else {**block, "thinking": thinking}


def _call(block: ToolCallBlock) -> ToolCallBlock:
    if is_deeper(block["arguments"], _MOST_LEVELS):
        return {**block, "arguments": {"omitted": f"nested more than {_MOST_LEVELS} deep"}}
    arguments = _clean(block["arguments"])
    return block if arguments == block["arguments"] else {**block, "arguments": arguments}


def _clean(value: Any) -> Any:
    """A JSON value without lone surrogates, in keys too."""
    match value:
        case str():
            return without_lone_surrogates(value)
        case dict():
            return {_clean(key): _clean(item) for key, item in value.items()}
        case list():
            return [_clean(item) for item in value]
        case _:
            return value


def _without(block: BlockT, name: str) -> BlockT:
    if name not in block:
        return block
    return cast(BlockT, {key: value for key, value in block.items() if key != name})


def _same(left: Sequence[object], right: Sequence[object]) -> bool:
    return len(left) == len(right) and all(mine is theirs for mine, theirs in zip(left, right, strict=True))
