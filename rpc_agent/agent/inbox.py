"""Messages that wait for a run: steering ones for the next turn, follow-ups for when it would stop. Pure."""

from collections import deque
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct, field

from rpc_agent.conversation.blocks import UserBlock, blocks_text

QueueMode = Literal["all", "one-at-a-time"]


class QueuedMessage(Struct, eq=False):
    """A user message that was accepted and not yet delivered. Told apart by identity: two may read the same."""

    content: str | list[UserBlock]

    @property
    def text(self) -> str:
        return blocks_text(self.content)


class Inbox(Struct):
    """Each message is taken once, in the order it came."""

    steering_mode: QueueMode = "one-at-a-time"
    follow_up_mode: QueueMode = "one-at-a-time"
    steering: deque[QueuedMessage] = field(default_factory=deque)
    follow_ups: deque[QueuedMessage] = field(default_factory=deque)

    def __len__(self) -> int:
        return len(self.steering) + len(self.follow_ups)

    def all(self) -> list[QueuedMessage]:
        return [*self.steering, *self.follow_ups]

    def steer(self, message: QueuedMessage) -> None:
        self.steering.append(message)

    def follow_up(self, message: QueuedMessage) -> None:
        self.follow_ups.append(message)

    def due(self, *, stopping: bool) -> int:
        """How many messages the coming turn delivers: steering first, follow-ups only when the run would stop."""
        if self.steering:
            return len(self.steering) if self.steering_mode == "all" else 1
        if stopping and self.follow_ups:
            return len(self.follow_ups) if self.follow_up_mode == "all" else 1
        return 0

    def take(self) -> QueuedMessage | None:
        """The next message: steering first."""
        queue = self.steering or self.follow_ups
        return queue.popleft() if queue else None

    def discard(self, message: QueuedMessage) -> bool:
        """Whether the message was still waiting, and is not any more."""
        for queue in (self.steering, self.follow_ups):
            if message in queue:
                queue.remove(message)
                return True
        return False

    def clear(self) -> tuple[Sequence[QueuedMessage], Sequence[QueuedMessage]]:
        steering, follow_ups = tuple(self.steering), tuple(self.follow_ups)
        self.steering.clear()
        self.follow_ups.clear()
        return steering, follow_ups
