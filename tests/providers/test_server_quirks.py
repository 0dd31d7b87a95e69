"""What servers of each API have been reported to send, cut at every size: what came of it, or why it failed.

`tests/golden/providers/server_quirks.jsonl`: a body, and of what it becomes the parts that matter, reduced from reports
of users of many programs. `kind` is that of a failure, `words` stand in its message, `usage` is [input, output, read].
"""

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rpc_agent.conversation.messages import AssistantMessage
from rpc_agent.providers.answer_stream import AnswerReader
from rpc_agent.providers.assembly import invalid_arguments
from rpc_agent.providers.base import ModelCallFailed
from rpc_agent.providers.openai_completions.compat import Compat
from rpc_agent.providers.openai_completions.response import ChatCompletionReader
from tests.support.played_streams import play
from tests.support.provider_apis import APIS, Api, Said

FILE = Path(__file__).parents[1] / "golden" / "providers" / "server_quirks.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
READERS = {api.name: api.reader for api in APIS}


def played(reader: AnswerReader, body: bytes, size: int) -> dict[str, Any]:
    try:
        return parts_of(play(reader, body, size))
    except ModelCallFailed as failure:
        return {"stop": "error", "kind": failure.kind, "message": failure.message}


def parts_of(message: AssistantMessage) -> dict[str, Any]:
    """Of an answer what matters here."""
    blocks: list[Any] = list(message["content"])
    usage = message["usage"]
    proofs = ("textSignature", "thinkingSignature", "thoughtSignature")
    return {
        "stop": message["stopReason"],
        "text": "".join(block["text"] for block in blocks if block["type"] == "text"),
        "thinking": "".join(block["thinking"] for block in blocks if block["type"] == "thinking"),
        "calls": [called(block) for block in blocks if block["type"] == "toolCall"],
        "signatures": [block[name] for block in blocks for name in proofs if name in block],
        "usage": [usage["input"], usage["output"], usage["cacheRead"]],
    }


def called(block: Any) -> list[Any]:
    """A call; of arguments that are no object, what the model wrote, behind an exclamation mark."""
    wrong = invalid_arguments(block)
    return [block["id"], block["name"], block["arguments"] if wrong is None else f"!{wrong}"]


def body_of(row: dict[str, Any]) -> bytes:
    return base64.b64decode(row["base64"]) if "base64" in row else row["body"].encode()


@pytest.mark.parametrize("size", [1, 7, 0], ids=["1-byte", "7-bytes", "whole"])
@pytest.mark.parametrize("api", READERS)
def test_what_servers_were_reported_to_send_is_read_as_it_was_meant(api: str, size: int) -> None:
    rows = [row for row in ROWS if row["api"] == api]
    came = {row["name"]: played(READERS[api](provider="p"), body_of(row), size) for row in rows}
    assert [(row["name"], came[row["name"]]) for row in rows if not is_meant(came[row["name"]], row["expect"])] == []


def is_meant(came: dict[str, Any], expected: dict[str, Any]) -> bool:
    parts = {name: value for name, value in expected.items() if name != "words"}
    return {name: came.get(name) for name in parts} == parts and expected.get("words", "") in came.get("message", "")


@pytest.mark.parametrize(("said", "stop"), [(True, "error"), (False, "stop")])
def test_a_server_that_never_says_a_reason_is_believed_when_its_data_says_so(said: bool, stop: str) -> None:
    body = b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n'
    reader = ChatCompletionReader(provider="p", compat=Compat(supports_finish_reason=said))
    assert played(reader, body, 0)["stop"] == stop


def test_a_call_that_was_cut_is_no_answer_even_there() -> None:
    function = {"name": "write", "arguments": '{"path": "x'}
    body = (
        b"data: " + json.dumps({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": function}]}}]}).encode()
    )
    reader = ChatCompletionReader(provider="p", compat=Compat(supports_finish_reason=False))
    assert played(reader, body + b"\n\n", 0)["stop"] == "error"


WAYS: dict[str, Callable[[bytes], bytes]] = {
    "LF": lambda body: body,
    "CR": lambda body: body.replace(b"\n", b"\r"),
    "CRLF": lambda body: body.replace(b"\n", b"\r\n"),
    "no space": lambda body: body.replace(b"data: ", b"data:").replace(b"event: ", b"event:"),
    "comments": lambda body: b": hello\n\n" + body.replace(b"\n\n", b"\n\n: ping\n\n:\n"),
    "other fields": lambda body: b"\xef\xbb\xbf" + body.replace(b"data:", b"id: 7\nretry: 10\ndata:"),
    "empty and wordless events": lambda body: body.replace(b"\n\n", b"\n\ndata:\n\ndata: ping\n\nevent: ping\n\n"),
    "no last blank line": lambda body: body.removesuffix(b"\n"),
    "an end in OpenAI's words": lambda body: body.removesuffix(b"data: [DONE]\n\n") + b"data: [DONE]\n\n",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
def test_a_stream_means_the_same_in_every_way_to_write_it(api: Api, way: str) -> None:
    text = "a\u2028b\u2029c\u0085d 你 🌍"
    body = api.say(Said(thinking=text, text=text, calls=[("call_1", "ls", {"path": text})])).body
    # As it is, not as an escape: line separators that end no line here.
    escape = rb"(?<!\\)\\u(?!d[89a-f])[0-9a-f]{4}"
    body = re.sub(escape, lambda found: json.loads(b'"%s"' % found[0]).encode(), body)
    assert "\u2028".encode() in body
    written = WAYS[way](body)
    came = [played(api.reader(provider="p"), written, size) for size in (1, 7, 4096)]
    assert [each["text"] for each in came] == [each["thinking"] for each in came] == [text] * 3
    assert [each["calls"] for each in came] == [[["call_1", "ls", {"path": text}]]] * 3
    assert [each["stop"] for each in came] == ["toolUse"] * 3
