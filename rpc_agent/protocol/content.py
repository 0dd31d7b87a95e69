"""Content blocks: the two a client sends, and the four that messages hold. Shapes only."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import AfterValidator, Field
from typing_extensions import TypeAliasType, TypedDict

from rpc_agent.conversation.blocks import is_image_kind, plain_base64
from rpc_agent.protocol.wire_model import WireModel, open_object


class TextContent(WireModel):
    """Text from the client."""

    type: Literal["text"]
    text: str
    """Plain text or Markdown, any length."""


def _as_base64(data: str) -> str:
    plain = plain_base64(data)
    if plain is None:
        raise ValueError("must be the bytes of an image in base64")
    return plain


def _as_image_kind(mime_type: str) -> str:
    if not is_image_kind(mime_type):
        raise ValueError("must be the type of an image, such as image/png")
    return mime_type


class ImageContent(WireModel):
    """An image from the client."""

    type: Literal["image"]
    data: Annotated[str, AfterValidator(_as_base64)]
    """The image file's bytes in base64, without a data: prefix."""
    mime_type: Annotated[str, Field(min_length=1), AfterValidator(_as_image_kind)]
    """Such as image/png or image/jpeg."""


InputContent = TypeAliasType("InputContent", Annotated[TextContent | ImageContent, Field(discriminator="type")])
"""A block that a client sends."""


@open_object
class TextBlock(TypedDict):
    """Text of a message."""

    type: Literal["text"]
    text: str
    """Plain text or Markdown."""
    textSignature: NotRequired[str]
    """The provider's own mark; give it back unchanged or not at all."""


@open_object
class ImageBlock(TypedDict):
    """An image of a message."""

    type: Literal["image"]
    data: str
    """Base64."""
    mimeType: str
    """Such as image/png."""


@open_object
class ThinkingBlock(TypedDict):
    """What the model thought before it answered."""

    type: Literal["thinking"]
    thinking: str
    """The text of the thoughts; empty when the provider keeps them to itself."""
    thinkingSignature: NotRequired[str]
    """The provider's proof of the thinking; of use to the same model only."""
    redacted: NotRequired[bool]
    """True when the provider hid the text."""


@open_object
class ToolCallBlock(TypedDict):
    """A tool that the model asks for."""

    type: Literal["toolCall"]
    id: str
    """Names the call in tool_execution_* and in the toolResult message."""
    name: str
    """The tool's name."""
    arguments: dict[str, Any]
    """As the tool's schema describes them; not yet checked when the model made the call."""
    thoughtSignature: NotRequired[str]
    """The provider's proof of the thinking behind the call."""


UserContent = TypeAliasType("UserContent", Annotated[TextBlock | ImageBlock, Field(discriminator="type")])
"""A block of a message that is not the model's."""
AssistantContent = TypeAliasType(
    "AssistantContent", Annotated[TextBlock | ThinkingBlock | ToolCallBlock, Field(discriminator="type")]
)
"""A block of the model's message."""
