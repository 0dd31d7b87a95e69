"""The port between a peer and whatever carries its messages. Refuses to know JSON."""

from collections.abc import Callable, Sequence
from typing import Protocol

from rpc_agent.rpc.framing import Frame


class HungUp(ConnectionError):
    """Nobody reads what this side writes any more."""


class Transport(Protocol):
    """Carries whole messages both ways. Used by one peer, in one event loop."""

    async def receive(self) -> Sequence[Frame]:
        """The next frames, at least one, in order; none when the input has ended."""
        ...

    def offer_to(self, take: Callable[[bytes], bool]) -> None:
        """Before a message is received that came alone while `receive` waited for it, offer it to `take`.

        What that takes (it returns whether it did) is not received. A transport need not offer anything.
        """
        ...

    async def send(self, messages: Sequence[bytes]) -> None:
        """Returns when the messages have left the process. Raises HungUp."""
        ...

    def send_now(self, message: bytes) -> bool:
        """Send one message if that surely takes no time; whether it was sent. Only while no `send` is at work."""
        ...

    async def hung_up(self) -> None:
        """Returns when nobody reads any more, even if nothing is being sent; where that cannot be seen, never."""
        ...
