"""One array for the answers of a batch, in the order of its requests. Refuses to run anything but callbacks."""

import asyncio
from collections.abc import Callable, Iterable

from rpc_agent.rpc.envelopes import encode_batch

_HOLD_SECONDS = 0.1
# What follows an answer waits for the array. But one call of a batch may wait for what follows another one, so not
# for ever; a batch whose calls are all quick keeps the order.

Callbacks = Iterable[Callable[[], None]]
Reply = Callable[[bytes, Callbacks], None]
"""Takes an encoded answer, and what is to run once that answer is on its way."""


class BatchAnswers:
    """Collects `count` answers, then gives the array to `reply`."""

    def __init__(self, count: int, reply: Reply) -> None:
        self._answers: list[bytes | None] = [None] * count
        self._missing = count
        self._reply = reply
        self._held: list[Callable[[], None]] = []

    def slot(self, index: int) -> Reply:
        """Where the answer of the request at `index` goes."""

        def put(answer: bytes, callbacks: Callbacks) -> None:
            self._answers[index] = answer
            self._missing -= 1
            self._hold(callbacks)
            if not self._missing:
                self._reply(encode_batch([a for a in self._answers if a is not None]), self._release_all())

        return put

    def _hold(self, callbacks: Callbacks) -> None:
        held = list(callbacks)
        self._held += held
        if held:
            asyncio.get_running_loop().call_later(_HOLD_SECONDS, self._release_late)

    def _release_late(self) -> None:
        for callback in self._release_all():
            callback()

    def _release_all(self) -> list[Callable[[], None]]:
        held, self._held = self._held, []
        return held
