"""What a compaction may not forget: the user's words, what was done, which files. From the tree; no model writes here.

The material of a range is fitted into a number of tokens here; `ledger_text` says it in words.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar, cast

from rpc_agent.compaction.file_operations import FileOperations
from rpc_agent.compaction.middle import Weigh, without_middle
from rpc_agent.context.js_json import compact_json
from rpc_agent.context.projection import ProjectedMessage
from rpc_agent.conversation.blocks import blocks_text
from rpc_agent.conversation.json_values import JsonObject, as_count, as_object, as_text
from rpc_agent.conversation.messages import AssistantMessage, BashExecutionMessage, Message, tool_calls

T = TypeVar("T")

Outcome = Literal["ok", "error", "unknown"]

_MOST_TOKENS = 5_000
"""A page of the user's own words; more would take the place of work."""
_WINDOW_SHARE = 8
"""In a small window even the ledger is small."""
_FREED_SHARE = 2
"""A compaction that gives half of what it frees to its ledger still frees half."""
_SIDE_SHARE = 4
"""Actions and files have a quarter of the room for certain; the words of the user have what they need of the rest."""
_FRAME_TOKENS = 60
"""Fence lines and the sentence at the top. Headings and counts are for whoever tells it to allow for."""
_LEAST_CUT = 24
"""What is left of a message below so many tokens says nothing."""
_TARGET_CHARACTERS = 160
"""Enough of a command line to know which it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserWords:
    """One message of the user, verbatim unless `cut`."""

    entry_id: str
    text: str
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A tool call that was made, `times` times with the same outcome; the entry is that of the last one."""

    entry_id: str
    tool: str
    target: str
    """The path or command, else the arguments; in one line."""
    outcome: Outcome
    times: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """Lists are oldest first. As material it holds everything; fitted, what there is room for, and the counts."""

    words: tuple[UserWords, ...] = ()
    words_left_out: int = 0
    current_id: str | None = None
    """The session's latest user message, when it is the last of these."""
    actions: tuple[Action, ...] = ()
    actions_left_out: int = 0
    files: FileOperations = field(default_factory=FileOperations)
    files_left_out: int = 0

    def is_current(self, words: UserWords) -> bool:
        return self.current_id is not None and words is self.words[-1]

    @property
    def is_empty(self) -> bool:
        """Counts alone are not worth telling."""
        return not (self.words or self.actions or _paths(self.files))


def ledger_material(
    summarized: Sequence[ProjectedMessage],
    kept: Iterable[Message],
    previous: Ledger,
    files: FileOperations,
) -> Ledger:
    """All there is to remember: what the last ledger carried, then what the range adds."""
    words = _without_repeats([*previous.words, *_words(summarized)])
    has_newer = any(message["role"] == "user" for message in kept)
    return Ledger(
        words=tuple(words),
        words_left_out=previous.words_left_out,
        current_id=None if has_newer or not words else words[-1].entry_id,
        actions=tuple(_merged([*previous.actions, *_actions(summarized)])),
        actions_left_out=previous.actions_left_out,
        files=files,
    )


def ledger_budget(window: int, freed_tokens: int) -> int:
    """Tokens a ledger may take, fence and all. `window` 0: unknown; `freed_tokens`: what leaves the context."""
    bounds = [_MOST_TOKENS, freed_tokens // _FREED_SHARE]
    if window > 0:
        bounds.append(window // _WINDOW_SHARE)
    return min(bounds)


def fitted(material: Ledger, budget: int, weigh: Weigh) -> Ledger:
    """The newest of the material that fits: messages whole, then cut in the middle, then only counted."""
    room = max(budget - _FRAME_TOKENS, 0)
    side = _side_tokens(material, room // _SIDE_SHARE, weigh)
    words, used = _fitted_words(material.words, room - side, weigh)
    room -= used
    files, used = _fitted_files(material.files, room // 2, weigh)
    actions, _ = _newest(material.actions, room - used, lambda action: weigh(action_line(action)) + 1)
    return replace(
        material,
        words=words,
        words_left_out=material.words_left_out + len(material.words) - len(words),
        current_id=material.current_id if words else None,
        actions=actions,
        actions_left_out=material.actions_left_out + _calls(material.actions) - _calls(actions),
        files=files,
        files_left_out=len(_paths(material.files)) - len(_paths(files)),
    )


def action_line(action: Action) -> str:
    times = f" ({action.times} times)" if action.times > 1 else ""
    return f"- {action.tool} {action.target}: {action.outcome}{times} #{action.entry_id}"


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


# The range.


def _words(summarized: Iterable[ProjectedMessage]) -> Iterator[UserWords]:
    for item in summarized:
        if item.message["role"] == "user":
            text = blocks_text(item.message["content"])
            yield UserWords(entry_id=item.entry.id, text=text or "(no text, only images)")


def _without_repeats(words: Iterable[UserWords]) -> list[UserWords]:
    """A message may be carried and lie in the range once more, after a navigation."""
    return list({(each.entry_id, each.text): each for each in words}.values())


def _actions(summarized: Sequence[ProjectedMessage]) -> Iterator[Action]:
    outcomes = {
        item.message["toolCallId"]: item.message["isError"]
        for item in summarized
        if item.message["role"] == "toolResult"
    }
    for item in summarized:
        if item.message["role"] == "assistant":
            yield from _calls_of(item.entry.id, item.message, outcomes)
        elif item.message["role"] == "bashExecution" and item.message.get("excludeFromContext") is not True:
            yield _command_of(item.entry.id, item.message)


def _calls_of(entry_id: str, message: AssistantMessage, outcomes: Mapping[str, bool]) -> Iterator[Action]:
    for call in tool_calls(message):
        failed = outcomes.get(call["id"])
        outcome: Outcome = "unknown" if failed is None else "error" if failed else "ok"
        yield Action(entry_id=entry_id, tool=call["name"], target=_target(call["arguments"]), outcome=outcome)


def _command_of(entry_id: str, message: BashExecutionMessage) -> Action:
    outcome: Outcome = "unknown" if message["cancelled"] else "error" if message["exitCode"] else "ok"
    return Action(entry_id=entry_id, tool="bash by the user", target=_one_line(message["command"]), outcome=outcome)


def _target(arguments: Mapping[str, Any]) -> str:
    for name in ("path", "command"):
        if isinstance(arguments.get(name), str) and arguments[name]:
            return _one_line(arguments[name])
    return _one_line(compact_json(arguments))


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _TARGET_CHARACTERS else f"{line[:_TARGET_CHARACTERS]}..."


def _merged(actions: Iterable[Action]) -> list[Action]:
    """The same call with the same outcome is one line, where it was made last."""
    known: dict[tuple[str, str, str], Action] = {}
    for each in actions:
        key = (each.tool, each.target, each.outcome)
        before = known.pop(key, None)
        known[key] = replace(each, times=each.times + (before.times if before else 0))
    return list(known.values())


# Fitting.


def _side_tokens(material: Ledger, most: int, weigh: Weigh) -> int:
    """What actions and files would take, up to `most`."""
    used = 0
    for line in (*_paths(material.files), *map(action_line, reversed(material.actions))):
        used += weigh(line) + 1
        if used >= most:
            return most
    return used


def _fitted_words(words: Sequence[UserWords], room: int, weigh: Weigh) -> tuple[tuple[UserWords, ...], int]:
    chosen: list[UserWords] = []
    used = 0
    for at in range(len(words) - 1, -1, -1):
        each = words[at]
        heading = weigh(words_heading(each, is_current=True)) + 2
        left = room - used - heading
        if left < 1:
            break
        size = weigh(each.text)
        if size > left:
            # Half of the room at most, so that one long message does not push out all before it.
            text = without_middle(each.text, left if at == 0 else left // 2, weigh, hint=_hint(each.entry_id))
            size = weigh(text)
            if size < _LEAST_CUT:
                break
            each = replace(each, text=text, cut=True)
        chosen.append(each)
        used += size + heading
    return tuple(reversed(chosen)), used


def words_heading(words: UserWords, *, is_current: bool) -> str:
    return f"#{words.entry_id}{' (the current request)' if is_current else ''}"


def _hint(entry_id: str) -> str:
    return f"; history with entryId {entry_id} has them"


def _fitted_files(files: FileOperations, room: int, weigh: Weigh) -> tuple[FileOperations, int]:
    """Changed files first: what was only read can be read again."""
    size = lambda path: weigh(path) + 1  # noqa: E731
    modified, used = _newest(files.modified_files, room, size)
    read, more = _newest(files.read_files, room - used, size)
    return FileOperations(read=frozenset(read), edited=frozenset(modified)), used + more


def _newest(items: Sequence[T], room: int, size: Callable[[T], int]) -> tuple[tuple[T, ...], int]:
    used, at = 0, len(items)
    while at > 0 and used + size(items[at - 1]) <= room:
        at -= 1
        used += size(items[at])
    return tuple(items[at:]), used


def _calls(actions: Iterable[Action]) -> int:
    return sum(each.times for each in actions)


def _paths(files: FileOperations) -> list[str]:
    return files.modified_files + files.read_files


# JSON.


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
