"""Every name on the wire has an example, and every example is exactly what the contract says."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from rpc_agent.protocol.client_requests import CLIENT_REQUESTS
from rpc_agent.protocol.example_messages import read_examples
from rpc_agent.protocol.methods import CLIENT_NOTIFICATIONS, METHODS
from rpc_agent.protocol.notifications import NOTIFICATIONS
from rpc_agent.protocol.parse_params import parse_params
from rpc_agent.protocol.run_events import AssistantMessageEvent
from tests.support.contract import EVERY_METHOD, contract, misfits, params_misfits, result_misfits

EXAMPLES = read_examples()
CALLS = [(name, each) for name in METHODS for each in EXAMPLES.methods[name]]
QUESTIONS = [(name, each) for name, some in EXAMPLES.client_requests.items() for each in some]
TOLD = [(name, params) for name, some in EXAMPLES.notifications.items() for params in some]
TELLING = [(name, params) for name, some in EXAMPLES.client_notifications.items() for params in some]


def test_every_method_notification_and_client_request_has_an_example() -> None:
    assert set(EXAMPLES.methods) == set(EVERY_METHOD)
    assert set(EXAMPLES.client_notifications) == set(CLIENT_NOTIFICATIONS)
    assert set(EXAMPLES.notifications) == set(NOTIFICATIONS)
    assert set(EXAMPLES.client_requests) == set(CLIENT_REQUESTS)


@pytest.mark.parametrize(("name", "example"), CALLS)
def test_a_methods_example_fits_its_params_and_result(name: str, example: dict[str, Any]) -> None:
    parse_params(METHODS[name], example["params"])
    assert params_misfits(name, example["params"]) == []
    assert result_misfits(name, example["result"]) == []


@pytest.mark.parametrize(("name", "params"), TOLD)
def test_a_notifications_example_fits_its_params(name: str, params: dict[str, Any]) -> None:
    assert params_misfits(name, params) == []
    TypeAdapter(NOTIFICATIONS[name].params).validate_python(params)


@pytest.mark.parametrize(("name", "params"), TELLING)
def test_an_example_of_what_a_client_tells_fits_its_params(name: str, params: dict[str, Any]) -> None:
    assert params_misfits(name, params) == []
    CLIENT_NOTIFICATIONS[name].params.model_validate(params)


@pytest.mark.parametrize(("name", "example"), QUESTIONS)
def test_a_client_requests_example_fits_its_params_and_result(name: str, example: dict[str, Any]) -> None:
    assert params_misfits(name, example["params"]) == []
    assert result_misfits(name, example["result"]) == []
    CLIENT_REQUESTS[name].result.model_validate(example["result"])


def test_the_examples_show_every_piece_of_a_streamed_answer() -> None:
    known = {each["$ref"].rpartition("/")[2] for each in contract().definitions["AssistantMessageEvent"]["anyOf"]}
    types = {contract().definitions[name]["properties"]["type"]["const"] for name in known}
    assert types == {params["assistantMessageEvent"]["type"] for params in EXAMPLES.notifications["message_update"]}


@pytest.mark.parametrize(
    "piece",
    [
        {"type": "text_delta", "contentIndex": 0},
        {"type": "toolcall_start", "contentIndex": 0, "id": "c"},
        {"type": "text_fragment", "contentIndex": 0, "delta": "x"},
        {"type": "text_start", "contentIndex": 0, "delta": "x"},
    ],
)
def test_a_wrong_piece_of_an_answer_does_not_fit(piece: dict[str, Any]) -> None:
    assert misfits({"$ref": "#/$defs/AssistantMessageEvent"}, piece) != []


def test_a_field_that_nobody_described_does_not_fit_and_a_missing_one_neither() -> None:
    good = {"sessionId": "s", "seq": 1, "runId": "r", "aborted": False, "stopReason": "stop"}
    assert params_misfits("agent_settled", good) == []
    assert params_misfits("agent_settled", {**good, "reason": "x"}) != []
    assert params_misfits("agent_settled", {name: good[name] for name in ("sessionId", "seq", "runId")}) != []


def test_a_message_with_fields_of_another_program_fits_and_an_unknown_role_does_not() -> None:
    message = {"role": "user", "content": "hi", "timestamp": 1, "somethingElse": [1]}
    assert misfits({"$ref": "#/$defs/Message"}, message) == []
    assert misfits({"$ref": "#/$defs/Message"}, {**message, "role": "narrator"}) != []


def test_pieces_of_an_answer_are_checked_by_pydantic_too() -> None:
    piece = {"type": "text_delta", "contentIndex": 0, "delta": "x"}
    assert TypeAdapter(AssistantMessageEvent).validate_python(piece) == piece
