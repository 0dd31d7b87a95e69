"""Asks a responses server. `streaming` knows connections; `items`, `request` and `response` know the bytes."""

from collections.abc import Sequence
from typing import Unpack

from rpc_agent.conversation.messages import ModelMessage
from rpc_agent.conversation.models import Model
from rpc_agent.providers.base import ModelRequest
from rpc_agent.providers.openai_responses.compat import Compat, read_compat
from rpc_agent.providers.openai_responses.items import encode_message
from rpc_agent.providers.openai_responses.request import body_parts, joined_items
from rpc_agent.providers.openai_responses.response import ResponsesReader
from rpc_agent.providers.pieces import Conversations, Pieces
from rpc_agent.providers.streaming import Access, Call, StreamingModel, estimate_tokens


class OpenAIResponses(StreamingModel):
    """A ChatModel that speaks the responses API."""

    def __init__(self, model: Model, **access: Unpack[Access]) -> None:
        super().__init__(model, **access)
        self._compat = read_compat(model.compat)
        self._conversations = Conversations(lambda: _Conversation(model, self._compat))

    def begin(self, request: ModelRequest) -> Call:
        items = self._conversations.of(request).of(request.messages)
        body = body_parts(request, self._compat, items)
        reader = ResponsesReader(
            provider=self._model.provider,
            # Calls that the service leaves nameless differ from those of the turns before by this number.
            call_prefix=f"call_{len(request.messages)}",
            window=self._model.context_window,
            estimate=estimate_tokens(body),
        )
        return Call(self._model.base_url.rstrip("/") + "/responses", body, reader)


class _Conversation:
    """What the requests of one conversation have in common: each message encoded once, and joined once."""

    def __init__(self, model: Model, compat: Compat) -> None:
        self._model = model
        self._compat = compat
        self._pieces: Pieces[bytes] = Pieces()
        self._joined = joined_items()

    def of(self, messages: Sequence[ModelMessage]) -> Sequence[bytes]:
        pieces = self._pieces.of(messages, self._encode)
        parts, _ = self._joined.of(pieces, self._pieces.unchanged)
        return parts

    def _encode(self, message: ModelMessage) -> bytes:
        return encode_message(message, self._model, self._compat)
