"""Values -> JSON as UTF-8 bytes for a service. Pure."""

import json
from typing import Any

import orjson

from rpc_agent.conversation.json_values import without_lone_surrogates


def to_json(value: Any) -> bytes:
    """Compact JSON. What orjson refuses (integers over 64 bits, lone surrogates, deep nesting) goes the slow way."""
    try:
        return orjson.dumps(value)
    except (orjson.JSONEncodeError, RecursionError):
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return without_lone_surrogates(text).encode()
