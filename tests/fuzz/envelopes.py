"""Fuzz target: any bytes are some message, and whatever it is, its answer is JSON under the same id."""

import json
import math
from typing import Any

from rpc_agent.rpc import envelopes, fast_json, json_text
from rpc_agent.rpc.envelopes import Batch, Ignored, Invalid, Item, Notification, Request, Response
from tests.conftest import ROOT
from tests.support.hostile_messages import HOSTILE

TOKENS = (
    b'"jsonrpc":"2.0"', b'"id":', b'"method":', b'"params":', b'"result":', b'"error":', b"null", b"true", b"[", b"]",
    b"{", b"}", b",", b"1e400", b"-0", b"1180591620717411303424", b"NaN", b"\\ud800", b"\\udc00", b"\xed\xa0\x80", b"\xff",
    b"\xef\xbb\xbf", b'"', b"\\", b"[[[[[[[[",
)  # fmt: skip
MAX_BYTES = 1500


def seeds() -> list[bytes]:
    lines = [
        line for file in sorted((ROOT / "tests/golden/rpc").glob("*.bin")) for line in file.read_bytes().split(b"\n")
    ]
    return [message for message in (*lines, *(message for _, message, _ in HOSTILE)) if message and len(message) < 2000]


def check(data: bytes) -> None:
    found = envelopes.parse(data)
    items = found.items if isinstance(found, Batch) else [found]
    assert items
    for item in items:
        _answer(item)
    _agrees_with_a_plain_reader(data, found)


def _answer(item: Item) -> None:
    match item:
        case Request(id=id, params=params):
            answers = [envelopes.encode_result(id, params, encode) for encode in (json_text.encode, fast_json.encode)]
            for answer in answers:
                said = json.loads(answer.decode("utf-8"))
                assert said["jsonrpc"] == "2.0" and _same(said["id"], id), answer
                assert _same(said["result"], params), answer
        case Invalid(id=id, error=error):
            said = json.loads(envelopes.encode_error(id, error).decode("utf-8"))
            assert _same(said["id"], id) and said["error"]["code"] < 0
        case Notification() | Response() | Ignored():
            pass


def _agrees_with_a_plain_reader(data: bytes, found: Item | Batch) -> None:
    """What the standard library takes for JSON in UTF-8 is no parse error here, save what no double can hold."""
    try:
        value = json.loads(data.decode("utf-8-sig"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        assert isinstance(found, Invalid) and found.error.code == -32700
        return
    if _is_infinite(value):
        return
    # How deep is too deep depends on who asks.
    assert not (isinstance(found, Invalid) and found.error.code == -32700) or "nested too deeply" in found.error.message


def _refuse(name: str) -> Any:
    raise ValueError(name)


def _is_infinite(value: Any) -> bool:
    """Whether an infinite number stands somewhere in there, however deep."""
    waiting = [value]
    while waiting:
        at = waiting.pop()
        if isinstance(at, float) and math.isinf(at):
            return True
        waiting += at.values() if isinstance(at, dict) else at if isinstance(at, list) else []
    return False


def _same(one: Any, other: Any) -> bool:
    """Equal, and the same kind of number."""
    return json.dumps(one) == json.dumps(other)
