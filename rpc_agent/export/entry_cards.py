"""Entries of one branch -> cards, in order. Names every kind of entry; puts results to their calls."""

from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never

from msgspec import Struct

from rpc_agent.conversation.blocks import ToolCallBlock
from rpc_agent.conversation.json_values import as_object, as_text
from rpc_agent.conversation.messages import AssistantMessage, Message, tool_calls
from rpc_agent.export.cards import Card, Folded, Kind, Part, Places, Prose, Remark, Verbatim
from rpc_agent.export.message_parts import (
    answer_parts,
    command_parts,
    content_parts,
    counted,
    json_text,
    message_parts,
    result_fold,
    system_fold,
    usage_facts,
)
from rpc_agent.session.entries import (
    LEAF_MARKER,
    BranchSummaryEntry,
    CompactionEntry,
    ContextEditEntry,
    CustomEntry,
    CustomMessageEntry,
    Entry,
    LabelEntry,
    MessageEntry,
    ModelChangeEntry,
    SessionInfoEntry,
    ThinkingLevelChangeEntry,
    UnknownEntry,
    UsageEntry,
)

_UNFOLDED_LINES = 3
_LINE = 100
# A summary that takes no more room than its fold would is shown at once.

_Results = Mapping[tuple[str, int], MessageEntry]
"""By the entry of an answer and the place of a call among its calls."""


def branch_cards(entries: Sequence[Entry], places: Places) -> Iterator[Card]:
    """The cards of a root-to-leaf run of entries. A paired result has no card of its own."""
    results = _pair(entries)
    paired = {entry.id for entry in results.values()}
    for entry in entries:
        if entry.id not in paired:
            yield _card(entry, places, results)


def is_trace(entry: Entry) -> bool:
    """Whether an entry only says where the session went on: nothing in it is worth a branch in an outline."""
    return isinstance(entry, CustomEntry) and entry.custom_type == LEAF_MARKER


def is_landmark(entry: Entry) -> bool:
    """Whether a person looking for a place in the session would look for this entry."""
    match entry:
        case MessageEntry(message=message):
            return message["role"] in ("user", "bashExecution", "branchSummary", "compactionSummary")
        case CustomMessageEntry(message=message):
            return message.get("display") is True
        case CompactionEntry() | BranchSummaryEntry():
            return True
        case _:
            return False


def _pair(entries: Sequence[Entry]) -> _Results:
    """Results that follow the answer that asked for them; an id used twice goes to the first call without a result."""
    found: dict[tuple[str, int], MessageEntry] = {}
    asked: dict[str, list[tuple[str, int]]] = {}
    for entry in entries:
        if not isinstance(entry, MessageEntry):
            continue
        message = entry.message
        if message["role"] == "assistant":
            asked = {}
            for place, call in enumerate(tool_calls(message)):
                asked.setdefault(call["id"], []).append((entry.id, place))
        elif message["role"] == "toolResult" and asked.get(message["toolCallId"]):
            found[asked[message["toolCallId"]].pop(0)] = entry
    return found


class _Outcomes(Struct):
    """The results of one answer's calls, asked for in the order of the calls."""

    entry_id: str
    results: _Results
    places: Places
    next_call: int = 0

    def __call__(self, call: ToolCallBlock) -> Folded | None:
        result = self.results.get((self.entry_id, self.next_call))
        self.next_call += 1
        if result is None or result.message["role"] != "toolResult":
            return None
        number, label = self.places.numbers[result.id], self.places.labels.get(result.id)
        return result_fold(result.message, number=number, label=label, title="Result")


def _card(entry: Entry, places: Places, results: _Results) -> Card:
    match entry:
        case MessageEntry(message=message):
            return _message_card(entry, message, places, results)
        case CustomMessageEntry(message=message):
            shown = message_parts(message)
            hidden = message.get("display") is not True
            parts = (Folded("Not shown in the conversation", "", shown, tone="dim"),) if hidden else shown
            return _make(entry, places, "custom", entry.custom_type or "Extension", parts)
        case CompactionEntry():
            return _make(entry, places, "summary", "Compaction", _compaction_parts(entry, places), _paid(entry))
        case BranchSummaryEntry():
            origin = _reference("It sums up the branch that ended here", entry.from_id, places)
            parts = _summary_parts(entry.summary, from_hook=entry.from_hook)
            return _make(entry, places, "summary", "Summary of another branch", (*parts, origin), _paid(entry))
        case CustomEntry():
            return _custom_card(entry, places)
        case UnknownEntry():
            what = f"An entry of an unknown kind: {as_text(entry.raw.get('type')) or 'without a name'}"
            return _make(entry, places, "note", what, (Folded("Its record", "", (Verbatim(json_text(entry.raw)),)),))
        case _:
            return _make(entry, places, "note", *_note(entry, places))


def _message_card(entry: MessageEntry, message: Message, places: Places, results: _Results) -> Card:
    match message["role"]:
        case "user":
            return _make(entry, places, "user", "User", content_parts(message["content"]))
        case "assistant":
            outcomes = _Outcomes(entry.id, results, places)
            return _make(entry, places, "assistant", "Assistant", answer_parts(message, outcomes), _answered(message))
        case "toolResult":
            fold = result_fold(message, number=places.numbers[entry.id], label=None, title=message["toolName"])
            return _make(entry, places, "tool", "Tool result", (*fold.parts,), (fold.title, fold.hint))
        case "bashExecution":
            return _make(entry, places, "bash", "Command", command_parts(message))
        case "system":
            return _make(entry, places, "system", "System", (system_fold(message, "System prompt"),))
        case "custom":
            title = as_text(message.get("customType")) or "Extension"
            return _make(entry, places, "custom", title, content_parts(message["content"]))
        case "branchSummary" | "compactionSummary":
            return _make(entry, places, "summary", "Summary", _summary_parts(message["summary"], from_hook=False))


def _note(entry: "_Small", places: Places) -> tuple[str, tuple[Part, ...]]:
    """Title and parts of an entry that is said in a line."""
    match entry:
        case ModelChangeEntry():
            return f"Model: {entry.provider}/{entry.model_id}", ()
        case ThinkingLevelChangeEntry():
            return f"Thinking: {entry.thinking_level}", ()
        case UsageEntry():
            return f"Paid call: {entry.kind or 'unnamed'}", tuple(map(Remark, usage_facts(entry.usage)))
        case LabelEntry():
            said = f"Label: {entry.label}" if entry.label else "Label removed"
            return said, (_reference("It marks this entry", entry.target_id, places),)
        case SessionInfoEntry():
            return (f"Session name: {entry.name}" if entry.name else "Session name removed"), ()
        case ContextEditEntry():
            return _edit(entry, places)
        case _:
            assert_never(entry)


_Small = ModelChangeEntry | ThinkingLevelChangeEntry | UsageEntry | LabelEntry | SessionInfoEntry | ContextEditEntry


def _edit(entry: ContextEditEntry, places: Places) -> tuple[str, tuple[Part, ...]]:
    target = _reference("It changes this entry", entry.target_id, places)
    if entry.replacement is None:
        return "Left out of the context", (target,)
    content = entry.replacement.get("content")
    text = content if isinstance(content, str) else json_text(content)
    return "Replaced in the context", (target, Folded("What stands there now", "", (Prose(text),)))


def _custom_card(entry: CustomEntry, places: Places) -> Card:
    if is_trace(entry):
        return _make(entry, places, "note", "The session went on from here", ())
    data = () if entry.data is None else (Folded("Data", "", (Verbatim(json_text(entry.data)),), tone="dim"),)
    return _make(entry, places, "note", f"Extension data: {entry.custom_type or 'unnamed'}", data)


def _compaction_parts(entry: CompactionEntry, places: Places) -> tuple[Part, ...]:
    before = f"{counted(entry.tokens_before, 'token')} of context were replaced by a summary."
    kept = _reference("What was kept begins at", entry.first_kept_entry_id, places)
    if entry.first_kept_entry_id in ("", entry.id):
        kept = Remark("Nothing before it was kept.")
    parts: list[Part] = [Remark(before), *_summary_parts(entry.summary, from_hook=entry.from_hook), kept]
    if entry.system_message is not None and entry.system_message["role"] == "system":
        parts.append(system_fold(entry.system_message, "System prompt at the time"))
    if entry.retained_tail:
        inside = [
            part for message in entry.retained_tail for part in (Remark(message["role"]), *message_parts(message))
        ]
        parts.append(Folded("Messages it kept", counted(len(entry.retained_tail), "message"), tuple(inside)))
    return tuple(parts)


def _summary_parts(text: str, *, from_hook: bool) -> tuple[Part, ...]:
    writer = (Remark("An extension wrote the summary."),) if from_hook else ()
    if not text:
        return (Remark("It is empty."), *writer)
    lines = text.count("\n") + 1
    is_short = lines <= _UNFOLDED_LINES and len(text) <= _UNFOLDED_LINES * _LINE
    return (Prose(text) if is_short else Folded("Summary", counted(lines, "line"), (Prose(text),)), *writer)


def _reference(text: str, target_id: str, places: Places) -> Remark:
    number = places.numbers.get(target_id)
    return Remark(text if number is not None else f"{text}: {target_id or 'none'} (not in this session)", target=number)


def _answered(message: AssistantMessage) -> tuple[str, ...]:
    who = (f"{message['provider']}/{message['model']}",) if message["model"] else ()
    return (*who, *usage_facts(message["usage"]))


def _paid(entry: Entry) -> tuple[str, ...]:
    return usage_facts(as_object(entry.raw.get("usage")))


def _make(
    entry: Entry, places: Places, kind: Kind, title: str, parts: tuple[Part, ...], facts: tuple[str, ...] = ()
) -> Card:
    return Card(
        number=places.numbers[entry.id],
        kind=kind,
        title=title,
        timestamp=entry.timestamp,
        facts=tuple(fact for fact in facts if fact),
        label=places.labels.get(entry.id),
        parts=parts,
    )
