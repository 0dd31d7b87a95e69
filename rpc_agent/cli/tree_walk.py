"""A cursor over the lines of a tree: what a key does, and which lines are in sight. Pure; reads no key itself."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rpc_agent.cli.chat_tree import TreeLine
from rpc_agent.cli.keys import Key

Choice = Literal["go", "summarize", "label", "fork", "leave"]
_CHOICES: dict[Key, Choice] = {
    "enter": "go",
    "s": "summarize",
    "l": "label",
    "f": "fork",
    "q": "leave",
    "escape": "leave",
    "ctrl-c": "leave",
    "ctrl-d": "leave",
}


class Walk(Struct, frozen=True):
    """`at` is the line of the cursor and `top` the first one in sight, both from 0; `rows` are in sight at once."""

    lines: Sequence[TreeLine]
    rows: int
    at: int
    top: int = 0
    typed: str = ""
    """Digits of a line's number so far."""
    choice: Choice | None = None

    def press(self, key: Key) -> "Walk":
        """The walk after a key; `choice` is set when the key ends it. Unknown keys change nothing."""
        if len(key) == 1 and key.isdecimal():
            return self._type(key)
        if key in _CHOICES:
            return replace(self, choice=_CHOICES[key])
        return self._move_to(self._target(key))

    def in_sight(self) -> list[tuple[int, TreeLine]]:
        """Numbers (from 1) and lines."""
        return list(enumerate(self.lines, 1))[self.top : self.top + self.rows]

    def _type(self, digit: str) -> "Walk":
        typed = self.typed + digit
        if not 0 < int(typed) <= len(self.lines):
            typed = digit
        if not 0 < int(typed) <= len(self.lines):
            return replace(self, typed="")
        return replace(self._move_to(int(typed) - 1), typed=typed)

    def _target(self, key: Key) -> int:
        match key:
            case "up" | "k":
                return self.at - 1
            case "down" | "j":
                return self.at + 1
            case "page-up":
                return self.at - self.rows
            case "page-down":
                return self.at + self.rows
            case "home":
                return 0
            case "end":
                return len(self.lines) - 1
            case "left":
                return max((at for at, line in enumerate(self.lines[: self.at]) if line.is_user), default=self.at)
            case "right":
                later = enumerate(self.lines[self.at + 1 :], self.at + 1)
                return next((at for at, line in later if line.is_user), self.at)
        return self.at

    def _move_to(self, at: int) -> "Walk":
        at = max(0, min(at, len(self.lines) - 1))
        top = min(max(self.top, at - self.rows + 1), at)
        return replace(self, at=at, top=top, typed="")


def begin(lines: Sequence[TreeLine], rows: int) -> Walk:
    """A walk that begins at the leaf."""
    leaf = next((at for at, line in enumerate(lines) if line.is_leaf), len(lines) - 1)
    return Walk(lines, rows, 0)._move_to(leaf)
