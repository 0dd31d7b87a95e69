"""Messages sorted by what a compaction asks of them. One walk, because there may be ten thousand, and memory that no
cache holds is gone through with each; pure."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from rpc_agent.compaction.transcript import Part, Record, add_parts
from rpc_agent.context.projection import ProjectedMessage
from rpc_agent.conversation.messages import Message


class Sifted(Struct, frozen=True):
    """A stretch of a context. All lists are in its order; system messages are in none of them."""

    messages: Sequence[Message]
    record: Record
    """What a model reads of them."""
    users: Sequence[ProjectedMessage]
    """What the user said."""
    deeds: Sequence[ProjectedMessage]
    """Answers that call tools, and commands of the user."""
    results: Sequence[ProjectedMessage]
    """What came of the calls."""

    def __add__(self, other: "Sifted") -> "Sifted":
        """With the stretch that follows it."""
        return Sifted(
            [*self.messages, *other.messages],
            [*self.record, *other.record],
            [*self.users, *other.users],
            [*self.deeds, *other.deeds],
            [*self.results, *other.results],
        )


def sifted(items: Iterable[ProjectedMessage]) -> Sifted:
    messages: list[Message] = []
    record: list[Part] = []
    users: list[ProjectedMessage] = []
    deeds: list[ProjectedMessage] = []
    results: list[ProjectedMessage] = []
    for item in items:
        message = item.message
        match message["role"]:
            case "user":
                users.append(item)
            case "assistant":
                for block in message["content"]:
                    if block["type"] == "toolCall":
                        deeds.append(item)
                        break
            case "toolResult":
                results.append(item)
            case "bashExecution":
                deeds.append(item)
            case "system":
                continue
        messages.append(message)
        add_parts(record, message)
    return Sifted(messages, record, users, deeds, results)
