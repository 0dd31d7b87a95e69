"""A ledger as the details of a compaction entry keep it, and back. Of foreign shapes whatever can be read."""

from collections.abc import Mapping
from typing import Any, cast

from rpc_agent.compaction.ledger import Action, Ledger, Outcome, UserWords
from rpc_agent.conversation.json_values import JsonObject, as_count, as_object, as_text


def ledger_json(ledger: Ledger) -> JsonObject:
    """As details.ledger of the compaction entry."""
    return {
        "userMessages": [_words_json(each, is_current=ledger.is_current(each)) for each in ledger.words],
        "userMessagesLeftOut": ledger.words_left_out,
        "actions": [
            {"entryId": each.entry_id, "tool": each.tool, "target": each.target, "outcome": each.outcome}
            | ({"times": each.times} if each.times > 1 else {})
            for each in ledger.actions
        ],
        "actionsLeftOut": ledger.actions_left_out,
        "files": {"read": ledger.files.read_files, "modified": ledger.files.modified_files},
        "filesLeftOut": ledger.files_left_out,
    }


def recorded_ledger(details: Mapping[str, Any]) -> Ledger:
    """What an earlier compaction of ours carried; of foreign shapes whatever can be read, or nothing."""
    stored = as_object(details.get("ledger"))
    words = [as_object(each) for each in _list(stored.get("userMessages"))]
    actions = [as_object(each) for each in _list(stored.get("actions"))]
    return Ledger(
        words=tuple(
            UserWords(entry_id=as_text(each.get("entryId")), text=each["text"], cut=each.get("cut") is True)
            for each in words
            if isinstance(each.get("text"), str)
        ),
        words_left_out=as_count(stored.get("userMessagesLeftOut")),
        actions=tuple(_read_action(each) for each in actions if as_text(each.get("tool"))),
        actions_left_out=as_count(stored.get("actionsLeftOut")),
    )


def _words_json(words: UserWords, *, is_current: bool) -> JsonObject:
    marks = {"cut": words.cut, "current": is_current}
    return {"entryId": words.entry_id, "text": words.text} | {name: True for name, on in marks.items() if on}


def _read_action(stored: Mapping[str, Any]) -> Action:
    outcome = stored.get("outcome")
    return Action(
        entry_id=as_text(stored.get("entryId")),
        tool=as_text(stored.get("tool")),
        target=as_text(stored.get("target")),
        outcome=cast(Outcome, outcome) if outcome in ("ok", "error") else "unknown",
        times=max(as_count(stored.get("times")), 1),
    )


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
