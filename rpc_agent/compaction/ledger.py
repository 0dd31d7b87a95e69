"""What a compaction may not forget: the user's words, what was done, which files. From the tree; no model writes here.

This is the material of a range; `ledger_fitting` makes room for it, `ledger_text` says it in words, and
`ledger_record` keeps it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from rpc_agent.compaction.file_operations import FileOperations
from rpc_agent.context.js_json import compact_json
from rpc_agent.context.projection import ProjectedMessage
from rpc_agent.conversation.blocks import blocks_text
from rpc_agent.conversation.messages import AssistantMessage, BashExecutionMessage, Message, tool_calls

Outcome = Literal["ok", "error", "unknown"]

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
        return not (self.words or self.actions or all_paths(self.files))


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


def _words(summarized: Iterable[ProjectedMessage]) -> Iterator[UserWords]:
    for entry, message in summarized:
        if message["role"] == "user":
            yield UserWords(entry_id=entry.id, text=blocks_text(message["content"]) or "(no text, only images)")


def _without_repeats(words: Iterable[UserWords]) -> list[UserWords]:
    """A message may be carried and lie in the range once more, after a navigation."""
    return list({(each.entry_id, each.text): each for each in words}.values())


def _actions(summarized: Sequence[ProjectedMessage]) -> Iterator[Action]:
    outcomes = {
        message["toolCallId"]: message["isError"] for _, message in summarized if message["role"] == "toolResult"
    }
    for entry, message in summarized:
        if message["role"] == "assistant":
            yield from _calls_of(entry.id, message, outcomes)
        elif message["role"] == "bashExecution" and message.get("excludeFromContext") is not True:
            yield _command_of(entry.id, message)


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


def all_paths(files: FileOperations) -> list[str]:
    return files.modified_files + files.read_files
