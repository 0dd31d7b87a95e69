"""The tables say something true and whole of every method, notification, client request and error."""

import subprocess
import sys
from typing import Any, get_type_hints

import pytest
from typing_extensions import is_typeddict

from rpc_agent.protocol import advertised, methods
from rpc_agent.protocol.client_requests import CLIENT_REQUESTS
from rpc_agent.protocol.error_codes import COMMON_REASONS, ERRORS, SESSION_REASONS
from rpc_agent.protocol.handshake import ClientCapabilities
from rpc_agent.protocol.method import Method
from rpc_agent.protocol.methods import CLIENT_NOTIFICATIONS, METHODS
from rpc_agent.protocol.notifications import NOTIFICATIONS
from rpc_agent.protocol.wire_model import SessionParams, to_camel
from tests.support.contract import EVERY_METHOD

IN_ORDER = {
    "prompt", "compact", "navigate_tree", "undo_compaction", "edit_context", "fork_session", "clone_session",
    "close_session", "delete_session", "continue_run", "cycle_model", "cycle_thinking_level", "update_settings",
}  # fmt: skip
ALONGSIDE = {
    "preview_compaction", "steer", "follow_up", "clear_queue", "wait_for_idle", "bash", "ping", "export_session",
}  # fmt: skip


def wanted_ordering(name: str) -> str:
    if name in IN_ORDER or name.startswith("set_"):
        return "in-order"
    if name in ALONGSIDE or name.startswith(("get_", "list_", "abort")):
        return "alongside"
    return "connection"


def result_types(method: Method) -> list[Any]:
    return list(getattr(method.result, "__args__", (method.result,)))


@pytest.mark.parametrize("method", EVERY_METHOD.values(), ids=EVERY_METHOD)
def test_each_method_has_a_summary_models_and_the_ordering_of_the_specification(method: Method) -> None:
    assert method.summary.endswith(".")
    assert method.ordering == wanted_ordering(method.name)
    assert all(shape is None or is_typeddict(shape) for shape in result_types(method))
    assert set(method.errors) <= set(ERRORS)
    assert not set(method.errors) & set(COMMON_REASONS)


@pytest.mark.parametrize("method", EVERY_METHOD.values(), ids=EVERY_METHOD)
def test_a_method_of_a_session_takes_a_session_id_and_its_result_carries_it(method: Method) -> None:
    of_session = method.scope == "session"
    assert issubclass(method.params, SessionParams) == of_session
    if of_session:
        assert all("sessionId" in get_type_hints(shape) for shape in result_types(method))


@pytest.mark.parametrize("method", EVERY_METHOD.values(), ids=EVERY_METHOD)
def test_positional_names_are_params_of_the_method_with_all_required_ones_first(method: Method) -> None:
    required = {to_camel(name) for name, field in method.params.model_fields.items() if field.is_required()}
    known = {to_camel(name) for name in method.params.model_fields}
    assert set(method.positional) <= known
    if method.positional:
        assert set(method.positional[: len(required)]) == required


def test_initialize_advertises_exactly_the_methods_of_the_table() -> None:
    assert set(advertised.METHOD_NAMES) == set(METHODS)
    assert len(advertised.METHOD_NAMES) == len(METHODS)


def test_initialize_advertises_only_notifications_and_client_requests_of_the_tables() -> None:
    assert set(advertised.NOTIFICATION_NAMES) <= set(NOTIFICATIONS)
    assert set(advertised.CLIENT_REQUEST_NAMES) <= set(CLIENT_REQUESTS)


def test_no_group_repeats_a_method_of_another() -> None:
    groups = methods.MAIN_JOB + methods.SESSIONS + methods.CONTROL + methods.COMPACTION + methods.MODELS
    names = [row.name for row in groups]
    assert len(names) == len(set(names))


def test_every_notification_is_of_a_session_and_says_what_it_means() -> None:
    assert all(row.summary.endswith(".") for row in NOTIFICATIONS.values())
    assert all({"sessionId", "seq"} <= set(get_type_hints(row.params)) for row in NOTIFICATIONS.values())


def test_every_client_request_needs_a_capability_that_initialize_knows() -> None:
    known = {to_camel(name) for name in ClientCapabilities.model_fields}
    assert {row.capability.partition(".")[0] for row in CLIENT_REQUESTS.values()} <= known


def test_the_server_takes_the_notifications_of_the_specification() -> None:
    assert set(CLIENT_NOTIFICATIONS) == {"initialized", "exit", "$/cancelRequest", "$/cancel_request"}


def test_every_error_says_when_it_comes_and_what_to_do() -> None:
    assert all(row.when.endswith(".") and row.action.endswith(".") for row in ERRORS.values())
    assert {row.code for row in ERRORS.values()} == {
        -32700, -32600, -32601, -32602, -32603, -32800, *range(-32019, -32009), *range(-32025, -32019),
        *range(-32034, -32029), -32040, -32050, -32051,
    }  # fmt: skip
    assert {*COMMON_REASONS, *SESSION_REASONS} <= set(ERRORS)


def test_what_the_first_answer_needs_does_not_load_pydantic() -> None:
    code = (
        "import sys; import rpc_agent.protocol.advertised, rpc_agent.protocol.error_codes; "
        "sys.exit(any(name.partition('.')[0] == 'pydantic' for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=30, check=False).returncode == 0


def test_importing_the_tables_builds_no_validator() -> None:
    code = (
        "from rpc_agent.protocol import methods, client_requests; "
        "rows = [*methods.METHODS.values(), *methods.CLIENT_NOTIFICATIONS.values()]; "
        "built = [row.name for row in rows if row.params.__pydantic_complete__]; "
        "built += [row.name for row in client_requests.CLIENT_REQUESTS.values() if row.result.__pydantic_complete__]; "
        "raise SystemExit(f'built at import: {built}' if built else 0)"
    )
    ran = subprocess.run([sys.executable, "-c", code], timeout=30, check=False, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
