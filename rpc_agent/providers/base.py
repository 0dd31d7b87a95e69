"""The port between the engine and a model: a request in, batches of stream events out. Knows no service."""

from collections.abc import AsyncGenerator, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from rpc_agent.conversation.json_values import without_lone_surrogates
from rpc_agent.conversation.messages import ModelMessage
from rpc_agent.conversation.models import Model
from rpc_agent.conversation.tool_spec import ToolSpec
from rpc_agent.conversation.usage import Usage
from rpc_agent.errors import ProviderError


class ModelRequest(Struct, frozen=True, kw_only=True):
    """One call: what to answer, and with what means."""

    model: Model
    messages: Sequence[ModelMessage]
    """Already checked: each tool call has its one result behind it, no empty blocks, no lone surrogates."""
    tools: Sequence[ToolSpec] = ()
    max_tokens: int = 0
    """Most tokens of the answer; 0 leaves it to the service."""
    thinking_level: str = "off"
    routing_id: str = ""
    """Groups calls for a service's prompt cache; a summary call gets a fresh one."""
    cache: bool = True
    """False: the service shall write nothing to its prompt cache."""


class TextDelta(Struct, frozen=True):
    text: str
    signature: str | None = None
    """What the service wants back with this text, where it sends such a thing."""


class ThinkingDelta(Struct, frozen=True):
    text: str
    signature: str | None = None
    """Proof of the thinking for a later call to the same model, where the service sends one."""
    redacted: bool = False
    """The thinking is encrypted: all there is of it is the signature."""


class ToolCallDelta(Struct, frozen=True):
    """A piece of one call. `key` tells calls of one answer apart (an id, an index): a new key is a new call."""

    key: str
    id: str = ""
    name: str = ""
    arguments: str = ""
    """A piece of the arguments' JSON text."""
    signature: str | None = None


class BlockStopped(Struct, frozen=True):
    """The text or thinking block is complete: more of its kind is another block, with a signature of its own."""


class UsageReport(Struct, frozen=True):
    """The service's count so far; a later one replaces it."""

    usage: Usage


class Stopped(Struct, frozen=True):
    """The answer is complete. Without it the stream was cut, and the answer is an error."""

    reason: Literal["stop", "length", "toolUse"]
    response_id: str | None = None


StreamEvent = TextDelta | ThinkingDelta | ToolCallDelta | BlockStopped | UsageReport | Stopped

FailureKind = Literal[
    "overflow", "outputCap", "rate", "quota", "payloadBytes", "overloaded", "auth", "transport", "other"
]
"""What a failure means (engine.md section 5): what to do about it, not who said it."""


class ModelCallFailed(ProviderError):
    """A model call ended without an answer.

    `retry_after` is in seconds, as the service asked. `limit` is the input limit in tokens that the refusal stated.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: FailureKind,
        status: int | None = None,
        retry_after: float | None = None,
        limit: int | None = None,
    ) -> None:
        # Services quote what they were sent, and in JSON half an emoji can be spelled.
        super().__init__(without_lone_surrogates(message))
        self.kind = kind
        self.status = status
        self.retry_after = retry_after
        self.limit = limit


class ChatModel(Protocol):
    """Anything that answers: a service, a script, the offline model."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[StreamEvent], None]:
        """The answer as it comes, in batches: one batch for all that arrived together.

        Raises ModelCallFailed when the service refuses, breaks off or cannot be reached. Closing the generator, or
        cancelling the scope around it, ends the connection at once.
        """
        ...
