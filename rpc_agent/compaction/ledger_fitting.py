"""Fits a ledger into a number of tokens: the newest words whole, then one cut in the middle, then only counted."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from msgspec.structs import replace

from rpc_agent.compaction.file_operations import FileOperations
from rpc_agent.compaction.ledger import Action, Ledger, UserWords, all_paths
from rpc_agent.compaction.middle import Weigh, without_middle

T = TypeVar("T")

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
        files_left_out=len(all_paths(material.files)) - len(all_paths(files)),
    )


def action_line(action: Action) -> str:
    times = f" ({action.times} times)" if action.times > 1 else ""
    return f"- {action.tool} {action.target}: {action.outcome}{times} #{action.entry_id}"


def _side_tokens(material: Ledger, most: int, weigh: Weigh) -> int:
    """What actions and files would take, up to `most`."""
    used = 0
    for line in (*all_paths(material.files), *map(action_line, reversed(material.actions))):
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
