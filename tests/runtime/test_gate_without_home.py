"""A user that the system knows no home of, as in some containers: tools run, and rules about `~` are about nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

_PROGRAM = """\
import os, pwd, sys
from pathlib import Path

def unknown(uid):
    raise KeyError(uid)

os.environ.pop("HOME", None)
pwd.getpwuid = unknown

import asyncio
from rpc_agent.runtime.client_port import NoClient
from rpc_agent.runtime.gate import PermissionGate, Permitted
from rpc_agent.settings import PermissionRule
from rpc_agent.tools.builtin import builtin_tools

folder = Path(sys.argv[1])
rules = [
    PermissionRule(tool="read", match="~/**", action="deny"), PermissionRule(tool="write", match="~/**", action="allow")
]
gate = PermissionGate(
    lambda: "read-only", rules, client=NoClient(), session_id="s", config_dir=folder / "config", environment={}
)
tools = {tool.spec.name: tool for tool in builtin_tools(shell=None, private_folders=[])}
for name in ("read", "write"):
    call = {"type": "toolCall", "id": "1", "name": name, "arguments": {"path": str(folder / "a.txt"), "content": ""}}
    print(name, isinstance(asyncio.run(gate.check(tools[name], call, folder)), Permitted))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="users of POSIX")
def test_tools_are_decided_about_where_nobody_has_a_home(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _PROGRAM, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "read True\nwrite False\n"), done.stderr
