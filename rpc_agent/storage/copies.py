"""Fork and clone: a new session from a branch of another. The one copied from is never changed."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from rpc_agent.conversation.json_values import JsonObject, as_id
from rpc_agent.conversation.messages import message_text
from rpc_agent.errors import InvalidValue
from rpc_agent.session.entries import Entry, LabelEntry, MessageEntry, read_entry
from rpc_agent.storage.identity import Identity
from rpc_agent.storage.session_store import SessionStore


def fork_session(
    source: SessionStore, entry_id: str, directory: Path | None, *, identity: Identity
) -> tuple[SessionStore, str]:
    """A new session with everything before a user message, and that message's text for the editor.

    Raises EntryNotFound, InvalidValue when the entry is no user message.
    """
    entry = source.get(entry_id)
    if not isinstance(entry, MessageEntry) or entry.message["role"] != "user":
        raise InvalidValue("entryId", "a fork begins at a user message, and this entry is none")
    return copy_branch(source, source.whole_branch(entry_id)[:-1], directory, identity=identity), message_text(
        entry.message
    )


def clone_session(source: SessionStore, directory: Path | None, *, identity: Identity) -> SessionStore:
    """A new session with the active branch."""
    return copy_branch(source, source.whole_branch(), directory, identity=identity)


def copy_branch(
    source: SessionStore, path: Sequence[Entry], directory: Path | None, *, identity: Identity
) -> SessionStore:
    """A new session that holds `path`: ids kept, links rewritten around the labels, the labels that count at its end.

    Label entries are left out of the middle, since some are of other branches' entries or no longer count; a
    boundary of a compaction that pointed to one moves to the next entry that stayed.
    """
    copy = SessionStore.create(
        directory,
        cwd=source.cwd,
        identity=identity,
        parent_session=str(source.path) if source.path else None,
    )
    kept = [entry for entry in path if not isinstance(entry, LabelEntry)]
    copy.adopt(_relinked(kept, _boundaries(path)))
    labels = source.labels()
    copy.append_many(
        ("label", {"targetId": entry.id, "label": labels[entry.id]}) for entry in kept if entry.id in labels
    )
    return copy


def _boundaries(path: Sequence[Entry]) -> dict[str, str]:
    """For each label entry of a path the id of the next entry that is none."""
    moved: dict[str, str] = {}
    following: str | None = None
    for entry in reversed(path):
        if not isinstance(entry, LabelEntry):
            following = entry.id
        elif following is not None:
            moved[entry.id] = following
    return moved


def _relinked(kept: Sequence[Entry], boundaries: dict[str, str]) -> Iterator[Entry]:
    parent_id: str | None = None
    for entry in kept:
        raw: JsonObject = {**entry.raw, "parentId": parent_id}
        if (boundary := as_id(raw.get("firstKeptEntryId"))) in boundaries:
            raw["firstKeptEntryId"] = boundaries[boundary]
        parent_id = entry.id
        yield read_entry(raw) or entry
