"""The hooks by name, and their answers as values. Pure: a malformed answer is a BadAnswer that says what is wrong.

Events and answers are JSON objects, the same for an extension in Python and for a client over the wire.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from msgspec import Struct

from rpc_agent.conversation.json_values import JsonObject, as_text

HookName = Literal[
    "session_before_compact",
    "session_compact",
    "session_compact_failed",
    "session_before_tree",
    "session_tree",
    "context",
    "tool_call",
    "tool_result",
    "input",
    "turn_end",
    "agent_before_settle",
]
HOOK_NAMES: tuple[HookName, ...] = get_args(HookName)
DRAFT_KINDS = frozenset({"custom", "custom_message", "context_edit", "compaction"})
"""Entries that an extension may add; the others are the engine's to write."""


class BadAnswer(Exception):
    """A hook answered with something it cannot answer with; the message is for the author of the extension."""


class Cancel(Struct, frozen=True):
    """The act is not done."""


class OwnCompaction(Struct, frozen=True, kw_only=True):
    """A summary in place of the model's. `first_kept_entry_id` None keeps nothing older."""

    summary: str
    first_kept_entry_id: str | None
    tokens_before: int | None = None
    details: Any = None
    retained_tail: Sequence[JsonObject] | None = None


class TreeAnswer(Struct, frozen=True, kw_only=True):
    """What a hook decided about a navigation; a field that is None was left to the engine."""

    summary: str | None = None
    details: Any = None
    custom_instructions: str | None = None
    replace_instructions: bool | None = None
    label: str | None = None


class Block(Struct, frozen=True):
    """A tool call is not made; `reason` is told to the model."""

    reason: str


class InputAnswer(Struct, frozen=True, kw_only=True):
    """`handled`: the message is done with, no run begins. `text` None: unchanged."""

    text: str | None = None
    handled: bool = False


class Drafts(Struct, frozen=True, kw_only=True):
    """Entries to append, all or none. `go_on`: the run is to continue although it would stop."""

    entries: tuple[JsonObject, ...] = ()
    go_on: bool = False


def read_before_compact(answer: object) -> Cancel | OwnCompaction | None:
    """{cancel: true}, {compaction: {summary, firstKeptEntryId, tokensBefore?, details?, retainedTail?}} or nothing."""
    fields = _fields(answer, "cancel", "compaction")
    if fields is None:
        return None
    if fields.get("cancel") is True:
        return Cancel()
    raw = fields.get("compaction")
    if raw is None:
        return None
    if not isinstance(raw, Mapping) or not isinstance(raw.get("summary"), str) or not raw["summary"].strip():
        raise BadAnswer("compaction needs a summary that is a text")
    first_kept = raw.get("firstKeptEntryId")
    if first_kept is not None and not isinstance(first_kept, str):
        raise BadAnswer("compaction.firstKeptEntryId is an entry id or null")
    tail = raw.get("retainedTail")
    if tail is not None and not (isinstance(tail, list) and all(isinstance(message, dict) for message in tail)):
        raise BadAnswer("compaction.retainedTail is a list of messages")
    tokens = raw.get("tokensBefore")
    return OwnCompaction(
        summary=raw["summary"],
        first_kept_entry_id=first_kept,
        tokens_before=tokens if isinstance(tokens, int) and not isinstance(tokens, bool) else None,
        details=raw.get("details"),
        retained_tail=tail,
    )


def read_before_tree(answer: object) -> Cancel | TreeAnswer | None:
    """{cancel: true}, {summary: {summary, details?}, customInstructions?, replaceInstructions?, label?} or nothing."""
    fields = _fields(answer, "cancel", "summary", "customInstructions", "replaceInstructions", "label")
    if fields is None:
        return None
    if fields.get("cancel") is True:
        return Cancel()
    summary = fields.get("summary")
    if summary is not None and not (isinstance(summary, Mapping) and isinstance(summary.get("summary"), str)):
        raise BadAnswer("summary is an object with a text summary")
    replaces = fields.get("replaceInstructions")
    return TreeAnswer(
        summary=None if summary is None else summary["summary"],
        details=None if summary is None else summary.get("details"),
        custom_instructions=_text(fields, "customInstructions"),
        replace_instructions=replaces if isinstance(replaces, bool) else None,
        label=_text(fields, "label"),
    )


def read_context(answer: object) -> Sequence[JsonObject] | None:
    """{messages} or nothing."""
    fields = _fields(answer, "messages")
    messages = None if fields is None else fields.get("messages")
    if messages is None:
        return None
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise BadAnswer("messages is a list of messages")
    return messages


def read_tool_call(answer: object) -> Block | JsonObject | None:
    """{block: true, reason} or {args} or nothing."""
    fields = _fields(answer, "block", "reason", "args")
    if fields is None:
        return None
    if fields.get("block") is True:
        return Block(_text(fields, "reason") or "An extension blocked this call.")
    args = fields.get("args")
    if args is not None and not isinstance(args, dict):
        raise BadAnswer("args is an object")
    return args


def read_tool_result(answer: object) -> JsonObject | None:
    """{content, isError?, details?} in place of the result, or nothing."""
    fields = _fields(answer, "content", "isError", "details")
    if fields is None:
        return None
    if not isinstance(fields.get("content"), str | list):
        raise BadAnswer("content is a text or a list of blocks")
    return dict(fields)


def read_input(answer: object) -> InputAnswer | None:
    """{text} or {handled: true} or nothing."""
    fields = _fields(answer, "text", "handled")
    if fields is None:
        return None
    return InputAnswer(text=_text(fields, "text"), handled=fields.get("handled") is True)


def read_drafts(answer: object) -> Drafts | None:
    """{entries: [drafts], continue?} or nothing. A draft is an entry without id, parent and time."""
    fields = _fields(answer, "entries", "continue")
    if fields is None:
        return None
    entries = fields.get("entries") or []
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise BadAnswer("entries is a list of objects")
    for entry in entries:
        if as_text(entry.get("type")) not in DRAFT_KINDS:
            raise BadAnswer(
                f"an entry of type {entry.get('type')!r} cannot be added; {', '.join(sorted(DRAFT_KINDS))} can"
            )
    return Drafts(entries=tuple(entries), go_on=fields.get("continue") is True)


def _fields(answer: object, *known: str) -> Mapping[str, Any] | None:
    if answer is None:
        return None
    if not isinstance(answer, Mapping):
        raise BadAnswer("an answer is an object or null")
    unknown = sorted(str(name) for name in answer if name not in known)
    if unknown:
        raise BadAnswer(f"unknown: {', '.join(unknown)}; this hook answers with {', '.join(known)}")
    return answer


def _text(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise BadAnswer(f"{name} is a text")
    return value
