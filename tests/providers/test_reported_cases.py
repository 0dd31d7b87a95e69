"""The shared cases of streams and refusals, read from their index: whatever is put there is tried.

`expected_value` says what of an answer matters; a field that nobody here knows fails, so that nothing is passed over.
"""

import json
from typing import Any, cast

import pytest

from rpc_agent.conversation.messages import AssistantMessage
from rpc_agent.conversation.usage import input_tokens
from rpc_agent.providers.assembly import invalid_arguments
from rpc_agent.providers.base import ModelCallFailed
from rpc_agent.providers.classify import classify, is_retryable
from rpc_agent.providers.openai_completions.compat import Compat
from rpc_agent.providers.openai_completions.request import encode_message
from tests.support.context_cases import CASES as SHARED_CASES
from tests.support.played_streams import MODEL, play
from tests.support.provider_apis import COMPLETIONS, GENERATE_CONTENT, MESSAGES, RESPONSES

REPORTS = SHARED_CASES / "reports"
INDEX = REPORTS / "index.json"
CASES: list[dict[str, Any]] = json.loads(INDEX.read_text(encoding="utf-8")) if INDEX.is_file() else []
STREAMS = [case for case in CASES if case["kind"].startswith("provider_sse:")]
REFUSALS = [case for case in CASES if case["kind"] == "overflow_body"]
API_OF = {
    "openai-chat": COMPLETIONS,
    "openai-responses": RESPONSES,
    "anthropic": MESSAGES,
    "gemini": GENERATE_CONTENT,
}


def answer_to(case: dict[str, Any], size: int) -> AssistantMessage:
    """The whole answer. Raises ModelCallFailed."""
    api = API_OF[case["kind"].partition(":")[2]]
    reader = api.reader(provider="p", window=case.get("context_window", 0))
    return play(reader, (REPORTS / case["input_file"]).read_bytes(), size)


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
            sent = cast(dict[str, Any], json.loads(encode_message(message, MODEL, Compat()).body))
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
