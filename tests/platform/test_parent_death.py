import queue
import subprocess
import sys
import threading

from rpc_agent.platform.parent_death import watch_process

WAIT = [sys.executable, "-c", "import sys; sys.stdin.read()"]


def test_the_death_of_a_process_is_noticed_once():
    seen: queue.Queue[str] = queue.Queue()
    with subprocess.Popen(WAIT, stdin=subprocess.PIPE) as other:
        watch_process(other.pid, lambda: seen.put("gone"))
        other.kill()
        # Nobody has waited for it yet: a zombie is dead too.
        assert seen.get(timeout=10) == "gone"
    assert seen.empty()


def test_a_process_that_is_not_there_counts_as_dead():
    gone = threading.Event()
    with subprocess.Popen(WAIT, stdin=subprocess.DEVNULL) as other:
        other.wait(10)
    watch_process(other.pid, gone.set)
    assert gone.wait(10)


def test_a_pid_that_no_system_has_counts_as_dead():
    gone = threading.Event()
    watch_process(2**70, gone.set)
    assert gone.wait(10)


def test_a_closed_watch_says_nothing():
    first, second = threading.Event(), threading.Event()
    with subprocess.Popen(WAIT, stdin=subprocess.PIPE) as other:
        watch_process(other.pid, first.set).close()
        watch_process(other.pid, second.set)
        other.kill()
        assert second.wait(10)
    assert not first.is_set()
