"""A model request -> the body of a messages call. Pure.

The body's order is the cache's order: tools, system, messages. Breakpoints stand on what does not change from turn to
turn: the last tool, the system text, and the last two user turns, of which the older one was the last of the call
before, so that a turn reads all that was written then.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from rpc_agent.providers.anthropic_messages.compat import MIN_BUDGET, Compat
from rpc_agent.providers.anthropic_messages.turns import BREAKPOINT, Tail
from rpc_agent.providers.base import ModelRequest
from rpc_agent.providers.json_bytes import to_json
from rpc_agent.providers.tool_schema import plain_object

_DEFAULT_OUTPUT = 8192
"""The API wants a limit; every model on offer writes this much."""


def request_body(request: ModelRequest, compat: Compat, finished: Sequence[bytes], tail: Tail) -> tuple[bytes, ...]:
    """The whole body, UTF-8, in parts to be sent behind each other. `finished` and `tail` are what Turns gives."""
    caching = request.cache and compat.supports_prompt_cache
    fields = [to_json(_options(request, compat))[:-1]]
    if request.tools:
        fields.append(b'"tools":[' + b",".join(_tools(request, caching)) + b"]")
    if tail.system:
        *others, last = tail.system
        last = last[:-1] + BREAKPOINT if caching else last
        fields.append(b'"system":[' + b",".join((*others, last)) + b"]")
    open_turns = b",".join(tail.to_json(marked=caching))
    comma = b"," if any(finished) and open_turns else b""
    return (b",".join(fields) + b',"messages":[', *finished, comma + open_turns + b"]}")


def _options(request: ModelRequest, compat: Compat) -> dict[str, Any]:
    limits = [limit for limit in (request.max_tokens, request.model.max_tokens) if limit]
    most = min(limits, default=_DEFAULT_OUTPUT)
    return {"model": request.model.id, "max_tokens": most, "stream": True, **_thinking(request, compat, most)}


def _thinking(request: ModelRequest, compat: Compat, most: int) -> dict[str, Any]:
    wanted = compat.thinking.get(request.thinking_level, 0)
    if isinstance(wanted, str):
        # Summarized, as newer models say nothing of their thinking unless asked to.
        return {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": wanted}}
    # The budget is part of the limit, and half of it is left for the answer.
    budget = min(wanted, most // 2)
    if budget >= MIN_BUDGET:
        return {"thinking": {"type": "enabled", "budget_tokens": budget}}
    return {"thinking": {"type": "disabled"}} if compat.disables_thinking else {}


def _tools(request: ModelRequest, caching: bool) -> Iterable[bytes]:
    for place, tool in enumerate(request.tools, 1):
        schema = plain_object(tool.parameters)
        encoded = to_json({"name": tool.name, "description": tool.description, "input_schema": schema})
        yield encoded[:-1] + BREAKPOINT if caching and place == len(request.tools) else encoded
