"""Writes JSON with orjson, and with `json_text` what orjson cannot write. Never on the path to the first answer."""

from typing import Any

import orjson

from rpc_agent.rpc import json_text


def encode(value: Any) -> bytes:
    """As json_text.encode, ten times faster. A NaN becomes null. Raises NotSerialisable."""
    try:
        return orjson.dumps(value)
    except TypeError:
        # Integers above 64 bits, half surrogate pairs, more than 254 levels - or no JSON at all.
        return json_text.encode(value)
