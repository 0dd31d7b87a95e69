"""A session as a document: head, outline and sections of cards, in reading order. Formats nothing."""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from rpc_agent.conversation.json_values import as_text
from rpc_agent.conversation.messages import message_text, tool_calls
from rpc_agent.export.branches import Branch, branches, outline
from rpc_agent.export.cards import Card, Places, Remark
from rpc_agent.export.entry_cards import branch_cards, is_landmark, is_trace
from rpc_agent.export.message_parts import counted, dollars
from rpc_agent.export.plain_text import moment, one_line
from rpc_agent.export.snapshot import SessionSnapshot
from rpc_agent.export.totals import Totals, totals
from rpc_agent.session.entries import (
    BranchSummaryEntry,
    CompactionEntry,
    CustomMessageEntry,
    Entry,
    MessageEntry,
)

_TITLE = 90
_OUTLINE = 80


class Section(Struct, frozen=True):
    """One branch. `fork` is the number of the entry it hangs from, None for a root."""

    branch: Branch
    fork: int | None


class Heading(Struct, frozen=True):
    """A line of the outline, and the entry it leads to."""

    number: int
    depth: int
    kind: str
    text: str
    label: str | None
    is_active: bool
    is_leaf: bool


class Document:
    def __init__(self, snapshot: SessionSnapshot) -> None:
        self._snapshot = snapshot
        self._branches = branches(snapshot)
        self._places = Places({entry.id: at for at, entry in enumerate(snapshot.entries, 1)}, snapshot.labels)
        self._forks: dict[int, list[int]] = {}
        for section in self.sections:
            if section.fork is not None:
                first = self._places.numbers[section.branch.entries[0].id]
                self._forks.setdefault(section.fork, []).append(first)
        self.title = _title(snapshot, self._branches[0])
        self.warnings = snapshot.warnings

    @property
    def sections(self) -> list[Section]:
        """The active branch first; those that hold only traces of a navigation are left out."""
        worth = [branch for branch in self._branches if branch.is_active or not all(map(is_trace, branch.entries))]
        return [Section(each, self._places.numbers[each.fork.id] if each.fork else None) for each in worth]

    def cards(self, section: Section) -> Iterator[Card]:
        """The cards of a section; where other branches begin, the card says so."""
        for card in branch_cards(section.branch.entries, self._places):
            begun = [Remark("Another branch begins here:", target=first) for first in self._forks.get(card.number, ())]
            yield replace(card, parts=(*card.parts, *begun)) if begun else card

    def facts(self) -> list[tuple[str, str]]:
        """What stands in the head, as (name, value)."""
        header, sums = self._snapshot.header, totals(self._snapshot.entries)
        given = [
            ("Session", as_text(header.get("id"))),
            ("Folder", as_text(header.get("cwd"))),
            ("Started", moment(as_text(header.get("timestamp")))),
            ("Last entry", moment(self._snapshot.entries[-1].timestamp) if self._snapshot.entries else ""),
            ("Continues", as_text(header.get("parentSession"))),
            ("Models", ", ".join(sums.models)),
            ("Contents", _contents(sums, len(self._snapshot.entries))),
            ("Tokens", _tokens(sums)),
            ("Cost", dollars(sums.cost) if sums.cost else ""),
        ]
        return [(name, value) for name, value in given if value]

    def headings(self) -> Iterator[Heading]:
        leaf = self._branches[0].entries[-1].id if self._branches[0].entries else None
        labels = self._snapshot.labels

        def is_shown(entry: Entry) -> bool:
            return is_landmark(entry) or entry.id in labels or entry.id == leaf

        for line in outline(self._branches, is_shown, is_trace):
            entry = line.entry
            kind, text = _heading(entry)
            number, label = self._places.numbers[entry.id], labels.get(entry.id)
            yield Heading(number, line.depth, kind, text, label, line.is_active, entry.id == leaf)


def _title(snapshot: SessionSnapshot, active: Branch) -> str:
    first = next((text for entry in active.entries if (text := _user_text(entry))), "")
    session_id = as_text(snapshot.header.get("id"))
    return one_line(snapshot.name or first, _TITLE) or f"Session {one_line(session_id, _TITLE)}"


def _user_text(entry: Entry) -> str:
    is_user = isinstance(entry, MessageEntry) and entry.message["role"] == "user"
    return message_text(entry.message).strip() if is_user and isinstance(entry, MessageEntry) else ""


def _heading(entry: Entry) -> tuple[str, str]:
    """Whose entry it is and how it begins."""
    match entry:
        case MessageEntry(message=message) if message["role"] == "assistant":
            calls = ", ".join(call["name"] for call in tool_calls(message))
            return "assistant", one_line(message_text(message), _OUTLINE) or one_line(calls, _OUTLINE)
        case MessageEntry(message=message) if message["role"] == "bashExecution":
            return "bash", one_line(message["command"], _OUTLINE)
        case MessageEntry(message=message):
            return message["role"], one_line(message_text(message), _OUTLINE)
        case CustomMessageEntry(message=message):
            return "custom", one_line(message_text(message), _OUTLINE)
        case CompactionEntry():
            return "compaction", one_line(entry.summary, _OUTLINE)
        case BranchSummaryEntry():
            return "branch summary", one_line(entry.summary, _OUTLINE)
        case _:
            return "note", one_line(as_text(entry.raw.get("type")).replace("_", " "), _OUTLINE)


def _contents(sums: Totals, entries: int) -> str:
    counts = [
        counted(entries, "entry", "entries"),
        counted(sums.user_messages, "user message"),
        counted(sums.assistant_messages, "answer"),
        counted(sums.tool_calls, "tool call"),
    ]
    return ", ".join(counts + ([counted(sums.compactions, "compaction")] if sums.compactions else []))


def _tokens(sums: Totals) -> str:
    counts = (
        (sums.input, "in"),
        (sums.output, "out"),
        (sums.cache_read, "cache reads"),
        (sums.cache_write, "cache writes"),
    )
    return ", ".join(f"{count:,} {word}" for count, word in counts if count)
