"""The conversations in protocol/examples: their format, and that they speak of things the contract knows."""

from collections.abc import Iterator
from typing import Any

import pytest

from rpc_agent.protocol.error_codes import ERRORS
from rpc_agent.protocol.methods import CLIENT_NOTIFICATIONS, METHODS
from rpc_agent.protocol.notifications import NOTIFICATIONS
from rpc_agent.protocol.parse_params import parse_params
from tests.support.contract import contract
from tests.support.example_conversations import Conversation, bytes_to_send, conversations, filled, fits

ALL = conversations()
HOSTILE = "hostile_input"
WELL_MEANT = [each for each in ALL if each.name != HOSTILE]


def test_the_conversations_that_the_readme_promises_are_there() -> None:
    assert {each.name for each in ALL} >= {"handshake", "prompt_with_tool", HOSTILE, "compact", "navigate"}


@pytest.mark.parametrize("conversation", WELL_MEANT, ids=[each.name for each in WELL_MEANT])
def test_what_a_conversation_sends_is_a_known_call_with_good_params(conversation: Conversation) -> None:
    known = _Anything()
    for step in conversation.steps:
        if message := filled(step.get("send"), known):
            if message["method"] in METHODS:
                parse_params(METHODS[message["method"]], message.get("params"))
            else:
                assert message["method"] in CLIENT_NOTIFICATIONS


@pytest.mark.parametrize("conversation", ALL, ids=[each.name for each in ALL])
def test_what_a_conversation_waits_for_is_in_the_contract(conversation: Conversation) -> None:
    asked = {step["send"]["id"]: step["send"]["method"] for step in conversation.steps if _is_request(step)}
    for pattern in _patterns(conversation):
        if "method" in pattern:
            assert pattern["method"] in NOTIFICATIONS
            assert set(pattern.get("params", {})) <= set(_fields(contract().params[pattern["method"]]))
        elif "error" in pattern and "data" in pattern["error"]:
            assert ERRORS[pattern["error"]["data"]["reason"]].code == pattern["error"]["code"]
        elif pattern.get("result") and pattern["id"] in asked:
            assert set(pattern["result"]) <= set(_fields(contract().results[asked[pattern["id"]]]))


@pytest.mark.parametrize("conversation", ALL, ids=[each.name for each in ALL])
def test_every_word_that_is_sent_was_remembered_before(conversation: Conversation) -> None:
    remembered: dict[str, str] = {}
    for step in conversation.steps:
        if "receive" in step:
            remembered |= {name: "x" for name in _names(step["receive"])}
        elif "exit" not in step:
            assert bytes_to_send(step, remembered)


def _is_request(step: Any) -> bool:
    message = step.get("send")
    return isinstance(message, dict) and isinstance(message.get("id"), int | str) and "method" in message


def _patterns(conversation: Conversation) -> Iterator[dict[str, Any]]:
    for step in conversation.steps:
        pattern = step.get("receive", [])
        yield from (each for each in (pattern if isinstance(pattern, list) else [pattern]) if isinstance(each, dict))


def _fields(schema: dict[str, Any]) -> Iterator[str]:
    """Fields of an object, or of all objects of a union."""
    for branch in schema.get("anyOf", [schema]):
        name = branch.get("$ref", "").rpartition("/")[2]
        yield from contract().definitions.get(name, branch).get("properties", {})


def _names(pattern: Any) -> Iterator[str]:
    match pattern:
        case dict():
            for each in pattern.values():
                yield from _names(each)
        case list():
            for each in pattern:
                yield from _names(each)
        case str() if pattern.startswith("<string:"):
            yield pattern.removeprefix("<string:").removesuffix(">")


class _Anything(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return name


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1}, {"a": 1.0}),
        ({"a": None}, {"a": None}),
        ({"a": "<any>"}, {"a": None}),
        ({"a": "<absent>"}, {}),
        ({"a": "<string>"}, {"a": ""}),
        ({"a": "<number>"}, {"a": 1.5}),
        ({"a": "<boolean>"}, {"a": False}),
        ({"a": "<array>"}, {"a": []}),
        ({"a": "<object>"}, {"a": {}}),
        ("<contains:x y>", "-x y-"),
        ("<contains:x>", {"deep": ["x"]}),
        ([1, "<rest>"], [1, 2, 3]),
        ([1, "<rest>"], [1]),
        (["<in any order>", {"i": 1}, {"i": 2}], [{"i": 2}, {"i": 1}]),
        ({"a": "<string:n>", "b": "<string:n>"}, {"a": "x", "b": "x"}),
        ("<not a word>", "<not a word>"),
        ([], []),
    ],
)
def test_a_pattern_fits(pattern: Any, value: Any) -> None:
    assert fits(pattern, value, {}) is not None


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {"a": True}),
        ({"a": True}, {"a": 1}),
        ({"a": 1}, {}),
        ({"a": None}, {}),
        ({"a": "<any>"}, {}),
        ({"a": "<absent>"}, {"a": None}),
        ({"a": "<string>"}, {"a": 1}),
        ({"a": "<number>"}, {"a": True}),
        ({"a": 1}, [1]),
        ("<contains:x>", "y"),
        ({"a": "<contains:x>"}, {}),
        ([1, "<rest>"], []),
        ([1], [1, 2]),
        (["<in any order>", {"i": 1}, {"i": 1}], [{"i": 2}, {"i": 1}]),
        ({"a": "<string:n>", "b": "<string:n>"}, {"a": "x", "b": "y"}),
        ([], {}),
    ],
)
def test_a_pattern_does_not_fit(pattern: Any, value: Any) -> None:
    assert fits(pattern, value, {}) is None


def test_a_name_is_remembered_compared_and_sent() -> None:
    known = fits({"id": "<string:entry>"}, {"id": "3fa2b1c0"}, {"run": "r"})
    assert known == {"run": "r", "entry": "3fa2b1c0"}
    assert fits({"id": "<string:entry>"}, {"id": "other"}, known) is None
    assert (
        bytes_to_send({"send": {"id": 1, "params": ["<string:entry>"]}}, known)
        == b'{"id": 1, "params": ["3fa2b1c0"]}\n'
    )


def test_odd_bytes_are_sent_as_they_are_written() -> None:
    assert bytes_to_send({"sendText": "null"}, {}) == b"null\n"
    assert bytes_to_send({"sendText": "{", "end": True}, {}) == b"{"
    assert bytes_to_send({"sendBase64": "/w=="}, {}) == b"\xff\n"
    assert bytes_to_send({"sendRepeated": {"text": "[", "times": 3}}, {}) == b"[[[\n"
