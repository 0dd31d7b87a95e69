"""Strict services of every API on one thread, for a server process as their client: each answers a few words for ever."""

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

from tests.support.chat_server import ChatServer
from tests.support.provider_apis import APIS, COMPLETIONS, Said
from tests.support.strict_completions import picky_faults

PATIENCE = 10


@contextmanager
def strict_services(answer: str) -> Iterator[Mapping[str, ChatServer]]:
    """The services by API name."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def run(work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result(PATIENCE)

    services = {api.name: ChatServer([replace(api.say(Said(text=answer)), repeat=True)], api.refuse) for api in APIS}
    services[COMPLETIONS.name] = ChatServer(services[COMPLETIONS.name].replies, picky_faults)
    try:
        with ExitStack() as running:
            for service in services.values():
                run(service.__aenter__())
                running.callback(lambda service=service: run(service.__aexit__()))
            yield services
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE)
        loop.close()


def providers(services: Mapping[str, ChatServer]) -> dict[str, Any]:
    """The services as a models.json has them; the model is "<API name>/m"."""
    model = {"id": "m", "contextWindow": 10_000_000, "maxTokens": 1000, "input": ["text", "image"]}
    return {
        name: {"baseUrl": service.base_url, "api": name, "apiKey": "sk-0123456789", "models": [model]}
        for name, service in services.items()
    }
