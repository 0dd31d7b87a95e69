"""What a whole session consisted of and cost, summed over all branches. Adds what was reported, estimates nothing."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from rpc_agent.conversation.json_values import as_count, as_object
from rpc_agent.conversation.messages import tool_calls
from rpc_agent.conversation.usage import total_cost
from rpc_agent.session.entries import CompactionEntry, Entry, MessageEntry


class Totals(Struct):
    """Tokens as services counted them, `cost` in US dollars."""

    user_messages: int = 0
    assistant_messages: int = 0
    tool_calls: int = 0
    compactions: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: float = 0.0
    models: dict[str, None] = field(default_factory=dict)
    """Who answered, as "provider/model" in the order of their first answer."""


def totals(entries: Iterable[Entry]) -> Totals:
    sums = Totals()
    for entry in entries:
        _count(sums, entry)
        for usage in _usages(entry):
            _add(sums, usage)
    return sums


def _count(sums: Totals, entry: Entry) -> None:
    match entry:
        case MessageEntry(message={"role": "user"}):
            sums.user_messages += 1
        case MessageEntry(message=message) if message["role"] == "assistant":
            sums.assistant_messages += 1
            sums.tool_calls += len(tool_calls(message))
            if message["model"]:
                sums.models[f"{message['provider']}/{message['model']}"] = None
        case CompactionEntry():
            sums.compactions += 1
        case _:
            pass


def _usages(entry: Entry) -> list[Mapping[str, Any]]:
    """What an entry says was paid for: in its message, or beside a summary."""
    message: Mapping[str, Any] = entry.message if isinstance(entry, MessageEntry) else {}
    return [as_object(place.get("usage")) for place in (message, entry.raw)]


def _add(sums: Totals, usage: Mapping[str, Any]) -> None:
    sums.input += as_count(usage.get("input"))
    sums.output += as_count(usage.get("output"))
    sums.cache_read += as_count(usage.get("cacheRead"))
    sums.cache_write += as_count(usage.get("cacheWrite"))
    sums.cost += total_cost(usage)
