"""What ran under a process that was killed outright is gone soon after."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.agent_server import PATIENCE
from tests.support.processes import living, needs_proc, new_tag

pytestmark = needs_proc

# Starts a tree for each argument, says so when all are up, and waits to be killed.
_PARENT = """
import os, sys
from pathlib import Path
import anyio
from rpc_agent.platform.process_tree import start_tree

async def main():
    for script in sys.argv[1:]:
        reader, writer = os.pipe()
        await start_tree(["/bin/sh", "-c", script], cwd=Path("/"), environment=dict(os.environ), output=writer)
        await anyio.to_thread.run_sync(os.read, reader, 1)
    print("up", flush=True)
    await anyio.sleep(600)

anyio.run(main)
"""
TREES = {
    "a child": "$WAIT & echo up; wait",
    "a pipeline": "(echo up; $WAIT) | cat",
    "a child in a session of its own": "setsid $WAIT & echo up; wait",
    "a shell that ended before its child": "$WAIT & echo up",
    "one that ignores what can be ignored": "trap '' TERM HUP INT; $WAIT & echo up; wait",
    "one whose environment is empty": "env -i $WAIT & echo up; wait",
    "one that is stopped": "$WAIT & kill -STOP $!; echo up; wait",
}


def waiting(tag: str) -> str:
    return f'{sys.executable} -c "__import__(\\"time\\").sleep(600)" {tag}'


def soon(is_so: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.01)
    return is_so()


def start_parent(*scripts: str) -> "subprocess.Popen[bytes]":
    parent = subprocess.Popen([sys.executable, "-c", _PARENT, *scripts], stdout=subprocess.PIPE, start_new_session=True)
    assert parent.stdout is not None
    assert parent.stdout.readline() == b"up\n"
    return parent


def end(parent: "subprocess.Popen[bytes]", *, whole_group: bool = False) -> None:
    with parent:
        if whole_group:
            os.killpg(parent.pid, signal.SIGKILL)
        parent.kill()


@pytest.mark.parametrize("script", TREES.values(), ids=TREES.keys())
def test_a_tree_dies_with_a_process_that_is_killed(script: str) -> None:
    tag = new_tag()
    parent = start_parent(script.replace("$WAIT", waiting(tag)))
    # The parent carries the tag too, as an argument; a child has none for a moment, when it becomes another program.
    assert soon(lambda: len(living(tag)) > 1)
    end(parent)
    assert soon(lambda: living(tag) == [])


def test_the_guardian_outlives_a_kill_of_the_whole_group() -> None:
    tag = new_tag()
    parent = start_parent(f"setsid {waiting(tag)} & echo up; wait")
    end(parent, whole_group=True)
    assert soon(lambda: living(tag) == [])


_KEY_ASKER = """
import os, sys
from rpc_agent.providers.keys import KeySource
KeySource("command", sys.argv[1]).key("p", os.environ)
"""


def test_a_key_command_that_waits_for_a_person_dies_with_a_process_that_is_killed() -> None:
    tag = new_tag()
    asker = subprocess.Popen([sys.executable, "-c", _KEY_ASKER, waiting(tag)], start_new_session=True)
    # The asker carries the tag too, as an argument.
    assert soon(lambda: len(living(tag)) > 1)
    end(asker)
    assert soon(lambda: living(tag) == [])


# Ends the guardian of the parent, and returns when that has let go of its pipe.
_KILLER = """
set -- $(ps -ww --ppid $PPID -o pid=,args= | grep 'rpc-agent-guardia[n] [0-9a-f]*$')
kill -KILL $1
until grep -q '^State:.Z' /proc/$1/status; do sleep 0.01; done
echo up
"""


def test_a_guardian_that_somebody_killed_is_replaced_and_knows_what_it_knew() -> None:
    tags = [new_tag(), new_tag()]
    before, after = (f"env -i {waiting(tag)} & echo up; wait" for tag in tags)
    parent = start_parent(before, _KILLER, after)
    end(parent)
    assert soon(lambda: [living(tag) for tag in tags] == [[], []])


# Stops its guardian and tells it more than a pipe holds, between two commands.
_TALKER = """
import os, signal, subprocess, sys
from rpc_agent.platform.guardian import Guardian

def guardians():
    listed = subprocess.run(["ps", "-ww", "--ppid", str(os.getpid()), "-o", "pid=,args="], capture_output=True, text=True)
    return [int(line.split()[0]) for line in listed.stdout.splitlines() if "rpc-agent-guardian" in line]

guardian = Guardian("a-mark-of-nobody")
guardian.stand_by()
stopped, = guardians()
guardian.guard(subprocess.Popen(sys.argv[1], shell=True, start_new_session=True).pid)
os.kill(stopped, signal.SIGSTOP)
nobody = 99_999_999
for _ in range(8_000):
    guardian.guard(nobody)
    guardian.release(nobody)
guardian.guard(subprocess.Popen(sys.argv[1], shell=True, start_new_session=True).pid)
guardian.stand_by()
print(guardians() == [stopped], flush=True)
os.kill(stopped, signal.SIGCONT)
while sys.stdin.readline():
    guardian.guard(nobody)
    print(len(guardian._untold), flush=True)
"""


def untold(talker: "subprocess.Popen[str]") -> int:
    assert talker.stdin is not None and talker.stdout is not None
    talker.stdin.write("\n")
    talker.stdin.flush()
    return int(talker.stdout.readline())


def test_a_guardian_that_was_stopped_is_no_other_and_hears_the_rest_when_it_goes_on() -> None:
    tag = new_tag()
    command = [sys.executable, "-c", _TALKER, f"exec {waiting(tag)}"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as talker:
        assert talker.stdout is not None
        assert talker.stdout.readline() == "True\n"
        assert soon(lambda: untold(talker) == 0)
        # Itself, and both of its commands.
        assert len(living(tag)) == 3
        talker.kill()
    assert soon(lambda: living(tag) == [])


def test_the_trees_of_another_process_are_left_alone() -> None:
    tag, other_tag = new_tag(), new_tag()
    parent, other = (
        start_parent(f"{waiting(tag)} & echo up; wait"),
        start_parent(f"{waiting(other_tag)} & echo up; wait"),
    )
    end(parent)
    assert soon(lambda: living(tag) == [])
    # The other one itself, its shell and what that waits for.
    assert len(living(other_tag)) == 3
    end(other)
    assert soon(lambda: living(other_tag) == [])


def test_nothing_is_left_of_the_guardian_itself() -> None:
    parent = start_parent("echo up")
    listed = subprocess.run(["ps", "--ppid", str(parent.pid), "-o", "pid="], capture_output=True, text=True, check=True)
    (guardian,) = (pid for pid in listed.stdout.split() if "rpc-agent-guardian" in command_line(pid))
    end(parent)
    assert soon(lambda: command_line(guardian) == "")


def command_line(pid: str) -> str:
    """Nothing where there is no such process, or only what nobody has collected yet."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""
