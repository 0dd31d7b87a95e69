"""Google's own library as a peer: it sends our requests unchanged, and reads our streams as we do."""

import base64
import re
from pathlib import Path
from typing import Any

import anyio
import pytest

from rpc_agent.conversation.tool_spec import ToolSpec
from rpc_agent.providers.sse import SseSplitter
from tests.support.chat_server import ChatServer
from tests.support.provider_apis import GENERATE_CONTENT, Said
from tests.support.vendor_libraries import QUESTION, SAID, conversation, read_by_both

pytestmark = pytest.mark.anyio

_REASON = "google-genai is not installed here; it is a peer of the tests, not a dependency"
genai = pytest.importorskip("google.genai", reason=_REASON)
types = pytest.importorskip("google.genai.types", reason=_REASON)

GOLDEN = Path(__file__).parent.parent / "golden" / "providers"
STREAMS = {
    **{name: GENERATE_CONTENT.say(said).body for name, said in SAID.items()},
    "kept": (GOLDEN / "sse_gemini_thinking_tools.sse").read_bytes(),
    "kept with a signed text": (GOLDEN / "sse_gemini_text_signature.sse").read_bytes(),
}
SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "Where."},
        "depth": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
        "kinds": {"type": "array", "items": {"enum": ["file", "folder"]}},
    },
    "required": ["path"],
}
TOOL = ToolSpec("ls", "Lists files.", SCHEMA)


async def asked_by_the_library(server: ChatServer, body: dict[str, Any]) -> list[Any]:
    """The chunks that it reads after the same request, put as it takes requests."""
    tools = [types.Tool.model_validate(tool) for tool in body.get("tools", ())]
    settings = {"tools": tools, **body.get("generationConfig", {})}
    if "systemInstruction" in body:
        settings["systemInstruction"] = types.Content.model_validate(body["systemInstruction"])
    config = types.GenerateContentConfig.model_validate(settings)
    contents = [types.Content.model_validate(content) for content in body["contents"]]
    options = types.HttpOptions(base_url=server.base_url, api_version="")
    client = genai.Client(api_key="k", http_options=options)
    try:
        with anyio.fail_after(20):
            stream = await client.aio.models.generate_content_stream(model="m", contents=contents, config=config)
            return [chunk async for chunk in stream]
    finally:
        await client.aio.aclose()
        client.close()


def in_our_words(chunks: list[Any]) -> list[dict[str, Any]]:
    """The parts of its chunks, those that go on with the one before joined, as blocks of ours."""
    blocks: list[dict[str, Any]] = []
    for part in [part for chunk in chunks for part in (chunk.candidates[0].content or types.Content()).parts or ()]:
        signature = base64.b64encode(part.thought_signature).decode() if part.thought_signature else ""
        if part.function_call:
            call = part.function_call
            block = {"type": "toolCall", "id": call.id, "name": call.name, "arguments": call.args or {}}
            blocks.append({**block, **({"thoughtSignature": signature} if signature else {})})
            continue
        kind, field = ("thinking", "thinking") if part.thought else ("text", "text")
        if not part.text and not signature:
            continue
        if not blocks or blocks[-1]["type"] != kind or f"{kind}Signature" in blocks[-1]:
            blocks.append({"type": kind, field: ""})
        blocks[-1][field] += part.text or ""
        if signature:
            blocks[-1][f"{kind}Signature"] = signature
    return blocks


def without_made_ids(blocks: Any) -> list[Any]:
    """Ids that the service gave none of are made by us."""
    return [{**block, "id": None} if str(block.get("id")).startswith("gcall_") else block for block in blocks]


def written_anew(body: bytes) -> bytes:
    """The stream as the library's model of a chunk writes it."""
    chunks = [types.GenerateContentResponse.model_validate_json(event.data) for event in SseSplitter().feed(body)]
    written = (chunk.model_dump_json(by_alias=True, exclude_none=True) for chunk in chunks)
    return "".join(f"data: {data}\n\n" for data in written).encode()


@pytest.mark.parametrize("name", STREAMS)
async def test_the_library_reads_a_stream_as_we_do_and_we_read_it_as_the_library_writes_it(name: str) -> None:
    body = STREAMS[name]
    ours, again, theirs = await read_by_both(GENERATE_CONTENT, body, written_anew(body), asked_by_the_library, TOOL)
    assert without_made_ids(ours["content"]) == in_our_words(theirs)
    assert [{**block, "id": ""} for block in again["content"]] == [{**block, "id": ""} for block in ours["content"]]
    counted = next(chunk.usage_metadata for chunk in reversed(theirs) if chunk.usage_metadata)
    usage = ours["usage"]
    assert usage["input"] + usage["cacheRead"] == counted.prompt_token_count
    assert usage["output"] == (counted.candidates_token_count or 0) + (counted.thoughts_token_count or 0)


def spelled_alike(value: Any, name: str = "") -> Any:
    """The service knows each name with humps and with underscores, and the levels of thinking in both cases."""
    if isinstance(value, dict):
        return {
            (camel := re.sub(r"_([a-z])", lambda found: found[1].upper(), key)): spelled_alike(inner, camel)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [spelled_alike(inner) for inner in value]
    return value.lower() if name == "thinkingLevel" else value


async def test_a_request_with_everything_in_it_is_sent_by_the_library_as_we_send_it() -> None:
    said = Said(thinking="Hm.", text="I look.", calls=[("c1", "ls", {"path": "."}), ("c2", "ls", {"path": "ü"})])
    model = {"reasoning": True, "input": ("text", "image"), "id": "gemini-3-pro"}
    reply = GENERATE_CONTENT.say(said)
    async with GENERATE_CONTENT.server(reply, reply, reply) as server:
        messages = conversation(await GENERATE_CONTENT.ask(server, [QUESTION], tools=[TOOL], model=model))
        await GENERATE_CONTENT.ask(server, messages, tools=[TOOL], max_tokens=4000, thinking_level="high", model=model)
        ours = server.requests[1]
        assert server.faults == []
    async with ChatServer([reply], lambda body: []) as server:
        await asked_by_the_library(server, ours)
    assert spelled_alike(server.requests[0]) == spelled_alike(ours)
