"""What a session file's reader noticed and went on from: plain values for people and for the protocol."""

from msgspec import Struct

from rpc_agent.conversation.json_values import JsonObject


class SessionWarning(Struct, frozen=True):
    """One damage or oddity. `kind` is a stable camelCase word; `line` counts from 1, None where it is not known."""

    kind: str
    message: str
    line: int | None = None

    def to_json(self) -> JsonObject:
        place = {} if self.line is None else {"line": self.line}
        return {"kind": self.kind, **place, "message": self.message}


MOST_OF_A_KIND = 100
# A file of a million blank lines must not become a million warnings in one answer.


class WarningList:
    """Warnings in the order they were found, each said once, and no more of a kind than a person would read."""

    def __init__(self) -> None:
        self._found: list[SessionWarning] = []
        self._known: set[SessionWarning] = set()
        self._counts: dict[str, int] = {}

    def add(self, kind: str, message: str, line: int | None = None, *, is_another: bool = False) -> None:
        """`is_another`: known to be about another place, though both may read the same."""
        warning = SessionWarning(kind, message, line)
        if warning in self._known and not is_another:
            return
        self._known.add(warning)
        self._counts[kind] = self._counts.get(kind, 0) + 1
        if self._counts[kind] <= MOST_OF_A_KIND:
            self._found.append(warning)

    def add_missing_parent(self, entry_id: str, parent_id: str | None, instead: str | None) -> None:
        """`parent_id` is not in the file: the entry hangs from `instead`, or is a root."""
        missing = f"The parent {parent_id} of entry {entry_id}" if parent_id else f"The parent of entry {entry_id}"
        if instead is not None:
            self.add("bridgedParent", f"{missing} is lost; it was hung from {instead} instead.")
        else:
            self.add("missingParent", f"{missing} is not in the file; the path begins here.")

    def add_cycle(self, entry_id: str) -> None:
        """`entry_id` is the one of its cycle that stands first in the file."""
        self.add("cycle", f"Entry {entry_id} is its own ancestor; a path that leads there begins there.")

    def add_uncounted(self, kind: str, count: int) -> None:
        """So many more of a kind that has as many as a person would read."""
        self._counts[kind] = self._counts.get(kind, 0) + count

    def extend(self, warnings: "list[SessionWarning]") -> None:
        for warning in warnings:
            self.add(warning.kind, warning.message, warning.line)

    def extend_from_part(self, warnings: "list[SessionWarning]", lines_before: int | None) -> None:
        """Warnings about a part of the file: their lines count from where it begins, as it may not be known where
        that is (None)."""
        for warning in warnings:
            if warning.line is None:
                self.add(warning.kind, warning.message)
            else:
                line = None if lines_before is None else lines_before + warning.line
                self.add(warning.kind, warning.message, line, is_another=True)

    def all(self) -> list[SessionWarning]:
        """The warnings, and for each kind with too many of them how many there were."""
        return [*self._found, *(self._rest(kind) for kind, n in self._counts.items() if n > MOST_OF_A_KIND)]

    def _rest(self, kind: str) -> SessionWarning:
        left_out = self._counts[kind] - MOST_OF_A_KIND
        return SessionWarning(kind, f"{left_out} more of these were found and are not listed.")
