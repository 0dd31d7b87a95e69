"""Fuzz target: any bytes of a service are an answer or a failure of each API, the same however they are cut."""

import re

import orjson

from rpc_agent.conversation.json_values import without_lone_surrogates
from rpc_agent.providers.assembly import Assembly, BlockDelta, BlockEnded, BlockStarted
from rpc_agent.providers.base import ModelCallFailed, StreamEvent
from rpc_agent.providers.sse import SseEvent, SseSplitter
from tests.conftest import ROOT
from tests.support.played_streams import MODEL, batches
from tests.support.provider_apis import APIS, Said

TOKENS = (
    b"data: ", b"data:", b"event: ", b"\n\n", b"\r\n\r\n", b"\r", b": ", b"[DONE]", b"null", b"[]", b"{}", b'"choices":[{"delta":{',
    b'"content":', b'"tool_calls":[{"index":0,"function":{"arguments":"', b'"finish_reason":"stop"', b'"usage":{"prompt_tokens":-1',
    b'"type":"content_block_delta","index":', b'"type":"content_block_start"', b'"type":"message_stop"', b'"type":"response.completed"',
    b'"type":"response.output_item.added","output_index":', b'"type":"response.output_text.delta","delta":"', b'"candidates":[{"content":{"parts":[',
    b'"functionCall":{"name":"', b'"thought":true', b'"thoughtSignature":"', b'"usageMetadata":', b'"error":', b"1e999", b"-1",
    b"99999999999999999999", b"\\ud800", b"\xff", b"true", b'"index":',
)  # fmt: skip
MAX_BYTES = 1500
_MOST_PIECES = 60
"""Long streams are not cut at every byte: that would take most of the time."""


def seeds() -> list[bytes]:
    files = sorted((ROOT / "tests/golden/providers").glob("*.sse"))
    said = [api.say(Said(thinking="Hm", text="Hi", calls=[("c", "ls", {"path": "."})])).body for api in APIS]
    bodies = [*(file.read_bytes() for file in files), *said]
    return [bytes([choice]) + body for choice in range(len(APIS)) for body in bodies if len(body) < 1500]


def check(data: bytes) -> None:
    """The first byte chooses the API, and where the stream is cut."""
    choice, stream = (data[0], data[1:]) if data else (0, b"")
    events = _events(stream, len(stream) or 1)
    size = max(1 + choice // 4, len(stream) // _MOST_PIECES)
    assert _events(stream, size) == events
    assert events == _events_by_the_book(stream)
    whole = _answer(choice, stream, len(stream) or 1)
    assert _answer(choice, stream, size) == whole


def _events(stream: bytes, size: int) -> list[SseEvent]:
    splitter = SseSplitter()
    return [event for at in range(0, len(stream), size) for event in splitter.feed(stream[at : at + size])]


def _events_by_the_book(stream: bytes) -> list[SseEvent]:
    """The HTML standard's own steps, with no thought of speed."""
    *lines, _ = re.split(b"\r\n|\r|\n", stream.removeprefix(b"\xef\xbb\xbf"))
    events: list[SseEvent] = []
    name, data = b"", []
    for line in lines:
        if not line:
            if data:
                events.append(SseEvent(name.decode("utf-8", "replace"), b"\n".join(data)))
            name, data = b"", []
            continue
        if line.startswith(b"{") and line.rstrip().endswith(
            b"}"
        ):  # Not in the book: gateways put the error of a service between the lines.
            events.append(SseEvent("", line))
            continue
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value
    return events


def _answer(choice: int, stream: bytes, size: int) -> tuple[bytes, str]:
    """The answer, sound at each moment, and the failure it ended with: nothing else may come out."""
    assembly = Assembly()
    started: list[str] = []
    texts: dict[int, str] = {}
    stop_reason, failure = "error", ""
    try:
        for batch in batches(APIS[choice % len(APIS)].reader(provider="p"), stream, size):
            for event in batch.events:
                _follow(assembly, event, started, texts)
            if batch.failure is not None:
                raise batch.failure
    except ModelCallFailed as error:
        failure = error.message
        assert failure.encode("utf-8")
    if assembly.stopped is not None:
        stop_reason = assembly.stopped.reason
    assert all(isinstance(update, BlockEnded) for update in assembly.close())
    message = assembly.message(MODEL, 1, stop_reason)  # type: ignore[arg-type]
    assert [block["type"] for block in message["content"]] == started
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            assert block["text"] == without_lone_surrogates(texts.get(index, ""))
    assert all(count >= 0 for count in message["usage"].values() if isinstance(count, int))
    return orjson.dumps(message), failure


def _follow(assembly: Assembly, event: StreamEvent, started: list[str], texts: dict[int, str]) -> None:
    """A front end that draws the updates: blocks start once and in order, deltas are for blocks that have begun."""
    for update in assembly.apply(event):
        match update:
            case BlockStarted(index=index, kind=kind):
                assert index == len(started)
                started.append(kind)
            case BlockDelta(index=index, delta=delta):
                assert index < len(started)
                texts[index] = texts.get(index, "") + delta
            case BlockEnded(index=index):
                assert index < len(started)
