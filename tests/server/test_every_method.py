"""The method table, the handlers and the tests keep pace with each other."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from rpc_agent.protocol.advertised import METHOD_NAMES
from rpc_agent.protocol.error_codes import ERRORS
from rpc_agent.protocol.methods import METHODS
from rpc_agent.rpc.errors import RpcError
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
    tests = Path(__file__).parents[1]
    files = [file for folder in ("methods", "server") for file in (tests / folder).glob("test_*.py")]
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    called = set(re.findall(r'\b(?:request|ask)\(\s*"(\w+)"', text))
    assert METHODS.keys() - called == set(), "write a test in tests/methods/"


def test_the_engines_errors_have_the_codes_of_the_contract() -> None:
    assert {reason: code for _, code, reason in WIRE_ERRORS}.items() <= {r: e.code for r, e in ERRORS.items()}.items()


async def test_a_folder_where_a_settings_file_should_be_is_named_in_the_refusal(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (home.config / "settings.json").mkdir()
    async with serving(home) as client:
        with pytest.raises(RpcError) as refused:
            await client.request("new_session")
        assert refused.value.code == -32602
        assert refused.value.data["file"] == str(home.config / "settings.json")
