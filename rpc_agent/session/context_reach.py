"""How far back a branch has to be read for its context: to the kept range of its newest compaction. Pure."""

from rpc_agent.session.entries import CompactionEntry, Entry


class ContextReach:
    """Asked about the entries of a path from the leaf upwards; says yes to the one the context begins at."""

    def __init__(self) -> None:
        self.first_kept_id: str | None = None
        """Where the kept range begins, once a compaction was met that keeps one."""
        self.has_own_tail = False
        """The compaction carries its kept range itself: reading on is better, but not needed."""

    def __call__(self, entry: Entry) -> bool:
        if self.first_kept_id is not None:
            return entry.id == self.first_kept_id
        if not isinstance(entry, CompactionEntry):
            return False
        if entry.first_kept_entry_id in ("", entry.id):
            return True
        self.first_kept_id = entry.first_kept_entry_id
        self.has_own_tail = entry.retained_tail is not None
        return False
