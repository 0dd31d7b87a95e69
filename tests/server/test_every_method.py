"""The method table, the handlers and the tests keep pace with each other."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from rpc_agent.protocol.advertised import METHOD_NAMES
from rpc_agent.protocol.error_codes import ERRORS
from rpc_agent.protocol.methods import METHODS
from rpc_agent.rpc.in_memory import connected_pair
from rpc_agent.rpc.peer import Peer
from rpc_agent.server.capabilities import ClientCapabilities
from rpc_agent.server.engine import Engine
from rpc_agent.server.error_mapping import WIRE_ERRORS
from tests.support.agent_server import Home, serving

pytestmark = pytest.mark.anyio

BY_THE_PROCESS = {"initialize", "ping", "shutdown"}
"""Answered by the app and its handshake, not by a handler of the engine."""


async def test_every_row_of_the_table_has_a_handler_and_every_handler_a_row(tmp_path: Path) -> None:
    home = Home(tmp_path)
    peer = Peer(connected_pair()[0], load=dict)
    engine = Engine(home.options(), peer, ClientCapabilities, lambda work: None, home.environment)
    handlers: Mapping[str, object] = engine.handlers()
    assert set(handlers) == METHODS.keys() - BY_THE_PROCESS, "write the handler in server/handlers/"
    assert set(METHOD_NAMES) == METHODS.keys()


def test_every_method_is_called_by_a_test() -> None:
    folder = Path(__file__).parents[1]
    text = "".join(file.read_text(encoding="utf-8") for file in folder.rglob("test_*.py"))
    assert [name for name in METHODS if f'"{name}"' not in text] == [], "write a test in tests/methods/"


def test_the_engines_errors_have_the_codes_of_the_contract() -> None:
    assert {reason: code for _, code, reason in WIRE_ERRORS}.items() <= {r: e.code for r, e in ERRORS.items()}.items()


async def test_a_fault_of_ours_is_an_internal_error_that_tells_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (home.config / "settings.json").mkdir()  # reading a folder fails in a way no settings code expects
    async with serving(home) as client:
        question = await client.ask("new_session")
        await client.wait(lambda: any(message.get("id") == question[0] for message in client.received))
        (answer,) = [message for message in client.received if message.get("id") == question[0]]
        assert answer["error"]["code"] in (-32603, -32602, -32019)
        assert "Traceback" not in str(answer)
        question[1].exception()
