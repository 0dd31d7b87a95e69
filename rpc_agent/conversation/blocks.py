"""Content blocks of a message, in the JSON shape of the session file.

Blocks stay JSON objects (typed dictionaries) rather than classes of ours: a field that another program put there
survives reading, projecting and writing without anybody knowing its name.
"""

import binascii
from collections.abc import Iterable
from typing import Any, Literal, NotRequired, TypedDict, cast

from rpc_agent.conversation.json_values import as_id, as_object, as_text


class TextBlock(TypedDict):
    type: Literal["text"]
    text: str
    textSignature: NotRequired[str]


class ImageBlock(TypedDict):
    type: Literal["image"]
    data: str
    """Base64."""
    mimeType: str


class ThinkingBlock(TypedDict):
    type: Literal["thinking"]
    thinking: str
    thinkingSignature: NotRequired[str]
    redacted: NotRequired[bool]


class ToolCallBlock(TypedDict):
    type: Literal["toolCall"]
    id: str
    name: str
    arguments: dict[str, Any]
    thoughtSignature: NotRequired[str]


UserBlock = TextBlock | ImageBlock
AssistantBlock = TextBlock | ThinkingBlock | ToolCallBlock
Block = TextBlock | ImageBlock | ThinkingBlock | ToolCallBlock


def text_block(text: str) -> TextBlock:
    return {"type": "text", "text": text}


def read_block(value: object) -> Block | None:
    """A well-formed block made from whatever a file holds, or None when nothing of it can be shown.

    Missing texts become "", missing arguments become {}; unknown fields of a known block are kept.
    """
    raw = dict(as_object(value))
    match raw.get("type"):
        case "text":
            raw["text"] = as_text(raw.get("text"))
        case "thinking":
            raw["thinking"] = as_text(raw.get("thinking"))
        case "toolCall":
            raw |= {"id": as_id(raw.get("id")), "name": as_text(raw.get("name"))}
            raw["arguments"] = dict(as_object(raw.get("arguments")))
        case "image":
            if not isinstance(raw.get("data"), str) or not isinstance(raw.get("mimeType"), str):
                return None
        case _:
            return None
    # A type checker cannot follow how a file's JSON became one of the four; this function is where it does.
    return cast(Block, raw)


def is_base64(data: str) -> bool:
    """Whether services take it for the bytes of a file: padded, no line ends, nothing before it, and not empty."""
    try:
        return bool(binascii.a2b_base64(data, strict_mode=True))
    except ValueError:
        return False


def plain_base64(data: str) -> str | None:
    """The same bytes as services want them written: programs break the lines, leave the padding out, or put a data:
    prefix before it. None for what is no base64, or of nothing."""
    if is_base64(data):
        return data
    plain = "".join(data.split())
    if plain.startswith("data:"):
        plain = plain.partition(";base64,")[2]
    plain += "=" * (-len(plain) % 4)
    return plain if is_base64(plain) else None


def is_image_kind(mime_type: str) -> bool:
    return mime_type.startswith("image/")


def read_blocks(value: object) -> list[Block]:
    if isinstance(value, str):
        return [text_block(value)] if value else []
    if not isinstance(value, list):
        return []
    return [block for item in value if (block := read_block(item)) is not None]


def blocks_text(content: str | Iterable[Block], separator: str = "\n") -> str:
    """The text blocks of a content, joined; thinking, images and calls are left out."""
    if isinstance(content, str):
        return content
    texts = [block["text"] for block in content if block["type"] == "text"]
    return texts[0] if len(texts) == 1 else separator.join(texts)
