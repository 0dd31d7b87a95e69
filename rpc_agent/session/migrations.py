"""Older versions of the session format -> the current one. Pure: ids for entries that had none are given in.

Version 1 was a plain list. Version 2 made it a tree. Version 3 renamed a message role.
"""

from collections.abc import Callable

from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.session.entries import SESSION_VERSION


def version_of(header: JsonObject) -> int:
    """The format version a header states; a header of the first version stated none."""
    version = header.get("version")
    return version if isinstance(version, int) and not isinstance(version, bool) and version > 0 else 1


def migrate(records: list[JsonObject], *, draw_id: Callable[[], str]) -> list[JsonObject]:
    """All records of a file, header first, in the current version. The records given in are not changed.

    Records of the current or a later version come back as they are.
    """
    version = version_of(records[0])
    if version >= SESSION_VERSION:
        return records
    if version < 2:
        records = _list_to_tree(records, draw_id)
    records = [records[0], *map(_rename_hook_message, records[1:])]
    return [{**records[0], "version": SESSION_VERSION}, *records[1:]]


def _list_to_tree(records: list[JsonObject], draw_id: Callable[[], str]) -> list[JsonObject]:
    ids: list[str | None] = [None, *_distinct_ids(len(records) - 1, draw_id)]
    entries = [
        {"type": raw.get("type"), "id": ids[at], "parentId": ids[at - 1], **_without_old_links(raw)}
        for at, raw in enumerate(records)
        if at > 0
    ]
    for entry in entries:
        if entry["type"] == "compaction" and "firstKeptEntryIndex" in entry:
            # Retaining nothing is the reading of a boundary that points nowhere, as everywhere else.
            entry["firstKeptEntryId"] = _id_at(ids, entry.pop("firstKeptEntryIndex")) or entry["id"]
    return [records[0], *entries]


def _distinct_ids(count: int, draw_id: Callable[[], str]) -> list[str]:
    ids: dict[str, None] = {}
    while len(ids) < count:
        ids[draw_id()] = None
    return list(ids)


def _without_old_links(raw: JsonObject) -> JsonObject:
    return {key: value for key, value in raw.items() if key not in ("type", "id", "parentId")}


def _id_at(ids: list[str | None], index: object) -> str | None:
    """The id of a record by its index in the file, where the header has index 0."""
    return ids[index] if isinstance(index, int) and 0 <= index < len(ids) else None


def _rename_hook_message(raw: JsonObject) -> JsonObject:
    message = raw.get("message")
    if not isinstance(message, dict) or message.get("role") != "hookMessage":
        return raw
    return {**raw, "message": {**message, "role": "custom"}}
