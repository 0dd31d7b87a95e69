"""Older versions of the session format -> the current one. Pure: ids for entries that had none are given in.

Version 1 was a plain list. Version 2 made it a tree. Version 3 renamed a message role.
"""

import math
from collections.abc import Callable

from rpc_agent.conversation.json_values import JsonObject, as_count
from rpc_agent.session.entries import SESSION_VERSION

_MOST_DIGITS = 18
"""Python reads no number of thousands of digits, and such a one says nothing."""


def version_of(header: JsonObject) -> int:
    """The format version a header states; a header of the first version stated none.

    3.0 and "3" are 3, as writers in other languages have it, and 3.5 is later than 3. What says nothing at all counts
    as the current version: a migration rewrites the file, and must never be begun on a guess.
    """
    match header.get("version"):
        case None | bool():
            return 1
        case int() | float() as version:
            return max(1, math.ceil(version))
        case str() as text if text.isdecimal() and len(text) <= _MOST_DIGITS:
            return max(1, int(text))
        case _:
            return SESSION_VERSION


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
    new_ids = iter(_distinct_ids(len(records), draw_id))
    # A second header further down keeps its index and its place, and is no link of the chain.
    ids = [None if raw.get("type") == "session" else next(new_ids) for raw in records]
    parent_id: str | None = None
    entries: list[JsonObject] = []
    for raw, entry_id in zip(records[1:], ids[1:], strict=True):
        if entry_id is None:
            entries.append(raw)
            continue
        entries.append({"type": raw.get("type"), "id": entry_id, "parentId": parent_id, **_without_old_links(raw)})
        parent_id = entry_id
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
    """The id of a record by its index in the file, where the header has index 0 and no id."""
    at = as_count(index)
    return ids[at] if at < len(ids) else None


def _rename_hook_message(raw: JsonObject) -> JsonObject:
    message = raw.get("message")
    if not isinstance(message, dict) or message.get("role") != "hookMessage":
        return raw
    return {**raw, "message": {**message, "role": "custom"}}
