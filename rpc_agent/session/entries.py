"""The eleven kinds of entry in a session file, and the one for kinds nobody knows yet.

An entry keeps the JSON object it was read from (`raw`): what another program put there comes back unchanged.
The typed fields beside it are what our own code reads.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from rpc_agent.conversation.json_values import JsonObject, as_count, as_id, as_object, as_text
from rpc_agent.conversation.messages import Message, read_message

SESSION_VERSION = 3


class EntryBase(Struct, frozen=True, kw_only=True):
    """What every entry has. `timestamp` is ISO 8601 in UTC with milliseconds."""

    id: str
    parent_id: str | None
    """None for a root; an id that is not in the file (NOT_NAMED too) is a parent that is missing."""
    timestamp: str
    raw: JsonObject


class MessageEntry(EntryBase, frozen=True, kw_only=True):
    message: Message


class ThinkingLevelChangeEntry(EntryBase, frozen=True, kw_only=True):
    thinking_level: str


class ModelChangeEntry(EntryBase, frozen=True, kw_only=True):
    provider: str
    model_id: str


class UsageEntry(EntryBase, frozen=True, kw_only=True):
    """A paid model call that has no entry of its own, such as a summary that was rejected."""

    kind: str
    usage: Mapping[str, Any]


class CompactionEntry(EntryBase, frozen=True, kw_only=True):
    summary: str
    first_kept_entry_id: str
    """Where the kept range begins; the entry's own id (or any id not before it) keeps nothing."""
    tokens_before: int
    details: Mapping[str, Any]
    from_hook: bool
    system_message: Message | None
    """The system state at the time, so that the kept range needs no system messages."""
    retained_tail: tuple[Message, ...] | None


class BranchSummaryEntry(EntryBase, frozen=True, kw_only=True):
    from_id: str
    summary: str
    details: Mapping[str, Any]
    from_hook: bool


class ContextEditEntry(EntryBase, frozen=True, kw_only=True):
    target_id: str
    replacement: Mapping[str, Any] | None
    """None leaves the target out of the context; {"content": ...} replaces its content only."""


class CustomEntry(EntryBase, frozen=True, kw_only=True):
    custom_type: str
    data: object


class CustomMessageEntry(EntryBase, frozen=True, kw_only=True):
    custom_type: str
    message: Message


class LabelEntry(EntryBase, frozen=True, kw_only=True):
    target_id: str
    label: str | None


class SessionInfoEntry(EntryBase, frozen=True, kw_only=True):
    name: str | None


class UnknownEntry(EntryBase, frozen=True, kw_only=True):
    """A kind of a later version or of another program: on the path, invisible to the model."""


Entry = (
    MessageEntry
    | ThinkingLevelChangeEntry
    | ModelChangeEntry
    | UsageEntry
    | CompactionEntry
    | BranchSummaryEntry
    | ContextEditEntry
    | CustomEntry
    | CustomMessageEntry
    | LabelEntry
    | SessionInfoEntry
    | UnknownEntry
)

NOT_NAMED = ""
"""The parent of an entry that says neither `null` nor an id. No entry has this one, so the parent is missing."""

LEAF_MARKER = "leaf"
"""customType of the entry that a navigation appends, so that the place survives a restart."""


def read_entry(raw: JsonObject) -> Entry | None:
    """The entry in a JSON object, or None when it has no usable id.

    A known kind whose payload cannot be read (a message with an unknown role, say) becomes an UnknownEntry:
    it stays on the path and in the file, and the model does not see it.
    """
    links = entry_links(raw)
    if links is None:
        return None
    entry_id, parent_id = links
    raw = with_text_ids(raw, links)
    base = {"id": entry_id, "parent_id": parent_id, "timestamp": as_text(raw.get("timestamp")), "raw": raw}
    return _read_payload(raw, base)


def with_text_ids(raw: JsonObject, links: tuple[str, str | None]) -> JsonObject:
    """The object of an entry whose `entry_links` are these: what `read_entry` makes its `raw`."""
    entry_id, parent_id = links
    if raw["id"] != entry_id or (raw.get("parentId") != parent_id and parent_id):
        return {**raw, "id": entry_id, "parentId": parent_id}
    return raw


def entry_links(raw: JsonObject) -> tuple[str, str | None] | None:
    """The id of the entry in an object and that of its parent; None when it has no usable id."""
    entry_id, parent_id = raw.get("id"), raw.get("parentId", NOT_NAMED)
    if isinstance(entry_id, str) and (parent_id is None or isinstance(parent_id, str)):
        return (entry_id, parent_id) if entry_id else None
    own_id = as_id(entry_id)
    return (own_id, parent_id if parent_id is None else as_id(parent_id) or NOT_NAMED) if own_id else None


def has_null_content(raw: JsonObject) -> bool:
    """Whether an entry of a message, or of a custom one, has null where its content belongs."""
    holder = raw.get("message") if raw.get("type") == "message" else raw
    return isinstance(holder, dict) and holder.get("content", "") is None


def new_entry(kind: str, fields: Mapping[str, Any], *, entry_id: str, parent_id: str | None, timestamp: str) -> Entry:
    """An entry of ours, with the base fields where every reader looks for them: first."""
    entry = read_entry({"type": kind, "id": entry_id, "parentId": parent_id, "timestamp": timestamp, **fields})
    if entry is None:
        raise ValueError(f"an entry needs an id, not {entry_id!r}")
    return entry


def _read_payload(raw: JsonObject, base: dict[str, Any]) -> Entry:
    match raw.get("type"):
        case "message":
            message = read_message(raw.get("message"))
            return MessageEntry(**base, message=message) if message else UnknownEntry(**base)
        case "thinking_level_change":
            return ThinkingLevelChangeEntry(**base, thinking_level=as_text(raw.get("thinkingLevel")))
        case "model_change":
            return ModelChangeEntry(**base, provider=as_text(raw.get("provider")), model_id=as_text(raw.get("modelId")))
        case "usage":
            return UsageEntry(**base, kind=as_text(raw.get("kind")), usage=as_object(raw.get("usage")))
        case "compaction":
            return _read_compaction(raw, base)
        case "branch_summary":
            return BranchSummaryEntry(
                **base,
                from_id=as_id(raw.get("fromId")),
                summary=as_text(raw.get("summary")),
                details=as_object(raw.get("details")),
                from_hook=raw.get("fromHook") is True,
            )
        case "context_edit":
            return ContextEditEntry(
                **base,
                target_id=as_id(raw.get("targetId")),
                replacement=_replacement(raw.get("replacement")),
            )
        case "custom":
            return CustomEntry(**base, custom_type=as_text(raw.get("customType")), data=raw.get("data"))
        case "custom_message":
            return _read_custom_message(raw, base)
        case "label":
            label = raw.get("label")
            return LabelEntry(
                **base,
                target_id=as_id(raw.get("targetId")),
                label=label if isinstance(label, str) and label else None,
            )
        case "session_info":
            name = as_text(raw.get("name")).strip()
            return SessionInfoEntry(**base, name=name or None)
        case _:
            return UnknownEntry(**base)


def _read_compaction(raw: JsonObject, base: dict[str, Any]) -> CompactionEntry:
    tail = raw.get("retainedTail")
    return CompactionEntry(
        **base,
        summary=as_text(raw.get("summary")),
        first_kept_entry_id=as_id(raw.get("firstKeptEntryId")),
        tokens_before=as_count(raw.get("tokensBefore")),
        details=as_object(raw.get("details")),
        from_hook=raw.get("fromHook") is True,
        system_message=read_message(raw.get("systemMessage")),
        retained_tail=_tail(tail) if isinstance(tail, list) else None,
    )


def _tail(items: list[object]) -> tuple[Message, ...]:
    return tuple(message for item in items if (message := read_message(item)) is not None)


def _replacement(value: object) -> Mapping[str, Any] | None:
    return None if value is None else as_object(value)


def _read_custom_message(raw: JsonObject, base: dict[str, Any]) -> Entry:
    fields: JsonObject = {name: raw[name] for name in ("customType", "content", "display", "details") if name in raw}
    message = read_message({"role": "custom", **fields, "timestamp": milliseconds(base["timestamp"])})
    if message is None:
        return UnknownEntry(**base)
    return CustomMessageEntry(**base, custom_type=as_text(raw.get("customType")), message=message)


def milliseconds(timestamp: str) -> int:
    """An entry's ISO time as milliseconds since the epoch, 0 where it cannot be read. A time without a zone is UTC."""
    try:
        at = datetime.fromisoformat(timestamp)
        return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return 0
