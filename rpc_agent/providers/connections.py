"""Makes the HTTP client when the first call needs it, in a thread. Imports no HTTP library itself."""

from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

if TYPE_CHECKING:
    from rpc_agent.providers.http import Http


class Connections:
    """The HTTP client that all services share; one per event loop. Close it when the engine ends."""

    def __init__(self) -> None:
        self._http: Http | None = None
        self._lock = anyio.Lock()

    async def http(self) -> "Http":
        async with self._lock:
            if self._http is None:
                self._http = await anyio.to_thread.run_sync(_make_http)
            return self._http

    async def aclose(self) -> None:
        async with self._lock:
            http, self._http = self._http, None
        if http is not None:
            await http.aclose()


def _make_http() -> "Http":
    from rpc_agent.providers.http import Http  # noqa: PLC0415 - httpx and its TLS context cost 60 ms of the start

    return Http()
