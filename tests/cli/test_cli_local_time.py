"""Times as people read them, in a zone that is not the one of the files."""

import os
import subprocess
import sys

import pytest


@pytest.mark.skipif(sys.platform == "win32", reason="TZ is a variable of POSIX")
@pytest.mark.parametrize(("zone", "shown"), [("UTC", "2026-11-30 20:00"), ("XXX-9", "2026-12-01 05:00")])
def test_a_time_is_shown_as_the_clock_on_the_wall_had_it(zone: str, shown: str) -> None:
    program = "from rpc_agent.cli.local_time import local_time; print(local_time('2026-11-30T20:00:00.000Z'))"
    command, environment = [sys.executable, "-c", program], {**os.environ, "TZ": zone}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout == f"{shown}\n"
