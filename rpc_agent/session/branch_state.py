"""What a branch says about its settings: the model, the thinking level, the session's name. Reads a path; pure."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from rpc_agent.conversation.json_values import as_text
from rpc_agent.session.entries import (
    CompactionEntry,
    Entry,
    MessageEntry,
    ModelChangeEntry,
    SessionInfoEntry,
    ThinkingLevelChangeEntry,
)


class BranchState(Struct, frozen=True):
    """`provider`, `model_id` and `thinking_level` are None where no entry names one."""

    provider: str | None = None
    model_id: str | None = None
    thinking_level: str | None = None
    session_name: str | None = None


def branch_state(path: Sequence[Entry]) -> BranchState:
    """The settings in force at the end of `path`."""
    state = BranchState()
    for entry in path:
        state = _follow(state, entry)
    return state


def _follow(state: BranchState, entry: Entry) -> BranchState:
    match entry:
        case ModelChangeEntry():
            return replace(state, provider=entry.provider, model_id=entry.model_id)
        case ThinkingLevelChangeEntry():
            return replace(state, thinking_level=entry.thinking_level)
        case SessionInfoEntry():
            return replace(state, session_name=entry.name)
        case MessageEntry(message={"role": "assistant", "provider": str(provider), "model": str(model_id)}) if model_id:
            return replace(state, provider=provider, model_id=model_id)
        case CompactionEntry():
            return _after_compaction(state, entry)
        case _:
            return state


def _after_compaction(state: BranchState, entry: CompactionEntry) -> BranchState:
    """Our compaction entries carry the settings, so that the file's tail is enough to know them."""
    raw = entry.raw
    provider, slash, model_id = as_text(raw.get("model")).partition("/")
    if slash:
        state = replace(state, provider=provider, model_id=model_id)
    if isinstance(raw.get("thinkingLevel"), str):
        state = replace(state, thinking_level=raw["thinkingLevel"])
    if isinstance(raw.get("sessionName"), str):
        state = replace(state, session_name=raw["sessionName"] or None)
    return state
