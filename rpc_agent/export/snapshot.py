"""What an export is made of: a session's entries and what is known about them, at one moment. Reads no file."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct, field

from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.session.entries import Entry
from rpc_agent.session.warnings import SessionWarning


class SessionSnapshot(Struct, frozen=True, kw_only=True):
    """`entries` are those of all branches, in file order."""

    header: JsonObject
    entries: Sequence[Entry]
    leaf_id: str | None
    labels: Mapping[str, str] = field(default_factory=dict)
    """By entry id."""
    name: str | None = None
    parents: Mapping[str, str | None] = field(default_factory=dict)
    """Where entries hang after repairs; an entry that is not named here hangs where it says itself."""
    warnings: Sequence[str] = ()
    """What was found damaged, for people."""
    stored: bytes | None = None
    """The session file, where there is one: what the JSONL export gives."""


class PlacedEntry(Protocol):
    @property
    def entry(self) -> Entry: ...
    @property
    def parent_id(self) -> str | None: ...


class PlacedEntries(Protocol):
    @property
    def nodes(self) -> Sequence[PlacedEntry]: ...


class OpenSession(Protocol):
    """The few answers of an open session that a snapshot needs; a session store gives them."""

    @property
    def header(self) -> JsonObject: ...
    @property
    def leaf_id(self) -> str | None: ...
    @property
    def session_name(self) -> str | None: ...
    @property
    def warnings(self) -> Sequence[SessionWarning]: ...
    def labels(self) -> Mapping[str, str]: ...
    def tree_nodes(self) -> PlacedEntries: ...


def take_snapshot(session: OpenSession, *, stored: bytes | None = None) -> SessionSnapshot:
    """Everything in an open session, whatever its size: a large file's front is read for it.

    Raises what the session raises when its file cannot be read.
    """
    nodes = session.tree_nodes().nodes
    return SessionSnapshot(
        header=session.header,
        entries=[node.entry for node in nodes],
        leaf_id=session.leaf_id,
        labels=session.labels(),
        name=session.session_name,
        parents={node.entry.id: node.parent_id for node in nodes},
        warnings=[_sentence(warning) for warning in session.warnings],
        stored=stored,
    )


def _sentence(warning: SessionWarning) -> str:
    return warning.message if warning.line is None else f"Line {warning.line}: {warning.message}"
