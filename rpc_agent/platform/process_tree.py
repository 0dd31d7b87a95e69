"""Starts a program and ends it with everything that came out of it, children that left its session too.

Found are: members of its session and group, their descendants, and (Linux) every process that carries the mark we
put into its environment. Out of reach is only what gave up mark, session and parents all at once. When we are killed
ourselves, a guardian does the same.
"""

import contextlib
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import anyio
import anyio.abc
import anyio.to_thread
from msgspec import Struct

from rpc_agent.platform.guardian import Guardian

_MARK = "RPC_AGENT_PROCESS_TREE"
_OURS = secrets.token_hex(8)
"""The beginning of every mark of this process, by which its guardian knows what to end."""

_TERM_SECONDS = 0.5
"""Enough to remove a lock file; a user who aborts is waiting meanwhile."""

_KILL_SECONDS = 3.0
"""A process in an uninterruptible wait does not die at once, and must not hold us: exit is due within 5 s."""

_POLL_SECONDS = 0.02

_live: set["ProcessTree"] = set()
_guardian = Guardian(_OURS)


class ProcessTree:
    """A started program. Whoever starts one calls `end`, whatever happened: nothing else frees it."""

    def __init__(self, process: anyio.abc.Process, mark: str) -> None:
        self._process = process
        self._mark = mark
        self._told: set[int] = set()
        self.pid = process.pid
        _live.add(self)
        _guardian.guard(self.pid)

    async def wait(self) -> int:
        """The exit code of the program itself, 128 + N if signal N ended it; its children may still run."""
        code = await self._process.wait()
        return code if code >= 0 else 128 - code

    async def end(self) -> None:
        """Make the whole tree go away: asked first, then killed. Finishes even when cancelled, in a bounded time."""
        with anyio.CancelScope(shield=True):
            if not await self._gone_after(signal.SIGTERM, _TERM_SECONDS):
                await self._gone_after(_KILL, _KILL_SECONDS)
            with anyio.move_on_after(_KILL_SECONDS):
                await self._process.wait()
        _live.discard(self)
        _guardian.release(self.pid)

    def kill_now(self) -> None:
        """Kill without waiting, from any thread: for a process that exits at once."""
        self._signal(_KILL)

    async def _gone_after(self, number: int, seconds: float) -> bool:
        with anyio.move_on_after(seconds):
            # Again and again, because a process may fork between our look and our signal.
            while await anyio.to_thread.run_sync(self._signal, number):  # noqa: ASYNC110 - grandchildren send no notice
                await anyio.sleep(_POLL_SECONDS)
            return True
        return False

    def _signal(self, number: int) -> int:
        """Send a signal to every member that has not got it yet; returns how many are alive."""
        members = _members(self.pid, self._mark)
        # Parents first: a shell that outlives its child, even by a moment, writes "Killed" into the output.
        for pid in members:
            # Some programs take a second TERM for impatience and skip their tidying up.
            if number == _KILL or pid not in self._told:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
        self._told.update(members)
        return len(members)


async def start_tree(
    command: str | Sequence[str], *, cwd: Path, environment: Mapping[str, str], output: int
) -> ProcessTree:
    """Start `command` (a string goes to the system's own shell) in a new session, with an empty stdin.

    `output` is a file descriptor for writing, where stdout and stderr both go. `environment` is the child's whole
    environment. Raises OSError when the program or `cwd` is not there.
    """
    if not _guardian.is_standing_by:
        # Before the command, or a kill of ours between the two would leave it running.
        await anyio.to_thread.run_sync(_guardian.stand_by)
    token = f"{_OURS}.{secrets.token_hex(8)}"
    process = await anyio.open_process(
        command,
        cwd=cwd,
        env={**environment, _MARK: _with_outer(environment, token)},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=sys.platform != "win32",
        creationflags=_NEW_GROUP,
    )
    return ProcessTree(process, token)


def guarded(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for a program outside of any tree that dies with us. Called in a thread: it may take a moment."""
    _guardian.stand_by()
    return {**environment, _MARK: _with_outer(environment, _OURS)}


@contextlib.contextmanager
def guarded_group(group: int) -> Iterator[None]:
    """While a program runs that was started with a `guarded` environment in a session of its own, whose number is
    `group`: its members die with us, also those that have lost that environment."""
    _guardian.guard(group)
    try:
        yield
    finally:
        _guardian.release(group)


def kill_live_trees() -> None:
    """Kill every tree that was started and not ended yet: the last act before an exit that waits for nobody."""
    for tree in list(_live):
        tree.kill_now()


def _with_outer(environment: Mapping[str, str], token: str) -> str:
    """A tree inside a tree carries both marks, so that the outer one still finds it."""
    outer = environment.get(_MARK)
    return f"{outer}:{token}" if outer else token


class _Process(Struct, frozen=True):
    pid: int
    parent: int
    group: int
    session: int


if sys.platform == "win32":
    _KILL = signal.SIGTERM
    _NEW_GROUP = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW

    def _members(root: int, mark: str) -> list[int]:
        """None is left over: Windows has no request to end, so the system's own tool kills the tree at once."""
        # By its path: Windows looks for a bare name in the folder we work in first, and a project may hold one.
        taskkill = os.path.join(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32", "taskkill.exe")
        command = [taskkill, "/T", "/F", "/PID", str(root)]
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_KILL_SECONDS, check=False)
        return []

else:
    _KILL = signal.SIGKILL
    _NEW_GROUP = 0

    def _members(root: int, mark: str) -> list[int]:
        """The living processes of the tree, each after its parent."""
        processes = list(_all_processes())
        own = os.getpid()
        found = {p.pid for p in processes if root in (p.pid, p.group, p.session) or _carries(p.pid, mark)}
        return [pid for pid in _with_descendants(found, processes) if pid != own]

    def _with_descendants(found: set[int], processes: Sequence[_Process]) -> list[int]:
        children: dict[int, list[int]] = {}
        for process in processes:
            children.setdefault(process.parent, []).append(process.pid)
        # A dictionary as a set that keeps its order.
        ordered = dict.fromkeys(p.pid for p in processes if p.pid in found and p.parent not in found)
        waiting = list(ordered)
        for parent in waiting:
            new = [child for child in children.get(parent, ()) if child not in ordered]
            ordered.update(dict.fromkeys(new))
            waiting.extend(new)
        return waiting

    def _carries(pid: int, mark: str) -> bool:
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                return mark.encode() in file.read()
        except OSError:
            return False

    def _all_processes() -> Iterator[_Process]:
        if not os.path.exists("/proc/self/stat"):
            yield from _processes_of_ps()
            return
        for name in os.listdir("/proc"):
            if name.isdigit() and (process := _process_of_proc(name)):
                yield process

    def _process_of_proc(name: str) -> _Process | None:
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                # The program's name stands in parentheses and may hold anything, parentheses too.
                state, parent, group, session = file.read().rpartition(b")")[2].split()[:4]
        except (OSError, ValueError):
            return None
        # A zombie is dead; whether somebody collects it is not our business.
        return None if state in (b"Z", b"X") else _Process(int(name), int(parent), int(group), int(session))

    def _processes_of_ps() -> Iterator[_Process]:
        command = ["ps", "-axo", "pid=,ppid=,pgid=,stat="]
        listing = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).stdout
        for line in listing.splitlines():
            pid, parent, group, state = line.split()[:4]
            if not state.startswith(b"Z"):
                yield _Process(int(pid), int(parent), int(group), int(group))
