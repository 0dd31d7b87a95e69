"""The questions to a client: each with the time limit of its row, and its safe answer when no good one comes."""

import ast
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from rpc_agent.protocol.advertised import CLIENT_REQUEST_NAMES, NOTIFICATION_NAMES
from rpc_agent.protocol.client_requests import CLIENT_REQUESTS
from rpc_agent.rpc.errors import Disconnected
from rpc_agent.runtime.client_port import ClientFailed, PermissionQuestion
from rpc_agent.server.capabilities import ClientCapabilities
from rpc_agent.server.client_requests import WireClient

pytestmark = pytest.mark.anyio
SOURCE = Path(__file__).resolve().parents[2] / "rpc_agent"
EVERYTHING = {"permissions": True, "ui": True, "fileSystem": {"read": True, "write": True}}
QUESTION = PermissionQuestion(session_id="s", tool_call_id="c", tool_name="bash", args={}, title="bash: ls")
ASK: dict[str, tuple[Callable[[WireClient], Awaitable[Any]], Any]] = {
    "request_permission": (lambda client: client.request_permission(QUESTION), "unanswered"),
    "run_hook": (lambda client: client.run_hook("s", "input", {}), ClientFailed),
    "call_tool": (lambda client: client.call_tool("s", "c", "weather", {}), ClientFailed),
    "read_file": (lambda client: client.read_file("/a"), None),
    "write_file": (lambda client: client.write_file("/a", "x"), False),
    "ui_select": (lambda client: client.ui_select("s", "Which?", ["a"]), None),
    "ui_confirm": (lambda client: client.ui_confirm("s", "Sure?", None), False),
    "ui_input": (lambda client: client.ui_input("s", "Name?", None, None), None),
    "ui_notify": (lambda client: client.ui_notify("s", "info", "hi"), None),
}
"""How each is asked, and its safe answer: a value, or that ClientFailed is raised for somebody else to answer."""


class SilentPeer:
    """Remembers what it was asked with which limit, and fails as told."""

    def __init__(self, failure: Exception) -> None:
        self.failure = failure
        self.asked: list[tuple[str, float | None]] = []

    async def request(self, method: str, params: Any, *, timeout: float | None = None) -> Any:
        self.asked.append((method, timeout))
        raise self.failure


@pytest.mark.parametrize("failure", [TimeoutError(), Disconnected("gone")])
@pytest.mark.parametrize("name", CLIENT_REQUEST_NAMES)
async def test_no_answer_is_the_safe_answer_after_the_limit_of_the_row(name: str, failure: Exception) -> None:
    peer = SilentPeer(failure)
    client = WireClient(peer, lambda: ClientCapabilities(EVERYTHING))  # type: ignore[arg-type]
    ask, safe = ASK[name]
    if safe is ClientFailed:
        with pytest.raises(ClientFailed):
            await ask(client)
    else:
        assert await ask(client) == safe
    assert peer.asked == [(name, CLIENT_REQUESTS[name].timeout)]


def test_the_limits_are_those_of_the_protocol() -> None:
    limits = {row.name: row.timeout for row in CLIENT_REQUESTS.values()}
    assert limits == {
        "request_permission": 900, "run_hook": 30, "call_tool": 600, "read_file": 10, "write_file": 10,
        "ui_select": 900, "ui_confirm": 900, "ui_input": 900, "ui_notify": 900,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["request_permission", "ui_select", "ui_confirm", "ui_input", "ui_notify"])
async def test_a_client_without_the_capability_is_not_asked(name: str) -> None:
    peer = SilentPeer(AssertionError("asked"))
    ask, safe = ASK[name]
    # A permission that nobody could give is told apart from one that somebody did not give.
    expected = "unavailable" if name == "request_permission" else safe
    assert await ask(WireClient(peer, ClientCapabilities)) == expected  # type: ignore[arg-type]
    assert peer.asked == []


def test_what_initialize_names_is_what_can_be_sent() -> None:
    assert set(ASK) == set(CLIENT_REQUEST_NAMES) == set(CLIENT_REQUESTS)
    assert set(NOTIFICATION_NAMES) <= _texts(SOURCE / "server" / "notifications.py")


def test_every_event_that_has_a_notification_is_made_somewhere() -> None:
    events = _classes(SOURCE / "agent" / "events.py") | _classes(SOURCE / "runtime" / "events.py")
    made: set[str] = set()
    for package in ("agent", "runtime"):
        for file in (SOURCE / package).glob("*.py"):
            made |= {
                node.func.id
                for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            }
    assert events - made == set()


def _texts(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def _classes(file: Path) -> set[str]:
    return {node.name for node in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(node, ast.ClassDef)}


class AnsweringPeer:
    """Answers everything with the one value."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    async def request(self, method: str, params: Any, *, timeout: float | None = None) -> Any:
        return self.answer


@pytest.mark.parametrize(
    ("answer", "told"),
    [("sesame", "must be an object, not a string"), ({"contents": "sesame"}, "content is missing")],
)
async def test_an_answer_that_cannot_be_used_is_logged_in_words_without_its_values(
    answer: object, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    client = WireClient(AnsweringPeer(answer), lambda: ClientCapabilities(EVERYTHING))  # type: ignore[arg-type]
    with pytest.raises(ClientFailed):
        await client.call_tool("s", "c", "weather", {})
    assert caplog.messages == [f"the client's answer to call_tool cannot be used: {told}"]
