"""The port through which storage gets times and ids: it has no clock and no randomness of its own."""

from typing import Protocol


class Identity(Protocol):
    def now_iso(self) -> str:
        """UTC, ISO 8601 with milliseconds and Z."""
        ...

    def draw_id(self) -> str:
        """8 hex digits."""
        ...

    def full_id(self) -> str:
        """A uuid."""
        ...

    def session_id(self) -> str:
        """A uuid7."""
        ...
