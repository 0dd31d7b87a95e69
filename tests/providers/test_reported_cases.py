"""The shared cases of streams and refusals, read from their index: whatever is put there is tried.

`expected_value` says what of an answer matters; a field that nobody here knows fails, so that nothing is passed over.
"""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from rpc_agent.conversation.messages import AssistantMessage
from rpc_agent.conversation.models import Model
from rpc_agent.conversation.usage import input_tokens
from rpc_agent.providers.answer_stream import AnswerReader, AnswerStream
from rpc_agent.providers.anthropic_messages.response import MessagesReader
from rpc_agent.providers.assembly import Assembly, invalid_arguments
from rpc_agent.providers.base import ModelCallFailed
from rpc_agent.providers.classify import classify, is_retryable
from rpc_agent.providers.google_generative_ai.response import GenerateContentReader
from rpc_agent.providers.openai_completions.compat import Compat
from rpc_agent.providers.openai_completions.request import encode_message
from rpc_agent.providers.openai_completions.response import ChatCompletionReader
from rpc_agent.providers.openai_responses.response import ResponsesReader

ROOT = Path(__file__).resolve().parents[2]
REPORTS = Path(os.environ.get("RPC_AGENT_CASES", ROOT.parent / "shared" / "cases")) / "reports"
INDEX = REPORTS / "index.json"
CASES: list[dict[str, Any]] = json.loads(INDEX.read_text(encoding="utf-8")) if INDEX.is_file() else []
STREAMS = [case for case in CASES if case["kind"].startswith("provider_sse:")]
REFUSALS = [case for case in CASES if case["kind"] == "overflow_body"]
READERS: Mapping[str, Callable[[int], AnswerReader]] = {
    "openai-chat": lambda window: ChatCompletionReader(provider="p", window=window),
    "openai-responses": lambda window: ResponsesReader(provider="p", window=window),
    "anthropic": lambda window: MessagesReader(provider="p", window=window),
    "gemini": lambda window: GenerateContentReader(provider="p", window=window),
}


def answer_to(case: dict[str, Any], size: int) -> AssistantMessage:
    """The whole answer. Raises ModelCallFailed."""
    reader = READERS[case["kind"].partition(":")[2]](case.get("context_window", 0))
    stream, assembly = AnswerStream(reader, "p"), Assembly()
    body = (REPORTS / case["input_file"]).read_bytes()
    for piece in [*(body[at : at + size] for at in range(0, len(body), size)), None]:
        batch = stream.end() if piece is None else stream.feed(piece)
        for event in batch.events:
            assembly.apply(event)
        if batch.failure:
            raise batch.failure
        if reader.done:
            break
    stopped = reader.finish()
    assembly.apply(stopped)
    return assembly.message(Model(id="m", provider="p", api="a"), 1, stopped.reason)


def seen_in_failure(failure: ModelCallFailed, name: str, wanted: Any) -> Any:
    match name:
        case "stop":
            return "error"
        case "error_contains":
            return wanted if wanted in failure.message else failure.message
        case "overflow":
            return failure.kind == "overflow"
        case "retryable" | "retry":
            return is_retryable(failure.kind)
        case "tools_executed":
            return 0
        case _:
            return f"the answer failed: {failure.message}"


def seen_in_answer(message: AssistantMessage, name: str, wanted: Any, window: int) -> Any:
    blocks: list[Any] = list(message["content"])
    match name:
        case "stop":
            return message["stopReason"]
        case "text" | "thinking":
            return "".join(block[name] for block in blocks if block["type"] == name)
        case "usage":
            return {key: message["usage"].get(key) for key in wanted}
        case "tool_calls":
            calls = [block for block in blocks if block["type"] == "toolCall" and invalid_arguments(block) is None]
            return [{key: call[key] for key in ("id", "name", "arguments")} for call in calls]
        case "overflow":
            return bool(window) and input_tokens(message["usage"]) > window
        case "retry" | "retryable":
            return False
        case "next_request_assistant_field":
            model = Model(id="m", provider="p", api="a")
            sent = cast(dict[str, Any], json.loads(encode_message(message, model, Compat()).body))
            return {key: sent.get(key) for key in wanted}
        case _:
            return f"nobody knows {name}"


@pytest.mark.skipif(not CASES, reason="the shared cases are not beside this checkout")
@pytest.mark.parametrize("case", STREAMS, ids=lambda case: case["name"])
def test_a_reported_stream_is_read_as_it_should_be(case: dict[str, Any]) -> None:
    expected = case["expected_value"]
    for size in {1, 7, 4096, *case.get("delivery", {}).get("chunk_bytes", ())}:
        try:
            message = answer_to(case, size)
        except ModelCallFailed as failure:
            seen = {name: seen_in_failure(failure, name, wanted) for name, wanted in expected.items()}
        else:
            window = case.get("context_window", 0)
            seen = {name: seen_in_answer(message, name, wanted, window) for name, wanted in expected.items()}
        assert seen == expected, size


@pytest.mark.skipif(not CASES, reason="the shared cases are not beside this checkout")
@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case["name"])
def test_a_reported_refusal_means_what_it_should(case: dict[str, Any]) -> None:
    raw = json.loads((REPORTS / case["input_file"]).read_text(encoding="utf-8"))
    body = raw["body"] if isinstance(raw["body"], str) else json.dumps(raw["body"])
    failure = classify(provider=raw["provider"], status=raw["http_status"], body=body)
    meaning = {
        "overflow": failure.kind == "overflow",
        "plain_retry": is_retryable(failure.kind),
        "learned_limit": failure.limit,
        "kind": failure.kind,
    }
    assert {name: meaning.get(name) for name in case["expected_value"]} == case["expected_value"]
