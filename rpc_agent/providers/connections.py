"""Makes an HTTP client when the first call needs it, in a thread. Imports no HTTP library itself."""

import gc
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

if TYPE_CHECKING:
    from rpc_agent.providers.http import Http


class Connections:
    """The HTTP clients that all services share; one per event loop. Close it when the engine ends."""

    def __init__(self) -> None:
        self._clients: dict[bool, Http] = {}
        self._lock = anyio.Lock()

    async def http(self, url: str) -> "Http":
        """The client for an address. One without TLS has its own, which is made in half the time."""
        tls = not url.lower().startswith("http://")
        async with self._lock:
            if tls not in self._clients:
                self._clients[tls] = await anyio.to_thread.run_sync(_make_http, tls)
            return self._clients[tls]

    async def aclose(self) -> None:
        async with self._lock:
            clients, self._clients = self._clients, {}
        for http in clients.values():
            await http.aclose()


def _make_http(tls: bool) -> "Http":
    was_on = gc.isenabled()
    # What is imported stays for good: the collector shall look at it neither now nor later, in the middle of a stream.
    gc.disable()
    try:
        from rpc_agent.providers.http import Http  # noqa: PLC0415 - httpx and its TLS context cost 60 ms of the start

        return Http(tls=tls)
    finally:
        if was_on:
            gc.freeze()
            gc.enable()
