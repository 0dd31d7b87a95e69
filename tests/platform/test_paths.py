import os
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import pytest

from rpc_agent.errors import InvalidValue
from rpc_agent.platform.paths import config_dir, data_dir, sessions_dir

HOME = Path("/home/ann")


@pytest.mark.parametrize(
    ("platform", "environment", "config", "data"),
    [
        ("linux", {}, HOME / ".config/rpc-agent", HOME / ".local/share/rpc-agent"),
        ("linux", {"XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d"}, Path("/c/rpc-agent"), Path("/d/rpc-agent")),
        (
            "linux",
            {"XDG_CONFIG_HOME": "c", "XDG_DATA_HOME": ""},
            HOME / ".config/rpc-agent",
            HOME / ".local/share/rpc-agent",
        ),
        ("darwin", {}, HOME / "Library/Application Support/rpc-agent", HOME / "Library/Application Support/rpc-agent"),
        ("win32", {}, HOME / "AppData/Roaming/rpc-agent", HOME / "AppData/Local/rpc-agent"),
        ("win32", {"APPDATA": "/r", "LOCALAPPDATA": "/l"}, Path("/r/rpc-agent"), Path("/l/rpc-agent")),
    ],
)
def test_each_system_has_its_folders(platform: str, environment: dict[str, str], config: Path, data: Path):
    assert config_dir(environment, home=HOME, platform=platform) == config
    assert data_dir(environment, home=HOME, platform=platform) == data
    assert sessions_dir(environment, home=HOME, platform=platform) == data / "sessions"


def test_the_variables_of_rpc_agent_win_over_the_system():
    environment = {"RPC_AGENT_CONFIG_DIR": "/own/config", "RPC_AGENT_SESSION_DIR": "~/own", "XDG_CONFIG_HOME": "/c"}
    assert config_dir(environment, home=HOME) == Path("/own/config")
    assert sessions_dir(environment, home=HOME) == HOME / "own"


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root becomes a user whom the system does not know"
)
def test_where_no_home_is_known_it_is_said_what_to_set_and_a_tool_goes_on():
    program = """
import os
from pathlib import Path
from rpc_agent.errors import InvalidValue
from rpc_agent.platform.paths import config_dir
from rpc_agent.tools.base import ToolContext
from rpc_agent.tools.failure import ToolFailure
from rpc_agent.tools.paths import absolute_path

os.setuid(54321)
os.environ.pop("HOME", None)
try:
    config_dir({})
except InvalidValue as error:
    print(error.details["errors"][0]["path"])
try:
    absolute_path("~/x", ToolContext(cwd=Path("/"), tool_call_id="1"))
except ToolFailure as failure:
    print(failure)
"""
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=30)
    assert told.stdout.splitlines() == [
        "HOME",
        "The path begins with ~, and no home directory is known. Write it from the root.",
    ]


def test_a_relative_variable_starts_at_the_working_directory(tmp_path: Path):
    with chdir(tmp_path):
        assert config_dir({"RPC_AGENT_CONFIG_DIR": "conf"}) == tmp_path / "conf"


@pytest.mark.skipif(sys.platform == "win32", reason="a directory in use stays there")
def test_a_relative_variable_in_a_directory_that_is_gone_is_refused_by_its_name(tmp_path: Path):
    gone = tmp_path / "gone"
    gone.mkdir()
    with chdir(gone):
        gone.rmdir()
        with pytest.raises(InvalidValue, match="configDir: 'there' is relative to a directory that no longer exists"):
            config_dir({"RPC_AGENT_CONFIG_DIR": "there"})
        with pytest.raises(InvalidValue, match="sessionDir"):
            sessions_dir({"RPC_AGENT_SESSION_DIR": "there"})
