"""OpenAI's own library as a peer of chat completions: it sends our requests, and reads our streams as we do."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import TypeAdapter

from rpc_agent.providers.sse import SseSplitter
from tests.support.chat_server import ChatServer, chunk, sse
from tests.support.provider_apis import COMPLETIONS, Said
from tests.support.vendor_libraries import QUESTION, SAID, TOOL, all_of, conversation, read_by_both

pytestmark = pytest.mark.anyio

_REASON = "openai is not installed here; it is a peer of the tests, not a dependency"
openai = pytest.importorskip("openai", reason=_REASON)
streaming = pytest.importorskip("openai.lib.streaming.chat", reason=_REASON)
chat = pytest.importorskip("openai.types.chat", reason=_REASON)
params = pytest.importorskip("openai.types.chat.completion_create_params", reason=_REASON)

GOLDEN = Path(__file__).parent.parent / "golden" / "providers"
KEPT = ("utf8_split", "keepalive_crlf", "deepseek_reasoning", "silent_overflow")
STREAMS = {
    **{name: COMPLETIONS.say(said).body for name, said in SAID.items()},
    **{f"kept: {name}": (GOLDEN / f"sse_{name}.sse").read_bytes() for name in KEPT},
    "cut by its limit": sse(chunk({"role": "assistant", "content": "half"}), chunk({}, "length")),
}
STOPS = {"stop": "stop", "tool_calls": "toolUse", "length": "length"}


async def asked_by_the_library(server: ChatServer, body: dict[str, Any]) -> Any:
    """The answer that it makes of the same request's stream."""
    state = streaming.ChatCompletionStreamState()
    async with openai.AsyncOpenAI(api_key="k", base_url=server.base_url, max_retries=0) as client:
        with anyio.fail_after(20):
            async for piece in await client.chat.completions.create(**body):
                state.handle_chunk(piece)
    return state.current_completion_snapshot


def in_our_words(message: Any) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if thinking := getattr(message, "reasoning_content", None):
        blocks.append({"type": "thinking", "thinking": thinking, "thinkingSignature": "reasoning_content"})
    if message.content:
        blocks.append({"type": "text", "text": message.content})
    for call in message.tool_calls or ():
        arguments = json.loads(call.function.arguments)
        blocks.append({"type": "toolCall", "id": call.id, "name": call.function.name, "arguments": arguments})
    return blocks


def written_anew(body: bytes) -> bytes:
    """The stream as the library's model of a chunk writes it."""
    data = [event.data for event in SseSplitter().feed(body) if event.data != b"[DONE]"]
    return sse(*(chat.ChatCompletionChunk.model_construct(**json.loads(each)).to_json(indent=None) for each in data))


@pytest.mark.parametrize("name", STREAMS)
async def test_the_library_reads_a_stream_as_we_do_and_we_read_it_as_the_library_writes_it(name: str) -> None:
    body = STREAMS[name]
    ours, again, theirs = await read_by_both(COMPLETIONS, body, written_anew(body), asked_by_the_library)
    (choice,) = theirs.choices
    assert ours["content"] == again["content"] == in_our_words(choice.message)
    assert ours["stopReason"] == STOPS[choice.finish_reason]
    assert ours.get("responseId") == theirs.id
    if theirs.usage is not None:
        usage = ours["usage"]
        assert usage["input"] + usage["cacheRead"] == theirs.usage.prompt_tokens
        assert usage["output"] == theirs.usage.completion_tokens


async def test_a_request_with_everything_in_it_is_sent_by_the_library_as_we_send_it() -> None:
    said = Said(text="I look.", calls=[("c1", "ls", {"path": "."}), ("c2", "ls", {})])
    quirks = {"supportsDeveloperRole": True, "supportsStore": True, "supportsPromptCacheKey": True}
    model = {"reasoning": True, "input": ("text", "image"), "compat": quirks}
    reply = COMPLETIONS.say(said)
    more: dict[str, Any] = {"tools": [TOOL], "max_tokens": 4000, "thinking_level": "high", "routing_id": "r"}
    async with COMPLETIONS.server(reply, reply, reply) as server:
        messages = conversation(await COMPLETIONS.ask(server, [QUESTION], tools=[TOOL], model=model))
        await COMPLETIONS.ask(server, messages, model=model, **more)
        ours = server.requests[1]
        await asked_by_the_library(server, ours)
    assert server.requests[2] == ours
    accepted = TypeAdapter(params.CompletionCreateParamsStreaming)
    assert all_of(accepted.validate_python(ours)) == ours
    assert server.faults == []
