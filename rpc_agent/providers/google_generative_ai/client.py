"""Asks a service of the generateContent API. `streaming` knows connections, `request` and `response` the bytes."""

from typing import Unpack
from urllib.parse import quote

from rpc_agent.conversation.models import Model
from rpc_agent.providers.base import ModelRequest
from rpc_agent.providers.google_generative_ai.compat import read_compat
from rpc_agent.providers.google_generative_ai.contents import Contents
from rpc_agent.providers.google_generative_ai.request import request_body
from rpc_agent.providers.google_generative_ai.response import GenerateContentReader
from rpc_agent.providers.pieces import Conversations
from rpc_agent.providers.streaming import Access, Call, StreamingModel, estimate_tokens


class GoogleGenerativeAI(StreamingModel):
    """A ChatModel that speaks generateContent.

    The base address holds the version (".../v1beta"). The key is never part of the address, where logs would keep it.
    """

    key_headers = ("x-goog-api-key", "authorization")
    key_prefix = ""

    def __init__(self, model: Model, **access: Unpack[Access]) -> None:
        super().__init__(model, **access)
        self._compat = read_compat(model)
        self._conversations = Conversations(lambda: Contents(model, self._compat))

    def begin(self, request: ModelRequest) -> Call:
        body = request_body(request, self._compat, *self._conversations.of(request).of(request.messages))
        reader = GenerateContentReader(
            provider=self._model.provider,
            call_tag=str(len(request.messages)),
            window=self._model.context_window,
            estimate=estimate_tokens(body),
        )
        # A tuned model's id holds a slash ("tunedModels/x") and is its own path.
        name = self._model.id if "/" in self._model.id else f"models/{self._model.id}"
        base = self._model.base_url.rstrip("/")
        return Call(f"{base}/{quote(name)}:streamGenerateContent?alt=sse", body, reader)
