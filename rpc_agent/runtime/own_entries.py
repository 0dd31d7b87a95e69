"""What hooks may add to a session: checked against the branch as it would be, then turned into entries' fields.

Nothing is appended here. Everything that cannot be used is a BadAnswer, so that the hook is passed over whole.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from rpc_agent.context.projection import is_editable, project
from rpc_agent.context.system_state import replay_system, system_message
from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.conversation.messages import read_message
from rpc_agent.errors import EntryNotFound
from rpc_agent.extensions.hooks import BadAnswer, Drafts, OwnCompaction, read_before_compact
from rpc_agent.runtime.session_hooks import read_content
from rpc_agent.runtime.session_log import SessionLog
from rpc_agent.session.entries import LEAF_MARKER, MessageEntry, UnknownEntry, new_entry

_FIELDS = {
    "custom": ("customType", "data"),
    "custom_message": ("customType", "content", "display", "details"),
    "context_edit": ("targetId", "replacement"),
    "compaction": ("summary", "firstKeptEntryId", "tokensBefore", "details", "retainedTail"),
}


class OwnEntry(Struct, frozen=True, kw_only=True):
    """An entry to be; `compaction` is set when it is one, and its fields are made when it is appended."""

    kind: str
    fields: Mapping[str, Any]
    compaction: OwnCompaction | None = None


def checked_compaction(own: OwnCompaction, log: SessionLog) -> OwnCompaction:
    """The same, when its kept range and its tail can be used. Raises BadAnswer."""
    if own.details is not None and not isinstance(own.details, dict):
        raise BadAnswer("compaction.details is an object")
    for message in own.retained_tail or ():
        read = read_message(message)
        if read is None or read["role"] == "system":
            raise BadAnswer(f"compaction.retainedTail cannot hold a message of the role {message.get('role')!r}")
    if own.first_kept_entry_id is not None:
        kept = next((entry for entry in log.path if entry.id == own.first_kept_entry_id), None)
        if kept is None:
            raise BadAnswer(f"compaction.firstKeptEntryId {own.first_kept_entry_id!r} is not in the context")
        if isinstance(kept, MessageEntry) and kept.message["role"] == "toolResult":
            raise BadAnswer("compaction.firstKeptEntryId is a tool result, which cannot stand without its call")
    return own


def checked_entries(drafts: Drafts, log: SessionLog) -> list[OwnEntry]:
    """Raises BadAnswer when one of them cannot be appended: then none is."""
    entries = [_checked(dict(draft), log) for draft in drafts.entries]
    preview = list(log.path)
    for number, each in enumerate(entries):
        fields = {"firstKeptEntryId": "", **each.fields} if each.compaction else each.fields
        entry = new_entry(each.kind, fields, entry_id=f"preview {number}", parent_id=log.leaf_id, timestamp="")
        if isinstance(entry, UnknownEntry):
            raise BadAnswer(f"the {each.kind} cannot be read back")
        preview.append(entry)
    if entries and log.projection.messages and not project(preview).messages:
        raise BadAnswer("nothing would be left of the context")
    return entries


def _checked(draft: JsonObject, log: SessionLog) -> OwnEntry:
    kind = draft.pop("type")
    unknown = sorted(name for name in draft if name not in _FIELDS[kind])
    if unknown:
        raise BadAnswer(f"a {kind} has no {', '.join(unknown)}; it has {', '.join(_FIELDS[kind])}")
    match kind:
        case "context_edit":
            return OwnEntry(kind=kind, fields=_edit(draft, log))
        case "compaction":
            own = read_before_compact({"compaction": draft})
            assert isinstance(own, OwnCompaction)
            return OwnEntry(kind=kind, fields=draft, compaction=checked_compaction(own, log))
        case _:
            return OwnEntry(kind=kind, fields=_custom(kind, draft))


def _custom(kind: str, draft: JsonObject) -> JsonObject:
    custom_type = draft.get("customType")
    if not isinstance(custom_type, str) or not custom_type:
        raise BadAnswer(f"a {kind} needs a customType that is a text")
    if custom_type == LEAF_MARKER:
        raise BadAnswer(f"the customType {LEAF_MARKER!r} is the engine's own")
    if kind == "custom":
        return draft
    content = draft.get("content")
    shown = content if isinstance(content, str) else read_content(content)
    if not isinstance(draft.get("display", True), bool):
        raise BadAnswer("display is true or false")
    return {"display": True, **draft, "content": shown}


def _edit(draft: JsonObject, log: SessionLog) -> JsonObject:
    target, replacement = draft.get("targetId"), draft.get("replacement")
    if "replacement" not in draft or not (replacement is None or isinstance(replacement, dict)):
        raise BadAnswer("replacement is null or {content}")
    if replacement is not None and replacement.keys() != {"content"}:
        raise BadAnswer("replacement is null or {content}")
    if replacement is not None and not isinstance(replacement["content"], str):
        read_content(replacement["content"])
    try:
        entry = log.store.get(target) if isinstance(target, str) else None
    except EntryNotFound:
        entry = None
    if entry is None or not log.store.is_on_branch(entry.id):
        raise BadAnswer(f"targetId {target!r} is no entry of the active branch")
    if not is_editable(entry):
        raise BadAnswer("only messages of the user, the model, tools and extensions can be edited")
    return draft


def own_compaction_fields(
    own: OwnCompaction,
    log: SessionLog,
    *,
    entry_id: str,
    tokens_before: int,
    timestamp: int,
    thinking_level: str,
    model: str | None,
) -> dict[str, Any]:
    """The fields of a compaction entry whose summary a hook gave. `tokens_before` is ours, where it named none."""
    fields: dict[str, Any] = {
        "summary": own.summary,
        "firstKeptEntryId": own.first_kept_entry_id or entry_id,
        "tokensBefore": tokens_before if own.tokens_before is None else own.tokens_before,
        "details": own.details or {},
        "fromHook": True,
    }
    system = replay_system(item.message for item in log.projection.messages)
    if system is not None:
        fields["systemMessage"] = system_message(system, timestamp=timestamp)
    tail: Sequence[JsonObject] | None = own.retained_tail
    if tail is not None:
        fields["retainedTail"] = [read_message(message) for message in tail]
    fields["thinkingLevel"] = thinking_level
    known = (("model", model), ("sessionName", log.store.session_name))
    return fields | {name: value for name, value in known if value is not None}
