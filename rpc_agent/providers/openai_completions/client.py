"""Asks a chat-completions server. `streaming` knows connections, `request` and `response` know the bytes."""

from collections.abc import Sequence
from typing import Unpack

from rpc_agent.conversation.messages import ModelMessage
from rpc_agent.conversation.models import Model
from rpc_agent.providers.base import ModelRequest
from rpc_agent.providers.openai_completions.compat import Compat, read_compat
from rpc_agent.providers.openai_completions.request import Before, Piece, body_parts, encode_message, joined_pieces
from rpc_agent.providers.openai_completions.response import ChatCompletionReader
from rpc_agent.providers.pieces import Conversations, Pieces
from rpc_agent.providers.streaming import Access, Call, StreamingModel, estimate_tokens


class OpenAICompletions(StreamingModel):
    """A ChatModel that speaks chat completions."""

    def __init__(self, model: Model, **access: Unpack[Access]) -> None:
        super().__init__(model, **access)
        self._compat = read_compat(model.compat)
        self._conversations = Conversations(lambda: _Conversation(model, self._compat))

    def begin(self, request: ModelRequest) -> Call:
        body = body_parts(request, self._compat, *self._conversations.of(request).of(request))
        reader = ChatCompletionReader(
            provider=self._model.provider,
            # Calls that the service leaves nameless differ from those of the turns before by this number.
            call_prefix=f"call_{len(request.messages)}",
            window=self._model.context_window,
            estimate=estimate_tokens(body),
            compat=self._compat,
        )
        return Call(self._model.base_url.rstrip("/") + "/chat/completions", body, reader)


class _Conversation:
    """What the requests of one conversation have in common: each message encoded once, and joined once."""

    def __init__(self, model: Model, compat: Compat) -> None:
        self._model = model
        self._compat = compat
        self._pieces: Pieces[Piece] = Pieces()
        self._joined = joined_pieces(compat)

    def of(self, request: ModelRequest) -> tuple[Sequence[bytes], Before]:
        if not request.cache:
            return self._joined.once(map(self._encode, request.messages))
        pieces = self._pieces.of(request.messages, self._encode)
        return self._joined.of(pieces, self._pieces.unchanged)

    def _encode(self, message: ModelMessage) -> Piece:
        return encode_message(message, self._model, self._compat)
