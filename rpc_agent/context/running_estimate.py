"""The size of a context that grows, in tokens: what `tokens.estimate_projected` says, at the cost of what is new."""

from collections.abc import Sequence

from msgspec import Struct

from rpc_agent.context.growing import Fold
from rpc_agent.context.projection import ProjectedMessage, Projection
from rpc_agent.context.system_state import SystemState, patched, system_message
from rpc_agent.context.tokens import ContextEstimate, ContextWeight, Estimate, has_usage
from rpc_agent.conversation.messages import Message
from rpc_agent.conversation.usage import total_tokens
from rpc_agent.session.entries import CompactionEntry, ContextEditEntry, Entry, MessageEntry


class _Messages(Struct, frozen=True):
    """What the messages add up to. `anchor`: the index of the last one that tells a usage."""

    count: int = 0
    spoken: int = 0
    anchor: int | None = None
    anchor_entry: Entry | None = None
    used: int = 0
    trailing: int = 0
    system: SystemState | None = None


class _Path(Struct, frozen=True):
    """`reporting`: the newest entry with a usage since the last compaction or edit."""

    reporting: Entry | None = None
    awaits_usage: bool = False


class RunningEstimate:
    """Follows one session. `estimate` is asked about each message once, and about each system state once."""

    def __init__(self, estimate: Estimate) -> None:
        self._estimate = estimate
        self._messages = Fold(_Messages(), self._with_message)
        self._path = Fold(_Path(), _with_entry)
        self._weighed: tuple[SystemState, int] | None = None

    def system(self, projection: Projection) -> SystemState | None:
        """The state that all system messages add up to; None when there is none."""
        return self._messages.of(projection.messages).system

    def system_tokens(self, projection: Projection) -> int:
        state = self.system(projection)
        if state is None:
            return 0
        if self._weighed is None or self._weighed[0] is not state:
            self._weighed = (state, self._estimate(system_message(state, timestamp=0)))
        return self._weighed[1]

    def projected(self, path: Sequence[Entry], projection: Projection) -> ContextEstimate:
        """The same as `estimate_projected`."""
        found, reporting = self._messages.of(projection.messages), self._path.of(path).reporting
        # A usage counts when its entry came after the last edit. The newest such entry of the path may itself be left
        # out of the context, but only by an edit, and that would have come after it.
        if found.anchor is not None and found.anchor_entry is reporting:
            return ContextEstimate(found.used + found.trailing, found.used, found.trailing, found.anchor)
        tokens = found.spoken + self.system_tokens(projection)
        return ContextEstimate(tokens, 0, tokens, None)

    def weight(self, projection: Projection) -> ContextWeight:
        """The same as `weigh_context`."""
        spoken = self._messages.of(projection.messages).spoken
        return ContextWeight(self.system(projection), spoken, self.system_tokens(projection))

    def awaits_usage(self, path: Sequence[Entry]) -> bool:
        """Whether nobody knows the size: from a compaction until the next usage. As `context_usage_tokens` has it."""
        return self._path.of(path).awaits_usage

    def _with_message(self, before: _Messages, item: ProjectedMessage) -> _Messages:
        message = item.message
        tokens = self._estimate(message)
        spoken, trailing, system = before.spoken, before.trailing + tokens, before.system
        if message["role"] == "system":
            system = patched(system or SystemState(), message)
        else:
            spoken += tokens
        if has_usage(message):
            return _Messages(before.count + 1, spoken, before.count, item.entry, _usage(message), 0, system)
        # In full: `replace` takes longer than all the rest, and a session may begin with ten thousand messages.
        return _Messages(before.count + 1, spoken, before.anchor, before.anchor_entry, before.used, trailing, system)


def _with_entry(before: _Path, entry: Entry) -> _Path:
    match entry:
        case CompactionEntry():
            return _Path(None, awaits_usage=True)
        case ContextEditEntry():
            return _Path(None, before.awaits_usage)
        case MessageEntry() if has_usage(entry.message):
            return _Path(entry, awaits_usage=False)
        case _:
            return before


def _usage(message: Message) -> int:
    return total_tokens(message["usage"]) if message["role"] == "assistant" else 0
