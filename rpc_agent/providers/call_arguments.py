"""The JSON text of a tool call's arguments -> a JSON object. Pure; knows no tool and no service."""

import json
from typing import Any

import orjson

from rpc_agent.conversation.json_values import without_lone_surrogates
from rpc_agent.nesting import is_deeper
from rpc_agent.providers.json_bytes import to_json

_MOST_LEVELS = 100
"""No tool's schema comes near it. Beyond some hundreds the JSON writers of one program or another fail."""


def written_arguments(value: object) -> str:
    """A piece of arguments' JSON text; some servers send the object itself in its place."""
    if isinstance(value, str):
        return value
    return to_json(value).decode() if isinstance(value, dict) else ""


def parse_arguments(text: str) -> dict[str, Any] | None:
    """A JSON object, {} for nothing at all (a tool without parameters), None for anything else."""
    if text.strip() in ("", "null"):
        return {}
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        value = _parse_odd(text)
    if isinstance(value, str):
        # Some servers put the text into quotes once more.
        value = _parse_odd(value)
    return value if isinstance(value, dict) and not is_deeper(value, _MOST_LEVELS) else None


def _parse_odd(text: str) -> Any:
    """What orjson refuses and JSON readers elsewhere accept: an escaped lone surrogate, very deep nesting, a line of
    text that ends within quotes. And an object said twice, or behind the empty one that some servers begin with."""
    try:
        objects = _values(text.strip())
        filled = [value for value in objects if value != {}] or objects[:1]
        if any(value != filled[0] for value in filled):
            return None
        # Re-encoding replaces lone surrogates wherever they are, in names too.
        return json.loads(without_lone_surrogates(json.dumps(filled[0], ensure_ascii=False)))
    except (ValueError, RecursionError):
        return None


def _values(text: str) -> list[Any]:
    """The values that stand behind each other in a text."""
    decoder = json.JSONDecoder(parse_constant=_refuse_constant, strict=False)
    found, at = [], 0
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        found.append(value)
        at += len(text) - at - len(text[at:].lstrip())
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
