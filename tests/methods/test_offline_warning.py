"""That no model has a key is said once a process, however many sessions are made."""

import logging
from pathlib import Path

import pytest

from tests.support.agent_server import Home, serving

pytestmark = pytest.mark.anyio


async def test_the_warning_about_keys_is_logged_once_for_many_sessions(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        async with serving(Home(tmp_path)) as client:
            for _ in range(3):
                await client.request("new_session")
    assert len([record for record in caplog.records if "no model has a key" in record.getMessage()]) == 1
