"""A model request -> the body of a responses call. Pure. The service is asked to store nothing."""

from collections.abc import Sequence
from typing import Any

from rpc_agent.conversation.tool_spec import ToolSpec
from rpc_agent.providers.base import ModelRequest
from rpc_agent.providers.json_bytes import to_json
from rpc_agent.providers.openai_responses.compat import Compat
from rpc_agent.providers.pieces import JoinedPieces
from rpc_agent.providers.thinking import reasoning_effort

_LEAST_OUTPUT = 16
"""A smaller limit of the answer is refused."""
_MAX_CACHE_KEY = 64
"""Longer keys are refused."""


def joined_items() -> JoinedPieces[bytes, None]:
    """The items of one conversation, kept joined from request to request; a message may have had none to give."""
    return JoinedPieces(lambda items, state: ((items,) if items else (), state), None)


def body_parts(request: ModelRequest, compat: Compat, items: Sequence[bytes]) -> tuple[bytes, ...]:
    """The body in parts, UTF-8; `items` as `joined_items` gives them."""
    return (to_json(_options(request, compat))[:-1] + b',"input":[', *items, b"]}")


def _options(request: ModelRequest, compat: Compat) -> dict[str, Any]:
    options: dict[str, Any] = {"model": request.model.id, "stream": True, "store": False}
    if request.max_tokens:
        options["max_output_tokens"] = max(_LEAST_OUTPUT, request.max_tokens)
    if request.tools:
        options["tools"] = [_tool(tool) for tool in request.tools]
    if request.model.reasoning:
        options |= _reasoning(request, compat)
    if compat.supports_prompt_cache_key and request.cache and request.routing_id:
        options["prompt_cache_key"] = request.routing_id[:_MAX_CACHE_KEY]
    return options


def _tool(tool: ToolSpec) -> dict[str, Any]:
    # Strict schemas allow less than ours use, such as fields that may be left out.
    return {"type": "function", **tool.to_json(), "strict": False}


def _reasoning(request: ModelRequest, compat: Compat) -> dict[str, Any]:
    options: dict[str, Any] = {}
    effort = reasoning_effort(request.model, request.thinking_level)
    if effort:
        options["reasoning"] = {"effort": effort}
        if compat.supports_reasoning_summary and effort != "none":
            options["reasoning"]["summary"] = "auto"
    if compat.supports_encrypted_reasoning:
        options["include"] = ["reasoning.encrypted_content"]
    return options
