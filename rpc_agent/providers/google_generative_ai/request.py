"""A model request -> the body of a streamGenerateContent call. Pure.

The service keeps a prompt cache of its own accord, by prefix; there is nothing to mark and nothing to switch off.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from rpc_agent.providers.base import ModelRequest
from rpc_agent.providers.google_generative_ai.compat import Compat
from rpc_agent.providers.google_generative_ai.contents import Tail
from rpc_agent.providers.google_generative_ai.schema import parameters_for
from rpc_agent.providers.json_bytes import to_json


def request_body(request: ModelRequest, compat: Compat, finished: Sequence[bytes], tail: Tail) -> tuple[bytes, ...]:
    """The whole body, UTF-8, in parts to be sent behind each other. `finished` and `tail` are what Contents gives."""
    options = to_json(_options(request, compat))
    fields = [options[1:-1]] if len(options) > len(b"{}") else []
    if tail.system:
        fields.append(b'"systemInstruction":{"parts":[' + b",".join(tail.system) + b"]}")
    fields.append(b'"contents":[')
    open_contents = b",".join(tail.to_json())
    comma = b"," if any(finished) and open_contents else b""
    return (b"{" + b",".join(fields), *finished, comma + open_contents + b"]}")


def _options(request: ModelRequest, compat: Compat) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if request.tools:
        options["tools"] = [{"functionDeclarations": [_declaration(tool.to_json()) for tool in request.tools]}]
    generation: dict[str, Any] = {}
    if request.max_tokens:
        limit = request.model.max_tokens or request.max_tokens
        generation["maxOutputTokens"] = min(request.max_tokens, limit)
    wanted = compat.thinking.get(request.thinking_level)
    if wanted is not None:
        name = "thinkingLevel" if isinstance(wanted, str) else "thinkingBudget"
        generation["thinkingConfig"] = {name: wanted, "includeThoughts": request.thinking_level != "off"}
    return {**options, "generationConfig": generation} if generation else options


def _declaration(tool: Mapping[str, Any]) -> dict[str, Any]:
    parameters = parameters_for(tool["parameters"])
    declared = {"name": tool["name"], "description": tool["description"]}
    return {**declared, "parameters": parameters} if parameters else declared
