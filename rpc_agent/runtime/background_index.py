"""Reads the front of a large file after it was opened, and says what came to light. The session works meanwhile."""

import logging

import anyio

from rpc_agent.errors import StorageFailed
from rpc_agent.runtime.events import SessionInfoChanged
from rpc_agent.runtime.live_session import LiveSession

_SLICE_SECONDS = 0.01
_REST_SECONDS = 0.01
"""Half of a core's time, and none of it while a run works: nobody waits for this. Who does asks for all at once."""
_logger = logging.getLogger(__name__)


async def index_in_background(session: LiveSession) -> None:
    """Returns when every entry is known; labels and the name may then be others than the tail said."""
    store = session.log.store
    name = store.session_name
    try:
        while True:
            if not session.runs.is_running and not await store.index_some(_SLICE_SECONDS):
                break
            await anyio.sleep(_REST_SECONDS)
    except StorageFailed as error:
        # The session goes on with its tail; who asks for an older entry gets this error.
        _logger.warning("the front of %s could not be indexed: %s", store.path, error)
        return
    if store.index_is_complete and store.session_name != name:
        session.parts.broadcast.emit(SessionInfoChanged(store.session_name))
