"""The strict services of the tests themselves: what they accept, and what they refuse as real ones do."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.provider_apis import APIS, COMPLETIONS, GENERATE_CONTENT, MESSAGES, RESPONSES
from tests.support.strict_completions import picky_faults

SERVICES = {api.name: api.refuse for api in APIS} | {"a picky chat template": picky_faults}
TURNS = {
    COMPLETIONS.name: ("messages", "content", "assistant", "text"),
    "a picky chat template": ("messages", "content", "assistant", "text"),
    RESPONSES.name: ("input", "content", "assistant", "input_text"),
    MESSAGES.name: ("messages", "content", "assistant", "text"),
    GENERATE_CONTENT.name: ("contents", "parts", "model", ""),
}
"""Of each: the list of the turns, where a turn's content stands, how the model is called, and the type of a text."""


def words(service: str, text: str) -> list[dict[str, Any]]:
    kind = TURNS[service][3]
    return [{"type": kind, "text": text} if kind else {"text": text}]


def request(service: str, *contents: Any) -> bytes:
    """A conversation whose turns are, by turns, the user's and the model's."""
    turns, content, model, _ = TURNS[service]
    said = [{"role": ("user", model)[at % 2], content: each} for at, each in enumerate(contents)]
    return json.dumps({turns: said} | ({"max_tokens": 9} if service == MESSAGES.name else {})).encode()


def _empty_contents() -> Iterator[Any]:
    for service in SERVICES:
        yield from ((service, content) for content in (None, [], words(service, ""), words(service, " \n")))
        if service != GENERATE_CONTENT.name:
            yield from ((service, content) for content in ("", "\n"))


EMPTY = list(_empty_contents())


@pytest.mark.parametrize("service", SERVICES)
def test_a_conversation_with_words_in_every_turn_is_accepted(service: str) -> None:
    hi = words(service, "hi \N{ROCKET}")
    assert SERVICES[service](request(service, hi, hi, hi)) == []


@pytest.mark.parametrize(("service", "content"), EMPTY)
def test_a_message_of_the_user_that_says_nothing_is_refused(service: str, content: Any) -> None:
    hi = words(service, "hi")
    assert SERVICES[service](request(service, content)) != []
    assert SERVICES[service](request(service, hi, hi, content)) != []


@pytest.mark.parametrize(("service", "content"), EMPTY)
def test_an_answer_that_says_nothing_is_refused(service: str, content: Any) -> None:
    hi = words(service, "hi")
    assert SERVICES[service](request(service, hi, content, hi)) != []


@pytest.mark.parametrize("service", SERVICES)
def test_half_a_character_and_what_is_no_json_are_refused(service: str) -> None:
    assert SERVICES[service](request(service, words(service, "\ud83d"))) == ["a lone surrogate"]
    assert "not JSON" in SERVICES[service](b'{"messages":')[0]
    assert "not JSON" in SERVICES[service](b'{"messages": "\xff"}')[0]


@pytest.mark.parametrize("content", ["", [], [{"type": "text", "text": " "}]])
def test_words_beside_calls_may_be_missing_but_not_blank(content: Any) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    answer = {"role": "assistant", "tool_calls": [call]}
    user, result = {"role": "user", "content": "hi"}, {"role": "tool", "tool_call_id": "c1", "content": "\n"}
    accepted, refused = ({"messages": [user, {**answer, **more}, result]} for more in ({}, {"content": content}))
    assert COMPLETIONS.refuse(json.dumps(accepted).encode()) == []
    assert COMPLETIONS.refuse(json.dumps(refused).encode()) == ["messages[1]: empty content"]
