"""Counts over a whole session, as get_session_stats tells them."""

from typing import Any

from rpc_agent.conversation.json_values import as_count, as_object
from rpc_agent.conversation.messages import Message, tool_calls
from rpc_agent.conversation.usage import total_cost, total_tokens
from rpc_agent.runtime.live_session import LiveSession
from rpc_agent.server.states import usage_to_wire
from rpc_agent.session.entries import CompactionEntry, Entry, MessageEntry
from rpc_agent.storage.gentle_reading import entry_pages

_TOKENS = ("input", "output", "cacheRead", "cacheWrite")


async def stats_to_wire(session: LiveSession) -> dict[str, Any]:
    """Reads all of the session, however long that takes; the event loop goes on."""
    store = session.log.store
    roles = dict.fromkeys(("user", "assistant", "toolResult"), 0)
    tokens = dict.fromkeys((*_TOKENS, "total"), 0)
    calls = compactions = messages = count = 0
    cost = 0.0
    async for entries in entry_pages(store):
        for entry in entries:
            count += 1
            compactions += isinstance(entry, CompactionEntry)
            if isinstance(entry, MessageEntry):
                messages += 1
                role = entry.message["role"]
                roles[role] = roles.get(role, 0) + 1
                calls += _calls(entry.message)
            cost += _add_usage(entry, tokens)
    usage = session.context.usage()
    return {
        "userMessages": roles["user"],
        "assistantMessages": roles["assistant"],
        "toolCalls": calls,
        "toolResults": roles["toolResult"],
        "totalMessages": messages,
        "tokens": tokens,
        "cost": cost,
        **({} if usage is None else {"contextUsage": usage_to_wire(usage)}),
        "entries": count,
        "compactions": compactions,
        "fileBytes": store.file_bytes,
    }


def _calls(message: Message) -> int:
    return len(tool_calls(message)) if message["role"] == "assistant" else 0


def _add_usage(entry: Entry, tokens: dict[str, int]) -> float:
    """Add what an entry cost in tokens; its price in dollars. Messages, summaries and usage entries all carry it."""
    holder = as_object(entry.raw.get("message")) if isinstance(entry, MessageEntry) else entry.raw
    usage = as_object(holder.get("usage"))
    if not usage:
        return 0.0
    for name in _TOKENS:
        tokens[name] += as_count(usage.get(name))
    tokens["total"] += total_tokens(usage)
    return total_cost(usage)
