"""Anthropic's own library as a peer: it sends our requests unchanged, and reads our streams as we do."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import TypeAdapter

from rpc_agent.providers.sse import SseSplitter
from tests.support.chat_server import ChatServer
from tests.support.provider_apis import MESSAGES, Said
from tests.support.vendor_libraries import QUESTION, SAID, TOOL, all_of, conversation, read_by_both

pytestmark = pytest.mark.anyio

_REASON = "anthropic is not installed here; it is a peer of the tests, not a dependency"
anthropic = pytest.importorskip("anthropic", reason=_REASON)
params = pytest.importorskip("anthropic.types.message_create_params", reason=_REASON)

GOLDEN = Path(__file__).parent.parent / "golden" / "providers"
STREAMS = {
    **{name: MESSAGES.say(said).body for name, said in SAID.items()},
    "kept": (GOLDEN / "sse_anthropic_thinking_tools.sse").read_bytes(),
}


def in_our_words(block: Any) -> dict[str, Any]:
    match block.type:
        case "text":
            return {"type": "text", "text": block.text}
        case "thinking":
            return {"type": "thinking", "thinking": block.thinking, "thinkingSignature": block.signature}
        case "redacted_thinking":
            return {"type": "thinking", "thinking": "", "thinkingSignature": block.data, "redacted": True}
        case _:
            return {"type": "toolCall", "id": block.id, "name": block.name, "arguments": block.input}


async def asked_by_the_library(server: ChatServer, body: dict[str, Any]) -> Any:
    """Its answer to the same request; `stream` is what it says itself."""
    url = server.base_url.removesuffix("/v1")
    async with anthropic.AsyncAnthropic(api_key="k", base_url=url, max_retries=0) as client:
        with anyio.fail_after(20):
            async with client.messages.stream(**{name: body[name] for name in body if name != "stream"}) as stream:
                return await stream.get_final_message()


def written_anew(body: bytes) -> bytes:
    """The stream as the library's models of its events write it."""
    events = TypeAdapter(anthropic.types.RawMessageStreamEvent)
    written = []
    for event in SseSplitter().feed(body):
        if event.name != "ping":
            data = events.validate_json(event.data).model_dump_json(by_alias=True, warnings=False)
            written.append(f"event: {event.name}\ndata: {data}\n\n")
    return "".join(written).encode()


@pytest.mark.parametrize("name", STREAMS)
async def test_the_library_reads_a_stream_as_we_do_and_we_read_it_as_the_library_writes_it(name: str) -> None:
    body = STREAMS[name]
    ours, again, theirs = await read_by_both(MESSAGES, body, written_anew(body), asked_by_the_library)
    assert ours["content"] == again["content"] == [in_our_words(block) for block in theirs.content]
    counted = theirs.usage
    assert (ours["usage"]["input"], ours["usage"]["output"]) == (counted.input_tokens, counted.output_tokens)
    assert ours["usage"]["cacheRead"] == counted.cache_read_input_tokens
    assert ours.get("responseId") == theirs.id
    assert ours["stopReason"] == {"end_turn": "stop", "tool_use": "toolUse"}[theirs.stop_reason]


async def test_a_request_with_everything_in_it_is_sent_by_the_library_as_we_send_it() -> None:
    said = Said(thinking="Hm.", text="I look.", calls=[("call_1", "ls", {"path": "."}), ("call_2", "ls", {})])
    reply = MESSAGES.say(said)
    async with MESSAGES.server(reply, reply, reply) as server:
        messages = conversation(await MESSAGES.ask(server, [QUESTION], tools=[TOOL]))
        model = {"reasoning": True, "input": ("text", "image"), "compat": {"supportsAdaptiveThinking": True}}
        await MESSAGES.ask(server, messages, tools=[TOOL], max_tokens=4000, thinking_level="high", model=model)
        ours = server.requests[1]
        await asked_by_the_library(server, ours)
    assert server.requests[2] == ours
    assert [block["type"] for block in ours["messages"][1]["content"]] == ["thinking", "text", "tool_use", "tool_use"]
    accepted = TypeAdapter(params.MessageCreateParamsStreaming)
    assert all_of(accepted.validate_python(ours)) == ours
    assert server.faults == []
