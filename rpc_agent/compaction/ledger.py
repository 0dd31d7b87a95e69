"""What a compaction may not forget: the user's words, what was done, which files. From the tree; no model writes here.

`ledger_material` collects it from a range, `ledger_fitting` makes room for it, `ledger_text` says it in words, and
`ledger_record` keeps it.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct, field

from rpc_agent.compaction.file_operations import FileOperations

Outcome = Literal["ok", "error", "unknown"]


class UserWords(Struct, frozen=True, kw_only=True):
    """One message of the user, verbatim unless `cut`."""

    entry_id: str
    text: str
    cut: bool = False


class Action(Struct, frozen=True, kw_only=True):
    """A tool call that was made, `times` times with the same outcome; the entry is that of the last one."""

    entry_id: str
    tool: str
    target: str
    """The path or command, else the arguments; in one line."""
    outcome: Outcome
    times: int = 1


class Ledger(Struct, frozen=True, kw_only=True):
    """Lists are oldest first. As material it holds everything; fitted, what there is room for, and the counts."""

    words: Sequence[UserWords] = ()
    words_left_out: int = 0
    current_id: str | None = None
    """The session's latest user message, when it is the last of these."""
    actions: tuple[Action, ...] = ()
    actions_left_out: int = 0
    files: FileOperations = field(default_factory=FileOperations)
    files_left_out: int = 0

    def is_current(self, words: UserWords) -> bool:
        return self.current_id is not None and words is self.words[-1]

    @property
    def is_empty(self) -> bool:
        """Counts alone are not worth telling."""
        return not (self.words or self.actions or all_paths(self.files))


def all_paths(files: FileOperations) -> list[str]:
    return files.modified_files + files.read_files
