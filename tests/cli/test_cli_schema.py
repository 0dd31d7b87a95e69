"""`schema`: the published files, byte for byte."""

import subprocess
import sys

import pytest

from rpc_agent.protocol.export import render


@pytest.mark.parametrize(
    ("arguments", "file"),
    [
        ([], "openrpc.json"),
        (["--format", "openrpc"], "openrpc.json"),
        (["--format", "jsonschema"], "schema.json"),
        (["--format", "typescript"], "types.ts"),
        (["typescript"], "types.ts"),
    ],
)
def test_the_contract_is_printed_as_it_is_published(arguments: list[str], file: str) -> None:
    command = [sys.executable, "-m", "rpc_agent", "schema", *arguments]
    done = subprocess.run(command, capture_output=True, timeout=60, check=True)
    assert done.stdout == render()[file].encode("utf-8")
