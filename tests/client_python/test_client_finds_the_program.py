"""`rpc-agent` that is not on PATH is the one installed beside this Python."""

from pathlib import Path

import pytest
from rpc_agent_client import CannotStart, Client

pytestmark = pytest.mark.anyio


async def test_the_program_beside_this_python_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    async with Client.spawn(["rpc-agent", "serve"]) as client:
        await client.ping(timeout=30)


async def test_another_program_is_looked_for_on_path_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotStart, match="on PATH"):
        async with Client.spawn(["rpc-agent-of-mine", "serve"]):
            pass
