"""Each API as a test sees it: its client, a strict service of it, and how that service words an answer."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio

from rpc_agent.conversation.messages import AssistantMessage, ModelMessage
from rpc_agent.conversation.models import Model
from rpc_agent.providers.answer_stream import AnswerReader
from rpc_agent.providers.anthropic_messages.client import AnthropicMessages
from rpc_agent.providers.anthropic_messages.response import MessagesReader
from rpc_agent.providers.assembly import Assembly
from rpc_agent.providers.base import ModelRequest
from rpc_agent.providers.connections import Connections
from rpc_agent.providers.google_generative_ai.client import GoogleGenerativeAI
from rpc_agent.providers.google_generative_ai.response import GenerateContentReader
from rpc_agent.providers.openai_completions.client import OpenAICompletions
from rpc_agent.providers.openai_completions.response import ChatCompletionReader
from rpc_agent.providers.openai_responses.client import OpenAIResponses
from rpc_agent.providers.openai_responses.response import ResponsesReader
from rpc_agent.providers.streaming import StreamingModel
from rpc_agent.providers.timeouts import Timeouts
from tests.support import strict_anthropic, strict_google, strict_responses
from tests.support.chat_server import ChatServer, ServerReply, chunk, sse
from tests.support.strict_completions import completions_faults

KEY = "sk-test-0123456789"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """An answer in no API's words. `calls` are (id, name, arguments)."""

    thinking: str = ""
    text: str = ""
    calls: Sequence[tuple[str, str, Mapping[str, Any]]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """`reader` makes an answer of a stream. `say` words an answer with 7 fresh tokens of input, 3 from the cache and 5 of output."""

    name: str
    client: type[StreamingModel]
    reader: Callable[..., AnswerReader]
    refuse: Callable[[bytes], list[str]]
    say: Callable[[Said], ServerReply]
    key_header: tuple[str, str]

    def model(self, base_url: str, **more: Any) -> Model:
        return Model(**{"id": "m", "provider": "test", "api": self.name, "base_url": base_url, **more})

    def server(self, *replies: ServerReply) -> ChatServer:
        return ChatServer(replies, self.refuse)

    async def ask(
        self,
        server: ChatServer,
        messages: Sequence[ModelMessage],
        *,
        timeouts: Timeouts | None = None,
        assembly: Assembly | None = None,
        connections: Connections | None = None,
        **more: Any,
    ) -> AssistantMessage:
        """The whole answer, also in `assembly`. `more` are fields of the request; those of `model` stand in a
        dictionary of that name. `connections` stay open."""
        assembly = assembly or Assembly()
        model = self.model(**{"base_url": server.base_url, **more.pop("model", {})})
        used = connections or Connections()
        client = self.client(model, key=lambda: KEY, connections=used, timeouts=timeouts)
        try:
            with anyio.fail_after(20):
                async for batch in client.stream(ModelRequest(model=model, messages=messages, **more)):
                    for event in batch:
                        assembly.apply(event)
        finally:
            if connections is None:
                await used.aclose()
        assert assembly.stopped is not None
        return assembly.message(model, 2, assembly.stopped.reason)


def pieces_of(text: str, size: int = 3) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def _completions(said: Said) -> ServerReply:
    deltas: list[dict[str, Any]] = [{"reasoning_content": piece} for piece in pieces_of(said.thinking)]
    deltas += [{"content": piece} for piece in pieces_of(said.text)]
    for index, (call_id, name, arguments) in enumerate(said.calls):
        call = {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
        deltas.append({"tool_calls": [call]})
        for piece in pieces_of(json.dumps(arguments)):
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 3}}
    finish = "tool_calls" if said.calls else "stop"
    return ServerReply(body=sse(*map(chunk, deltas), chunk({}, finish), {"choices": [], "usage": usage}))


def _messages(said: Said) -> ServerReply:
    blocks: list[list[dict[str, Any]]] = []
    if said.thinking:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces_of(said.thinking)]
        signed = {"type": "signature_delta", "signature": "c2lnbmVk"}
        thought = {"type": "thinking", "thinking": "", "signature": ""}
        blocks.append(strict_anthropic.block(len(blocks), thought, *deltas, signed))
    if said.text:
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces_of(said.text)]
        blocks.append(strict_anthropic.block(len(blocks), {"type": "text", "text": ""}, *deltas))
    for call_id, name, arguments in said.calls:
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces_of(json.dumps(arguments))]
        raw: dict[str, Any] = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
        blocks.append(strict_anthropic.block(len(blocks), raw, *deltas))
    usage = {"input_tokens": 7, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 0, "output_tokens": 1}
    begin = strict_anthropic.start(usage)
    finish = strict_anthropic.end("tool_use" if said.calls else "end_turn")
    return ServerReply(body=strict_anthropic.events(begin, *(event for block in blocks for event in block), *finish))


def _generate_content(said: Said) -> ServerReply:
    items: list[dict[str, Any]] = [{"text": piece, "thought": True} for piece in pieces_of(said.thinking)]
    items += [{"text": "", "thought": True, "thoughtSignature": "c2lnbmVk"}] if said.thinking else []
    items += [{"text": piece} for piece in pieces_of(said.text)]
    for call_id, name, arguments in said.calls:
        items.append({"functionCall": {"id": call_id, "name": name, "args": dict(arguments)}})
    usage = strict_google.usage(10, 5, cachedContentTokenCount=3, totalTokenCount=15)
    stream = [strict_google.parts(item) for item in items]
    return ServerReply(body=strict_google.chunks(*stream, strict_google.parts(finish="STOP", **usage)))


def _responses(said: Said) -> ServerReply:
    items: list[list[dict[str, Any]]] = []
    if said.thinking:
        deltas = [
            {"type": "response.reasoning_summary_text.delta", "delta": piece} for piece in pieces_of(said.thinking)
        ]
        summary = [{"type": "summary_text", "text": said.thinking}]
        raw = {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "c2lnbmVk"}
        items.append(strict_responses.item(len(items), raw, *deltas))
    if said.text:
        deltas = [{"type": "response.output_text.delta", "delta": piece} for piece in pieces_of(said.text)]
        content = [{"type": "output_text", "text": said.text}]
        items.append(strict_responses.item(len(items), {"type": "message", "id": "msg_1", "content": content}, *deltas))
    for call_id, name, arguments in said.calls:
        written = json.dumps(arguments)
        deltas = [{"type": "response.function_call_arguments.delta", "delta": piece} for piece in pieces_of(written)]
        raw = {"type": "function_call", "id": f"fc_{call_id}", "call_id": call_id, "name": name, "arguments": written}
        items.append(strict_responses.item(len(items), raw, *deltas))
    usage = {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 3}, "output_tokens": 5}
    grown = [event for events in items for event in events]
    return ServerReply(body=strict_responses.events(strict_responses.start(), *grown, strict_responses.end(usage)))


COMPLETIONS = Api(
    name="openai-completions",
    client=OpenAICompletions,
    reader=ChatCompletionReader,
    refuse=completions_faults,
    say=_completions,
    key_header=("authorization", f"Bearer {KEY}"),
)
MESSAGES = Api(
    name="anthropic-messages",
    client=AnthropicMessages,
    reader=MessagesReader,
    refuse=strict_anthropic.anthropic_faults,
    say=_messages,
    key_header=("x-api-key", KEY),
)
GENERATE_CONTENT = Api(
    name="google-generative-ai",
    client=GoogleGenerativeAI,
    reader=GenerateContentReader,
    refuse=strict_google.google_faults,
    say=_generate_content,
    key_header=("x-goog-api-key", KEY),
)
RESPONSES = Api(
    name="openai-responses",
    client=OpenAIResponses,
    reader=ResponsesReader,
    refuse=strict_responses.responses_faults,
    say=_responses,
    key_header=("authorization", f"Bearer {KEY}"),
)
APIS = (COMPLETIONS, RESPONSES, MESSAGES, GENERATE_CONTENT)
