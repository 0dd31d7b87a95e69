"""The session tree in memory: entries are only ever added, and nothing here touches a file.

Files of other programs hold missing parents, cycles and ids used twice; every question here ends all the same.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from msgspec import Struct

from rpc_agent.errors import EntryNotFound
from rpc_agent.session.entries import LEAF_MARKER, CustomEntry, Entry, LabelEntry, SessionInfoEntry
from rpc_agent.session.warnings import WarningList


class _Orphan(Struct, frozen=True):
    """An entry whose parent was not in the file before it."""

    previous_id: str | None
    """The entry before it in the file."""
    after_loss: bool


class OlderEntries(Protocol):
    """The entries before those of a tree, for a file of which only the tail was read."""

    def find(self, entry_id: str) -> Entry | None: ...

    def last_id(self, *, before: str) -> str | None:
        """The one that stands last in the file, `before` itself left out."""

    def first_of(self, entry_ids: Iterable[str]) -> str:
        """The one of these that stands first in the file."""

    def parent_of(self, entry: Entry) -> str | None:
        """The id of the older entry that one of them hangs from after repairs."""

    def is_damaged(self) -> bool:
        """Whether something among them could not be read."""


class SessionTree:
    """The entries of one session in file order, and the links between them.

    With `older` given the tree holds the tail of a file; lookups and paths go on into what lies before it.
    """

    def __init__(self, older: OlderEntries | None = None) -> None:
        self._older = older
        self._entries: dict[str, Entry] = {}
        self._labels: dict[str, LabelEntry] = {}
        self._orphans: dict[str, _Orphan] = {}
        self._name_entry: SessionInfoEntry | None = None
        self._leaf_id: str | None = None
        self._may_have_cycles = False
        self.is_damaged = False
        """Whether something could not be read so far; whatever is added later may have hung from it."""
        self.additions = 0
        """How often something was added, an id that was there included."""
        self._children: dict[str | None, list[str]] | None = None
        self._order: list[str] | None = None
        self._places: dict[str, int] = {}
        """All three are made when somebody asks, for as long as nothing is added."""
        self.warnings = WarningList()

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        """The entries in file order."""
        return iter(self._entries.values())

    @property
    def leaf_id(self) -> str | None:
        """The last entry of the file."""
        return self._leaf_id

    @property
    def name(self) -> str | None:
        """The session's name: the last one in the file, whatever branch it was given on."""
        return self._name_entry.name if self._name_entry else None

    def add(self, entry: Entry, *, after_loss: bool = False) -> None:
        """Hang an entry where it says. One with a known id takes its place: the last line with an id wins.

        `after_loss`: something before it could not be read, so a missing parent was probably that.
        """
        replaced = self._entries.pop(entry.id, None)
        self._orphans.pop(entry.id, None)
        if entry.parent_id is not None and entry.parent_id not in self._entries:
            self._orphans[entry.id] = _Orphan(next(reversed(self._entries), None), after_loss)
        # Without either, every link leads to an earlier line.
        self._may_have_cycles = self._may_have_cycles or replaced is not None or entry.id in self._orphans
        self._entries[entry.id] = entry
        self._leaf_id = entry.id
        self.additions += 1
        self._children = self._order = None
        if isinstance(entry, LabelEntry):
            self._labels[entry.target_id] = entry
        elif isinstance(entry, SessionInfoEntry):
            self._name_entry = entry

    def ids_behind(self, entry_id: str | None) -> list[str]:
        """The ids that stand behind one in the file; all of them for None. Cheap again until something is added."""
        if self._order is None:
            self._order = list(self._entries)
            self._places = {each: at for at, each in enumerate(self._order)}
        return self._order if entry_id is None else self._order[self._places[entry_id] + 1 :]

    def newest(self, additions: int) -> list[Entry]:
        """What the last so many additions left, the newest first."""
        return list(itertools.islice(reversed(self._entries.values()), additions))

    def has(self, entry_id: str) -> bool:
        return entry_id in self._entries

    def get(self, entry_id: str) -> Entry:
        """Raises EntryNotFound."""
        entry = self._find(entry_id)
        if entry is None:
            raise EntryNotFound(entry_id)
        return entry

    def labels(self) -> dict[str, str]:
        """All labels by entry id."""
        return {target: entry.label for target, entry in self._labels.items() if entry.label is not None}

    def label_entries(self) -> dict[str, LabelEntry]:
        """The last label entry about each target, those that clear a label too."""
        return self._labels

    def name_entry(self) -> SessionInfoEntry | None:
        """The entry that named the session last, or cleared its name."""
        return self._name_entry

    def label_entry(self, target_id: str) -> LabelEntry | None:
        """The last label entry about `target_id`, be it one that clears the label."""
        return self._labels.get(target_id)

    def parent_of(self, entry: Entry) -> str | None:
        """The id of the entry this one hangs from after repairs; None for a root and for an unrepaired orphan."""
        if entry.parent_id is None or entry.parent_id in self._entries:
            return entry.parent_id
        if self._older and entry.id not in self._entries:
            return self._older.parent_of(entry)
        return entry.parent_id if self._find(entry.parent_id) else self._bridge(entry)

    def path(self, leaf_id: str | None, *, is_enough: Callable[[Entry], bool] | None = None) -> list[Entry]:
        """The entries from the root to `leaf_id`; [] for None. Damage on the way ends it with a warning.

        `is_enough` is asked about each entry from the leaf upwards; the first it says yes to begins the path.
        Raises EntryNotFound when there is no such leaf.
        """
        walked: dict[str, Entry] = {}
        at = leaf_id
        while at is not None:
            if at in walked:
                trail = list(walked)
                self._warn_about_cycle(trail[trail.index(at) :])
                break
            entry = walked[at] = self.get(at)
            if is_enough and is_enough(entry):
                break
            at = self.parent_of(entry)
            self._warn_about_parent(entry, at)
        return list(reversed(walked.values()))

    def note_broken_links(self) -> None:
        """Warn of every parent that is missing and of every cycle, on whatever branch; a walk there warns but once."""
        for entry_id in self._orphans:
            entry = self._entries[entry_id]
            self._warn_about_parent(entry, self.parent_of(entry))
        if self._may_have_cycles:
            for ring in _rings({entry.id: self.parent_of(entry) for entry in self}):
                self._warn_about_cycle(ring)

    def climb(self, leaf_id: str | None, is_it: Callable[[Entry], bool]) -> Entry | None:
        """The nearest entry from `leaf_id` upwards that `is_it` says yes to."""
        path = self.path(leaf_id, is_enough=is_it)
        return path[0] if path and is_it(path[0]) else None

    def _find(self, entry_id: str) -> Entry | None:
        found = self._entries.get(entry_id)
        return self._older.find(entry_id) if found is None and self._older else found

    def _bridge(self, entry: Entry) -> str | None:
        """The entry before an orphan in the file, if its parent was probably lost between the two."""
        orphan = self._orphans.get(entry.id)
        if orphan is None or not (orphan.after_loss or (self._older and self._older.is_damaged())):
            return None
        if orphan.previous_id is None and self._older:
            return self._older.last_id(before=entry.id)
        return orphan.previous_id

    def _warn_about_parent(self, entry: Entry, parent: str | None) -> None:
        if parent != entry.parent_id:
            self.warnings.add_missing_parent(entry.id, entry.parent_id, parent)

    def _warn_about_cycle(self, ring: Sequence[str]) -> None:
        self.warnings.add_cycle(self._first_of(ring))

    def _first_of(self, entry_ids: Sequence[str]) -> str:
        """The one that stands first in the file."""
        older = [entry_id for entry_id in entry_ids if entry_id not in self._entries]
        if older and self._older:
            return self._older.first_of(older)
        wanted = set(entry_ids)
        return next(entry_id for entry_id in self._entries if entry_id in wanted)

    def children(self) -> dict[str | None, list[str]]:
        """Ids by parent id in file order, roots under None. Every entry is below exactly one root: an orphan is
        a root, and a cycle is cut at its first entry in the file."""
        if self._children is None:
            self._children = {}
            for entry_id, parent in _without_cycles({entry.id: self.parent_of(entry) for entry in self}):
                self._children.setdefault(parent, []).append(entry_id)
        return self._children

    @property
    def roots(self) -> list[str]:
        return self.children().get(None, [])


def is_marker(entry: Entry) -> bool:
    """Whether an entry only says where the leaf is, how something is labelled, or what the session is called."""
    match entry:
        case LabelEntry() | SessionInfoEntry():
            return True
        case CustomEntry(custom_type=custom_type):
            return custom_type == LEAF_MARKER
        case _:
            return False


def _without_cycles(links: dict[str, str | None]) -> list[tuple[str, str | None]]:
    """The links with one of each cycle cut, in the order given."""
    # Cut at the first of the cycle in the file, so that nothing of it is out of reach.
    rings = _rings(links)
    order = {entry_id: at for at, entry_id in enumerate(links)} if rings else {}
    cut = {min(ring, key=order.__getitem__) for ring in rings}
    return [(entry_id, None if entry_id in cut else parent) for entry_id, parent in links.items()]


def _rings(links: dict[str, str | None]) -> list[list[str]]:
    """The members of each cycle."""
    found: list[list[str]] = []
    rooted: set[str] = set()
    for start in links:
        trail: dict[str, None] = {}
        at: str | None = start
        while at is not None and at not in rooted and at not in trail:
            trail[at] = None
            at = links.get(at)
        if at is not None and at in trail:
            members = list(trail)
            found.append(members[members.index(at) :])
        rooted.update(trail)
    return found
