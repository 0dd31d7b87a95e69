import asyncio
import os
import sys
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from rpc_agent.platform.output_pipe import OutputPipe
from rpc_agent.platform.process_tree import ProcessTree, kill_live_trees, start_tree
from tests.support.processes import living, needs_proc, new_tag

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="sh and its jobs")]

# Each says something when everything it starts is running. $WAIT is a program that only waits.
TREES = {
    "a child": "$WAIT & echo up; wait",
    "a shell that ended before its child": "$WAIT & echo up",
    "a pipeline": "(echo up; $WAIT) | cat",
    "a child in a session of its own": "setsid $WAIT & echo up; wait",
    "a daemon with two forks and two sessions": "(setsid sh -c 'setsid $WAIT & echo up' &); $WAIT",
    "one that ignores TERM": "trap '' TERM HUP INT; $WAIT & echo up; wait",
    "one that ignores TERM in a session of its own": "trap '' TERM; setsid $WAIT & echo up; wait",
    "one whose environment is empty": "env -i $WAIT & echo up; wait",
    "one that is stopped": "$WAIT & kill -STOP $!; echo up; wait",
    "one that forks again when asked to go": "trap '$WAIT & exit' TERM; $WAIT & echo up; wait; wait",
}


async def start(script: str) -> tuple[ProcessTree, OutputPipe]:
    """Started, and its first word heard."""
    loop, up = asyncio.get_running_loop(), anyio.Event()

    def heard(data: bytes) -> None:
        loop.call_soon_threadsafe(up.set)

    with OutputPipe(heard) as pipe:
        command = ["/bin/sh", "-c", script]
        tree = await start_tree(command, cwd=Path("/"), environment=dict(os.environ), output=pipe.writer)
        pipe.close_writer()
        await up.wait()
    return tree, pipe


def waiting(tag: str) -> str:
    """A command that sleeps for ten minutes and carries `tag` in its command line."""
    return f'{sys.executable} -c "__import__(\\"time\\").sleep(600)" {tag}'


@needs_proc
@pytest.mark.parametrize("script", TREES.values(), ids=TREES.keys())
async def test_the_whole_tree_is_gone_after_its_end(script: str):
    tag = new_tag()
    with anyio.fail_after(20):
        tree, pipe = await start(script.replace("$WAIT", waiting(tag)))
        assert living(tag) != []
        await tree.end()
        await pipe.wait_closed()
    assert living(tag) == []


async def test_a_shell_is_killed_before_its_child_and_has_no_word_about_it():
    # Shells in shells, each of which would say that the one inside it ended. Often, because process ids wander.
    script = "echo up; sleep 600"
    for _ in range(8):
        script = f"({script}; echo outlived)"
    for _ in range(20):
        heard = bytearray()
        with anyio.fail_after(20), OutputPipe(heard.extend) as pipe:
            command = ["/bin/sh", "-c", f"{script}; echo outlived"]
            tree = await start_tree(command, cwd=Path("/"), environment=dict(os.environ), output=pipe.writer)
            pipe.close_writer()
            while not heard:  # noqa: ASYNC110 - the bytes come in a thread
                await anyio.sleep(0.01)
            await anyio.to_thread.run_sync(tree.kill_now)
            await tree.end()
            await pipe.wait_closed()
        assert heard == b"up\n"


@needs_proc
async def test_a_cancelled_task_still_ends_its_tree():
    tag = new_tag()
    with anyio.fail_after(20):
        tree, _ = await start(f"trap '' TERM; {waiting(tag)} & echo up; wait")
        with anyio.CancelScope() as scope:
            scope.cancel()
            await tree.end()
    assert living(tag) == []


@needs_proc
async def test_all_living_trees_can_be_killed_at_once():
    tags = [new_tag(), new_tag()]
    with anyio.fail_after(20):
        started = [await start(f"trap '' TERM; setsid {waiting(tag)} & echo up; wait") for tag in tags]
        await anyio.to_thread.run_sync(kill_live_trees)
        for _, pipe in started:
            await pipe.wait_closed()
        assert [living(tag) for tag in tags] == [[], []]
        for tree, _ in started:
            await tree.end()


@needs_proc
async def test_another_tree_is_left_alone():
    tag, other_tag = new_tag(), new_tag()
    with anyio.fail_after(20):
        tree, _ = await start(f"{waiting(tag)} & echo up; wait")
        other, _ = await start(f"{waiting(other_tag)} & echo up; wait")
        await tree.end()
        assert (living(tag), bool(living(other_tag))) == ([], True)
        await other.end()


@pytest.mark.parametrize(("script", "code"), [("echo; exit 3", 3), ("echo; kill -9 $$", 137)])
async def test_the_exit_code_is_the_one_a_shell_would_tell(script: str, code: int):
    with anyio.fail_after(10):
        tree, _ = await start(script)
        assert await tree.wait() == code
        await tree.end()


async def test_a_program_that_is_not_there_is_an_error_of_the_system():
    with OutputPipe(lambda data: None) as pipe, pytest.raises(FileNotFoundError):
        await start_tree(["/no/such/program"], cwd=Path("/"), environment={}, output=pipe.writer)


async def test_draining_ends_when_it_is_quiet_though_the_pipe_is_open():
    with OutputPipe(lambda data: None) as pipe, anyio.fail_after(10):
        await pipe.drain(quiet=0.01, most=60)


async def test_draining_ends_although_somebody_writes_for_ever():
    with anyio.fail_after(20), OutputPipe(lambda data: None) as pipe:
        tree = await start_tree(
            ["/bin/sh", "-c", "yes"], cwd=Path("/"), environment=dict(os.environ), output=pipe.writer
        )
        pipe.close_writer()
        await pipe.drain(quiet=5, most=0.2)
        await tree.end()
        await pipe.wait_closed()
