"""Entries of the active branch -> the messages a model sees. A fold with every kind of entry named; pure."""

from collections.abc import Sequence
from typing import Any, assert_never

from msgspec import Struct

from rpc_agent.context.growing import Growing
from rpc_agent.conversation.messages import BranchSummaryMessage, CompactionSummaryMessage, Message, read_message
from rpc_agent.session.entries import (
    BranchSummaryEntry,
    CompactionEntry,
    ContextEditEntry,
    CustomEntry,
    CustomMessageEntry,
    Entry,
    LabelEntry,
    MessageEntry,
    ModelChangeEntry,
    SessionInfoEntry,
    ThinkingLevelChangeEntry,
    UnknownEntry,
    UsageEntry,
    milliseconds,
)

_EDITABLE_ROLES = frozenset({"user", "assistant", "toolResult", "custom"})


class ProjectedMessage(Struct, frozen=True):
    """A message of the context and the entry it comes from."""

    entry: Entry
    message: Message


class Projection(Struct, frozen=True):
    """The context of a branch: the entries that take part, in context order, and the messages they yield."""

    entries: Sequence[Entry]
    messages: Sequence[ProjectedMessage]


def project(path: Sequence[Entry]) -> Projection:
    """The context of a root-to-leaf path (engine.md section 2)."""
    return Projector(path).projection


class Projector:
    """A projection that follows its branch.

    Appending costs the same however long the branch is; only a compaction, an edit, or another branch rebuilds.
    The messages of an entry are the same objects for as long as nothing edits them, so what a provider made of
    them can be cached by identity.
    """

    def __init__(self, path: Sequence[Entry] = ()) -> None:
        self._edits: dict[str, ContextEditEntry] = {}
        self._leading: Entry | None = None
        self._messages: Growing[ProjectedMessage] = Growing()
        self.move_to(path)

    @property
    def projection(self) -> Projection:
        return Projection(self._entries.view(), self._messages.view())

    @property
    def path(self) -> Sequence[Entry]:
        return self._path.view()

    def move_to(self, path: Sequence[Entry]) -> None:
        """Show another branch."""
        self._path = Growing(path)
        self._rebuild()

    def append(self, entry: Entry) -> None:
        """Extend the branch by its new leaf."""
        self._path.append(entry)
        if isinstance(entry, CompactionEntry | ContextEditEntry):
            self._rebuild()
        else:
            self._show(entry, self._edits.get(entry.id))

    def _rebuild(self) -> None:
        folded = fold_entries(self._path.view())
        before, edits, leading = self._shown(folded), self._edits, self._leading
        self._edits = context_edits(folded)
        self._leading = folded[0] if folded and isinstance(folded[0], CompactionEntry) else None
        self._entries: Growing[Entry] = Growing()
        self._messages = Growing()
        for entry in folded:
            known, edit = before.get(id(entry)), self._edits.get(entry.id)
            if known and edits.get(entry.id) is edit and (entry is leading) == (entry is self._leading):
                self._keep(entry, known)
            else:
                self._show(entry, edit)

    def _shown(self, entries: Sequence[Entry]) -> dict[int, list[ProjectedMessage]]:
        """The messages that these entries are shown as now, by the identity of the entry."""
        wanted = set(map(id, entries))
        shown: dict[int, list[ProjectedMessage]] = {}
        for item in self._messages.view():
            if id(item.entry) in wanted:
                shown.setdefault(id(item.entry), []).append(item)
        return shown

    def _show(self, entry: Entry, edit: ContextEditEntry | None) -> None:
        leading = entry is self._leading
        messages = [ProjectedMessage(entry, message) for message in entry_messages(entry, edit, leading=leading)]
        if leading and isinstance(entry, CompactionEntry):
            messages += self._tail(entry)
        self._keep(entry, messages)

    def _tail(self, compaction: CompactionEntry) -> tuple[ProjectedMessage, ...]:
        """What the compaction itself kept, unless the path still has the entries it kept them from."""
        tail = compaction.retained_tail
        if not tail or _first_kept_index(self._path.view(), compaction) is not None:
            return ()
        return tuple(ProjectedMessage(compaction, message) for message in tail if message["role"] != "system")

    def _keep(self, entry: Entry, messages: Sequence[ProjectedMessage]) -> None:
        self._entries.append(entry)
        self._messages.extend(messages)


def latest_compaction(path: Sequence[Entry]) -> CompactionEntry | None:
    return next((entry for entry in reversed(path) if isinstance(entry, CompactionEntry)), None)


def fold_entries(path: Sequence[Entry]) -> list[Entry]:
    """The newest compaction first, then what it kept, then everything after it.

    System messages of the kept range are left out: the compaction's snapshot stands for them. A kept range whose
    beginning is not on the path before the compaction is empty.
    """
    compaction = latest_compaction(path)
    if compaction is None:
        return list(path)
    at = _index_of(path, compaction)
    kept_from = _first_kept_index(path, compaction)
    kept = [] if kept_from is None else [entry for entry in path[kept_from:at] if not _is_system(entry)]
    return [compaction, *kept, *path[at + 1 :]]


def context_edits(folded: Sequence[Entry]) -> dict[str, ContextEditEntry]:
    """The edits in force, by target: the last one wins, and only edits inside the folded list count."""
    return {entry.target_id: entry for entry in folded if isinstance(entry, ContextEditEntry)}


def entry_messages(entry: Entry, edit: ContextEditEntry | None, *, leading: bool) -> tuple[Message, ...]:
    """The messages of one entry under the edit that targets it; `leading` says that it opens the context."""
    if edit is not None and edit.replacement is None:
        return ()
    messages = _unedited_messages(entry, leading=leading)
    if edit is None or edit.replacement is None:
        return messages
    content = edit.replacement.get("content")
    return tuple(_with_content(message, content) for message in messages)


def _unedited_messages(entry: Entry, *, leading: bool) -> tuple[Message, ...]:
    match entry:
        case MessageEntry() | CustomMessageEntry():
            return (entry.message,)
        case CompactionEntry():
            # Only the newest compaction speaks; an older one inside the kept range is part of what it summarised.
            return _compaction_messages(entry) if leading else ()
        case BranchSummaryEntry():
            return (_branch_summary_message(entry),) if entry.summary else ()
        case ContextEditEntry():
            return ()  # It speaks through its target.
        case ModelChangeEntry() | ThinkingLevelChangeEntry() | UsageEntry():
            return ()  # Settings and bills.
        case CustomEntry() | LabelEntry() | SessionInfoEntry():
            return ()  # For programs and people.
        case UnknownEntry():
            return ()
        case _:
            assert_never(entry)


def _compaction_messages(entry: CompactionEntry) -> tuple[Message, ...]:
    summary: CompactionSummaryMessage = {
        "role": "compactionSummary",
        "summary": entry.summary,
        "tokensBefore": entry.tokens_before,
        "timestamp": milliseconds(entry.timestamp),
    }
    snapshot = entry.system_message
    if snapshot is None or snapshot["role"] != "system":
        return (summary,)
    return (snapshot, summary)


def _branch_summary_message(entry: BranchSummaryEntry) -> BranchSummaryMessage:
    return {
        "role": "branchSummary",
        "summary": entry.summary,
        "fromId": entry.from_id,
        "timestamp": milliseconds(entry.timestamp),
    }


def _with_content(message: Message, content: Any) -> Message:
    if message["role"] not in _EDITABLE_ROLES:
        return message
    # Reading it again turns a string on an assistant or a tool result into one text block, and null into none.
    return read_message({**message, "content": content}) or message


def is_editable(entry: Entry) -> bool:
    """Whether a context_edit may target it: what a conversation consists of, and nothing that describes it."""
    if isinstance(entry, MessageEntry):
        return entry.message["role"] in _EDITABLE_ROLES
    return isinstance(entry, CustomMessageEntry)


def _is_system(entry: Entry) -> bool:
    return isinstance(entry, MessageEntry) and entry.message["role"] == "system"


def _first_kept_index(path: Sequence[Entry], compaction: CompactionEntry) -> int | None:
    """From the compaction backwards: what it keeps is near it, and before that there may be a long way."""
    wanted = compaction.first_kept_entry_id
    before = range(_index_of(path, compaction) - 1, -1, -1)
    return next((index for index in before if path[index].id == wanted), None)


def _index_of(path: Sequence[Entry], wanted: Entry) -> int:
    return next(index for index in range(len(path) - 1, -1, -1) if path[index] is wanted)
