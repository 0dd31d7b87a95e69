"""What there is to remember of a range: everything, whether there is room for it or not. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

from msgspec.structs import replace

from rpc_agent.compaction.file_operations import FileOperations
from rpc_agent.compaction.ledger import Action, Ledger, Outcome, UserWords
from rpc_agent.compaction.sifted import Sifted
from rpc_agent.context.js_json import compact_json
from rpc_agent.context.projection import ProjectedMessage
from rpc_agent.conversation.blocks import blocks_text
from rpc_agent.conversation.messages import AssistantMessage, BashExecutionMessage, Message, tool_calls
from rpc_agent.session.entries import CompactionEntry

_TARGET_CHARACTERS = 160
"""Enough of a command line to know which it was."""


def ledger_material(summarized: Sifted, kept: Iterable[Message], previous: Ledger, files: FileOperations) -> Ledger:
    """All there is to remember: what the last ledger carried, then what the range adds."""
    words = _words(previous.words, summarized.users)
    has_newer = any(message["role"] == "user" for message in kept)
    return Ledger(
        words=words,
        words_left_out=previous.words_left_out,
        current_id=None if has_newer or not words else words[-1].entry_id,
        actions=tuple(_merged([*previous.actions, *_actions(summarized)])),
        actions_left_out=previous.actions_left_out,
        files=files,
    )


class _Words(Sequence[UserWords]):
    """What was carried, then words of the range that are put down when somebody looks: few of them will be told."""

    __slots__ = ("_carried", "_made", "_said")
    __hash__ = None  # type: ignore[assignment]  # Equal to tuples of the same words, however they came about.

    def __init__(self, carried: Sequence[UserWords], said: Sequence[ProjectedMessage]) -> None:
        self._carried = carried
        self._said = said
        self._made: dict[int, UserWords] = {}

    def __len__(self) -> int:
        return len(self._carried) + len(self._said)

    @overload
    def __getitem__(self, index: int) -> UserWords: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[UserWords]: ...
    def __getitem__(self, index: int | slice) -> UserWords | Sequence[UserWords]:
        if isinstance(index, slice):
            return tuple([self[at] for at in range(*index.indices(len(self)))])
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(index)
        if at < len(self._carried):
            return self._carried[at]
        if at not in self._made:
            self._made[at] = _user_words(self._said[at - len(self._carried)])
        return self._made[at]

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, tuple | _Words) else NotImplemented


def _words(carried: Sequence[UserWords], said: Sequence[ProjectedMessage]) -> _Words:
    """A message may be carried and lie in the range once more, after a navigation: it is there once, where it was
    first. Two messages of one entry, as the tail of a compaction has them, may say the same."""
    ids = {each.entry_id for each in carried}
    repeats = [at for at, each in enumerate(said) if each.entry.id in ids or isinstance(each.entry, CompactionEntry)]
    until = repeats[-1] + 1 if repeats else 0
    known = [*carried, *map(_user_words, said[:until])]
    return _Words(tuple({(each.entry_id, each.text): each for each in known}.values()), said[until:])


def _user_words(item: ProjectedMessage) -> UserWords:
    message = item.message
    text = blocks_text(message["content"]) if message["role"] == "user" else ""
    return UserWords(entry_id=item.entry.id, text=text or "(no text, only images)")


def _actions(summarized: Sifted) -> Iterator[Action]:
    outcomes = {
        message["toolCallId"]: message["isError"]
        for item in summarized.results
        if (message := item.message)["role"] == "toolResult"
    }
    for item in summarized.deeds:
        message = item.message
        if message["role"] == "assistant":
            yield from _calls_of(item.entry.id, message, outcomes)
        elif message["role"] == "bashExecution" and message.get("excludeFromContext") is not True:
            yield _command_of(item.entry.id, message)


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
        known[key] = each if before is None else replace(each, times=each.times + before.times)
    return list(known.values())
