"""The session's name: how it is cleaned before it is stored, and where else it can be read."""

from collections.abc import Iterable

from rpc_agent.conversation.json_values import as_text
from rpc_agent.session.entries import CompactionEntry, Entry


def clean_name(name: str) -> str:
    """A session name as it is stored: one line, trimmed. Empty clears the name."""
    return " ".join(part for line in name.splitlines() if (part := line.strip()))


def snapshot_name(path: Iterable[Entry]) -> str | None:
    """The session's name as the newest compaction of a root-to-leaf path remembers it (`sessionName`)."""
    for entry in reversed(list(path)):
        if isinstance(entry, CompactionEntry) and "sessionName" in entry.raw:
            return as_text(entry.raw["sessionName"]) or None
    return None
