"""Asks a service of the messages API. `streaming` knows connections, `request` and `response` know the bytes."""

from collections.abc import Mapping
from typing import Unpack

from rpc_agent.conversation.models import Model
from rpc_agent.providers.anthropic_messages.compat import read_compat
from rpc_agent.providers.anthropic_messages.request import request_body
from rpc_agent.providers.anthropic_messages.response import MessagesReader
from rpc_agent.providers.anthropic_messages.turns import Turns
from rpc_agent.providers.base import ModelRequest
from rpc_agent.providers.pieces import Conversations
from rpc_agent.providers.streaming import Access, Call, StreamingModel, estimate_tokens

_VERSION = "2023-06-01"
"""The version of the API that request and response are written for."""


class AnthropicMessages(StreamingModel):
    """A ChatModel that speaks the messages API.

    The base address may end with /v1 or not: the vendor's own variable has it without, models.json often with it.
    """

    key_headers = ("x-api-key", "authorization")
    key_prefix = ""

    def __init__(self, model: Model, **access: Unpack[Access]) -> None:
        super().__init__(model, **access)
        self._compat = read_compat(model)
        self._conversations = Conversations(lambda: Turns(model))

    def fixed_headers(self) -> Mapping[str, str]:
        return {"anthropic-version": _VERSION}

    def begin(self, request: ModelRequest) -> Call:
        body = request_body(request, self._compat, *self._conversations.of(request).of(request.messages))
        reader = MessagesReader(
            provider=self._model.provider,
            call_prefix=f"call_{len(request.messages)}",
            window=self._model.context_window,
            estimate=estimate_tokens(body),
        )
        return Call(self._model.base_url.rstrip("/").removesuffix("/v1") + "/v1/messages", body, reader)
