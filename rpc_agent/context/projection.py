"""Entries of the active branch -> the messages a model sees. A fold with every kind of entry named; pure."""

from dataclasses import dataclass

from rpc_agent.conversation.messages import Message
from rpc_agent.session.entries import Entry


@dataclass(frozen=True, slots=True)
class ProjectedMessage:
    """A message of the context and the entry it comes from."""

    entry: Entry
    message: Message


@dataclass(frozen=True, slots=True)
class Projection:
    """The context of a branch: the entries that take part, in context order, and the messages they yield."""

    entries: tuple[Entry, ...]
    messages: tuple[ProjectedMessage, ...]
