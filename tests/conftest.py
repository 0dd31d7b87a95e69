"""What every test gets: the asyncio backend, and the places of the cases."""

from pathlib import Path

import pytest

# Helpers assert too, and a bare AssertionError says nothing.
pytest.register_assert_rewrite("tests.support")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
