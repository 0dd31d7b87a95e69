"""Notices that a process died which is not our child. Knows nothing of what is to be done about it."""

import errno
import os
import select
import sys
import threading
from collections.abc import Callable

_SLICE_SECONDS = 5.0
"""How long a closed watch may linger; a death is noticed at once all the same."""

_POLL_SECONDS = 1.0
"""Where the system tells us nothing, we look this often."""


class ProcessWatch:
    """A running watch. After `close` the callback is not called any more."""

    def __init__(self, pid: int, on_exit: Callable[[], None]) -> None:
        self._on_exit = on_exit
        self._closed = threading.Event()
        # A daemon: waiting for another process must never keep our own alive.
        threading.Thread(target=self._run, args=(pid,), name="process watch", daemon=True).start()

    def close(self) -> None:
        self._closed.set()

    def _run(self, pid: int) -> None:
        if _wait_for_exit(pid, self._closed) and not self._closed.is_set():
            self._on_exit()


def watch_process(pid: int, on_exit: Callable[[], None]) -> ProcessWatch:
    """Call `on_exit` once, in a thread of the watch, when process `pid` is gone; at once if it is not there now."""
    return ProcessWatch(pid, on_exit)


if sys.platform == "win32":
    import ctypes

    _SYNCHRONIZE = 0x00100000
    _WAIT_TIMEOUT = 0x102
    _NO_SUCH_PROCESS = 87

    def _wait_for_exit(pid: int, closed: threading.Event) -> bool:
        """True when the process is gone, False when the watch was closed before, or cannot be kept."""
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.OpenProcess.restype = ctypes.c_void_p
        handle = kernel.OpenProcess(_SYNCHRONIZE, False, pid)
        if not handle:
            # Any other refusal is that of a process with more rights than ours: it lives, and cannot be watched.
            return ctypes.get_last_error() == _NO_SUCH_PROCESS
        try:
            while not closed.is_set():
                if kernel.WaitForSingleObject(ctypes.c_void_p(handle), int(_SLICE_SECONDS * 1000)) != _WAIT_TIMEOUT:
                    return True
            return False
        finally:
            kernel.CloseHandle(ctypes.c_void_p(handle))

else:

    def _wait_for_exit(pid: int, closed: threading.Event) -> bool:
        """True when the process is gone, False when the watch was closed before."""
        try:
            return _wait_for_notice(pid, closed)
        except (ProcessLookupError, OverflowError):
            return True
        except OSError:
            # An old kernel, or a sandbox that forbids the call.
            return _look_again_and_again(pid, closed)

    def _look_again_and_again(pid: int, closed: threading.Event) -> bool:
        while _is_alive(pid):
            if closed.wait(_POLL_SECONDS):
                return False
        return True

    def _is_alive(pid: int) -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except OSError as error:
            return error.errno == errno.EPERM
        return True

    if sys.platform == "linux":

        def _wait_for_notice(pid: int, closed: threading.Event) -> bool:
            descriptor = os.pidfd_open(pid)
            try:
                poller = select.poll()
                poller.register(descriptor, select.POLLIN)
                while not closed.is_set():
                    if poller.poll(_SLICE_SECONDS * 1000):
                        return True
                return False
            finally:
                os.close(descriptor)

    elif sys.platform == "darwin":

        def _wait_for_notice(pid: int, closed: threading.Event) -> bool:
            queue = select.kqueue()
            try:
                flags = select.KQ_EV_ADD | select.KQ_EV_ONESHOT
                event = select.kevent(pid, select.KQ_FILTER_PROC, flags, select.KQ_NOTE_EXIT)
                queue.control([event], 0)
                while not closed.is_set():
                    if queue.control(None, 1, _SLICE_SECONDS):
                        return True
                return False
            finally:
                queue.close()

    else:

        def _wait_for_notice(pid: int, closed: threading.Event) -> bool:
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
