"""Refusals of many services and gateways, as they are and in whatever they are passed on in.

`tests/golden/providers/refusals.jsonl`: wordings of services, written down from memory with numbers of our own; where
two kinds lead to the same behaviour that is right, both are allowed.
"""

import html
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rpc_agent.providers.classify import classify

ROWS: list[dict[str, Any]] = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "golden" / "providers" / "refusals.jsonl").read_text("utf-8").splitlines()
]


def _as_python_shows_it(body: str) -> str:
    return f"Upstream error: {json.loads(body)!r}" if body.startswith(("{", "[")) else body


def _sse(body: str) -> str:
    event = {"type": "error", "error": {"type": "error", "message": body}}
    return f"event: error\ndata: {json.dumps(event)}\n\n"


WRAPPINGS: dict[str, Callable[[str], str]] = {
    "as it is": lambda body: body,
    "behind a prefix": lambda body: f"openai.BadRequestError: upstream: {body}",
    "JSON in JSON": lambda body: json.dumps({"error": {"message": json.dumps({"error": {"message": body}})}}),
    "a list": lambda body: json.dumps([{"error": body}]),
    "a list of texts": lambda body: json.dumps({"errors": [body, "see the documentation"]}),
    "validation": lambda body: json.dumps({"detail": [{"msg": body, "type": "value_error"}]}),
    "an event": _sse,
    "an event as it is": lambda body: f": keep-alive\n\nevent: error\ndata: {body}\n\ndata: [DONE]\n\n",
    "a page": lambda body: f"<!DOCTYPE html><html><head><title>Error</title></head><p>{html.escape(body)}</p></html>",
    "Python's words": _as_python_shows_it,
    "a text thrice quoted": lambda body: json.dumps(json.dumps(json.dumps({"message": body}))),
    "fields nobody knows": lambda body: json.dumps({"success": False, "data": {"upstream": {"raw": body}}}),
}


@pytest.mark.parametrize("name", WRAPPINGS)
def test_a_refusal_means_the_same_in_every_wrapping(name: str) -> None:
    wrong = [
        (row["provider"], row["body"], kind)
        for row in ROWS
        if row["body"]
        and (kind := classify(provider=row["provider"], status=row["status"], body=WRAPPINGS[name](row["body"])).kind)
        not in row["kinds"]
    ]
    assert wrong == []


def test_the_stated_limit_of_the_input_is_found() -> None:
    found = [(row["body"], classify(status=row["status"], body=row["body"]).limit) for row in ROWS if "limit" in row]
    assert found == [(row["body"], row["limit"]) for row in ROWS if "limit" in row]


def test_other_numbers_and_shuffled_clauses_mean_the_same() -> None:
    chance = random.Random(3)
    wrong = []
    for row in ROWS:
        factor = chance.choice([0.31, 0.5, 2, 3, 7])
        text = _scaled(row["body"], factor)
        for body in (text, _with_shuffled_clauses(text, chance)):
            if (kind := classify(provider=row["provider"], status=row["status"], body=body).kind) not in row["kinds"]:
                wrong.append((body, kind))
    assert wrong == []


def _scaled(body: str, factor: float) -> str:
    """Other numbers where a number is a size: codes stay."""
    sizes = re.compile(r'(?<![\w.\-])(?<!code":)\d{4,9}(?![\w"])')
    return sizes.sub(lambda found: str(int(int(found[0]) * factor)), body)


def _with_shuffled_clauses(body: str, chance: random.Random) -> str:
    def shuffled(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: shuffled(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [shuffled(inner) for inner in value]
        if not isinstance(value, str) or " " not in value:
            return value
        clauses = re.split(r"(?<=[.;!])\s+", value)
        chance.shuffle(clauses)
        return " ".join(clauses)

    return json.dumps(shuffled(json.loads(body))) if body.startswith(("{", "[")) else body


def test_a_quota_that_fills_again_in_a_minute_is_waited_for() -> None:
    """What Google's free tier says of a minute and of a day differs in a name and in the wait."""
    said = "You exceeded your current quota, please check your plan and billing details."
    minute = {"error": {"code": 429, "message": f"{said} Please retry in 34.07s.", "status": "RESOURCE_EXHAUSTED"}}
    day = json.loads(json.dumps(minute))
    day["error"]["details"] = [{"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]
    empty = {"error": {"message": said, "type": "insufficient_quota", "code": "insufficient_quota"}}
    kinds = [classify(provider="google", status=429, body=json.dumps(body)).kind for body in (minute, day, empty)]
    assert kinds == ["rate", "quota", "quota"]


def test_a_limit_in_characters_is_not_learned_as_tokens() -> None:
    failure = classify(body="the max input characters is 20000")
    assert (failure.kind, failure.limit) == ("overflow", None)
