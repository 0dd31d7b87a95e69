"""Reads the examples of single messages that stand in example_messages.jsonl, one a line, written by hand.

A line is {"method", "params", "result"}, {"clientNotification", "params"}, {"notification", "params"} or
{"serverRequest", "params", "result"}.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from rpc_agent.protocol.wire_model import JsonObject

_FILE = Path(__file__).with_name("example_messages.jsonl")


class Examples(Struct, frozen=True):
    """By name: for requests {"params", "result"}, for notifications the params."""

    methods: Mapping[str, Sequence[JsonObject]]
    client_notifications: Mapping[str, Sequence[JsonObject]]
    notifications: Mapping[str, Sequence[JsonObject]]
    client_requests: Mapping[str, Sequence[JsonObject]]


def read_examples() -> Examples:
    found: dict[str, defaultdict[str, list[JsonObject]]] = {
        kind: defaultdict(list) for kind in ("method", "clientNotification", "notification", "serverRequest")
    }
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        match json.loads(line):
            case {"notification": name, "params": params}:
                found["notification"][name].append(params)
            case {"clientNotification": name, "params": params}:
                found["clientNotification"][name].append(params)
            case {"method": name, "params": params, "result": result}:
                found["method"][name].append({"params": params, "result": result})
            case {"serverRequest": name, "params": params, "result": result}:
                found["serverRequest"][name].append({"params": params, "result": result})
            case _:
                raise ValueError(f"{_FILE.name}: not an example: {line}")
    return Examples(*found.values())
