"""What every test gets: the asyncio backend, the places of the cases, and children that hear a hang-up."""

import signal
import sys
from pathlib import Path

import pytest

# Helpers assert too, and a bare AssertionError says nothing.
pytest.register_assert_rewrite("tests.support")

# Under nohup a hang-up is ignored, and by all that we start too. One that is heard and not minded is not handed down.
if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda number, frame: None)

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
