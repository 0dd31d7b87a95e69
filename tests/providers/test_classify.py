"""Real refusals and their meaning; and the same with other numbers and in other wrappings."""

import json
import random
import re
from typing import Any

import pytest

from rpc_agent.providers.base import FailureKind
from rpc_agent.providers.classify import classify, is_retryable
from rpc_agent.providers.refusal import failed
from tests.support.context_cases import CASES

KINDS: dict[str, FailureKind] = {
    "media": "other",
    "bad_request": "other",
    "policy": "other",
    "content_policy": "other",
    "other": "other",
    "server_error": "overloaded",
    "overloaded": "overloaded",
    "throttle": "rate",
    "rate_limit": "rate",
    "billing_tier": "quota",
    "rate_budget_per_request": "quota",
    "quota": "quota",
    "payload_bytes": "payloadBytes",
    "output_cap": "outputCap",
    "auth": "auth",
    "context_overflow": "overflow",
    "finish_reason": "overflow",
    "silent": "overflow",
}

needs_cases = pytest.mark.skipif(not CASES.is_dir(), reason="the shared cases are not beside this checkout")


def rows() -> list[dict[str, Any]]:
    """The collected refusals; none where the collection is not beside the checkout."""
    if not CASES.is_dir():
        return []
    found: list[dict[str, Any]] = json.loads((CASES / "overflow_messages.json").read_text(encoding="utf-8"))
    return found


def kind_of(row: dict[str, Any], body: str) -> FailureKind:
    usage = row.get("usage") or {}
    counted = {"input": usage["input"]} if "input" in usage else None
    return classify(
        provider=row["provider"],
        status=row["http_status"],
        body=body,
        usage=counted,
        window=usage.get("context_window", 0),
    ).kind


@needs_cases
def test_every_undisputed_row_has_its_kind() -> None:
    wrong = [
        (row["provider"], row["body_or_message"], kind)
        for row in rows()
        if not row.get("disputed") and (kind := kind_of(row, row["body_or_message"])) != KINDS[row["kind"]]
    ]
    assert wrong == []


@needs_cases
def test_a_wrapping_does_not_change_the_meaning() -> None:
    wrong = []
    for row in rows():
        if row.get("disputed") or row.get("usage") or "status code" in row["body_or_message"]:
            continue
        wrapped = json.dumps(
            {"error_type": "upstream_error", "error_message": json.dumps({"inner": row["body_or_message"]})}
        )
        if (kind := kind_of(row, wrapped)) != KINDS[row["kind"]]:
            wrong.append((row["provider"], row["body_or_message"], kind))
    assert wrong == []


@needs_cases
def test_other_numbers_and_shuffled_clauses_do_not_change_the_meaning() -> None:
    chance = random.Random(1)
    wrong = []
    for row in rows():
        if row.get("disputed") or row.get("usage") or "status code" in row["body_or_message"]:
            continue
        factor = chance.choice([0.37, 0.5, 2, 3])
        text = re.sub(
            r"(?<![\w.\-])\d{4,9}(?!\w)", lambda found, by=factor: str(int(int(found[0]) * by)), row["body_or_message"]
        )
        if not text.startswith("{"):
            clauses = re.split(r"(?<=[.;])\s+", text)
            chance.shuffle(clauses)
            text = " ".join(clauses)
        for body in (text, f"Provider error: {text}", json.dumps([{"error": text}])):
            if (kind := kind_of(row, body)) != KINDS[row["kind"]]:
                wrong.append((row["provider"], body, kind))
    assert wrong == []


@pytest.mark.parametrize(
    ("body", "status", "kind", "limit"),
    [
        ("Your prompt has 91,234 tokens; this deployment accepts no more than 65,536 tokens of context.", 400, "overflow", 65_536),
        ('{"error":{"message":"prompt token count of 65446 exceeds the limit of 64000","code":""}}', 400, "overflow", 64_000),
        ("Range of input length should be [1, 204800]", 400, "overflow", 204_800),
        ("litellm.ServiceUnavailableError: Requested token count exceeds the model's maximum context length of 131072 tokens.", 503, "overflow", 131_072),
        ("Context size has been exceeded.", 500, "overflow", None),
        ("input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000", 400, "overflow", 200_000),
        ('{"error":{"type":"exceed_context_size_error","n_prompt_tokens":3000,"n_ctx":2048,"message":"the request exceeds the available context size"}}', 400, "overflow", 2_048),
        ("Too many tokens, please wait before trying again.", 429, "rate", None),
        ("max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens", 400, "outputCap", None),
        ("<html><title>413 Request Entity Too Large</title></html>", 413, "payloadBytes", None),
        ("", 400, "other", None),
        ("", 502, "overloaded", None),
        ("", 408, "transport", None),
        ("", 409, "transport", None),
        ("", 403, "auth", None),
    ],
)  # fmt: skip
def test_a_refusal_means_what_it_says(body: str, status: int, kind: FailureKind, limit: int | None) -> None:
    failure = classify(status=status, body=body)
    assert (failure.kind, failure.limit) == (kind, limit)


def test_a_wording_nobody_listed_is_known_by_its_numbers() -> None:
    body = "E1047: received 140211, capacity 128000"
    assert classify(status=400, body=body, estimate=139_000, window=128_000).kind == "overflow"
    assert classify(status=400, body=body).kind == "other"
    assert classify(status=400, body=body, estimate=9_000, window=128_000).kind == "other"


def test_only_cerebras_says_overflow_without_a_word() -> None:
    assert classify(provider="cerebras", status=400, body="").kind == "overflow"
    assert classify(provider="openai", status=400, body="").kind == "other"


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, "rate limit: {} requested: {}", "rate"),
        (400, "the prompt of {} tokens exceeds the maximum context length of {} tokens", "overflow"),
    ],
)
def test_numbers_of_thousands_of_digits_are_no_sizes(status: int, body: str, kind: FailureKind) -> None:
    failure = classify(status=status, body=body.format("9" * 5000, "9" * 5001))
    assert (failure.kind, failure.limit) == (kind, None)


def test_more_input_than_the_window_was_cut_without_a_word() -> None:
    assert classify(usage={"input": 150, "cacheRead": 60}, window=200).kind == "overflow"
    assert classify(usage={"input": 150, "cacheRead": 50}, window=200).kind == "other"


def test_an_answer_without_room_for_a_word_was_an_overflow() -> None:
    full = {"input": 199_000, "output": 0}
    assert classify(usage=full, finish_reason="length", window=200_000).kind == "overflow"
    assert classify(usage={**full, "output": 5}, finish_reason="length", window=200_000).kind == "other"
    assert classify(usage=full, finish_reason="stop", window=200_000).kind == "other"


@pytest.mark.parametrize(
    ("provider", "body"),
    [
        ("cerebras", ""),
        ("p", '{"error":{"code":"context_length_exceeded","message":"Rejected."}}'),
        ("p", "too long: prompt"),
    ],
)
def test_what_a_session_keeps_of_an_overflow_tells_it_again(provider: str, body: str) -> None:
    failure = failed(provider, 400, body)
    assert (failure.kind, classify(body=failure.message).kind) == ("overflow", "overflow")


@needs_cases
def test_bare_error_texts_are_retried_or_not() -> None:
    expected = json.loads((CASES / "sessions" / "retryable.expected.json").read_text(encoding="utf-8"))
    output = expected["runs"][0]["output"]
    cases = output if isinstance(output, list) else next(iter(output.values()))
    wrong = []
    for case in cases:
        kind = classify(body=case["name"]).kind
        # Overflow wins over retryable.
        wanted = case["retryable"] and not case["overflow"]
        if (kind == "overflow", is_retryable(kind)) != (case["overflow"], wanted):
            wrong.append((case, kind))
    assert wrong == []
