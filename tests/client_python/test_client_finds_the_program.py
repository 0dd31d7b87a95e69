"""`rpc-agent` that is not on PATH is the one installed beside this Python."""

import os
from pathlib import Path

import pytest
from rpc_agent_client import CannotStart, Client

pytestmark = pytest.mark.anyio


async def test_the_program_beside_this_python_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    async with Client.spawn(["rpc-agent", "serve"]) as client:
        await client.ping(timeout=30)


async def test_a_program_in_the_folder_we_work_in_is_not_taken_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = tmp_path / "rpc-agent"
    theirs.write_text("#!/bin/sh\nexit 7\n")
    theirs.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join(("", ".", os.environ["PATH"])))
    async with Client.spawn(["rpc-agent", "serve"]) as client:
        await client.ping(timeout=30)


async def test_no_command_at_all_cannot_be_started() -> None:
    with pytest.raises(CannotStart, match="no command"):
        async with Client.spawn([]):
            pass


async def test_another_program_is_looked_for_on_path_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotStart, match="on PATH"):
        async with Client.spawn(["rpc-agent-of-mine", "serve"]):
            pass
