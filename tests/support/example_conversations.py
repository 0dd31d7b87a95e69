"""Conversations of protocol/examples: their steps, and whether a message fits a pattern. Speaks to no server.

The format is described in protocol/examples/README.md.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "protocol" / "examples"


@dataclass(frozen=True)
class Conversation:
    name: str
    about: str
    files: Mapping[str, str]
    """What lies in the server's working directory: path -> text."""
    steps: Sequence[Mapping[str, Any]]


def read_conversation(path: Path) -> Conversation:
    head, *steps = (json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line)
    return Conversation(path.stem, head["about"], _files(head.get("files", {})), steps)


def conversations() -> list[Conversation]:
    return [read_conversation(path) for path in sorted(FOLDER.glob("*.jsonl"))]


def _files(described: Mapping[str, Any]) -> dict[str, str]:
    return {path: text if isinstance(text, str) else text["text"] * text["times"] for path, text in described.items()}


def bytes_to_send(step: Mapping[str, Any], known: Mapping[str, str]) -> bytes:
    """What a send step writes, in the framing with one message a line."""
    match step:
        case {"send": message}:
            return json.dumps(filled(message, known)).encode() + b"\n"
        case {"sendText": text, **rest}:
            return str(text).encode() + (b"" if rest.get("end") else b"\n")
        case {"sendBase64": text}:
            return base64.b64decode(text) + b"\n"
        case {"sendRepeated": {"text": text, "times": times}}:
            return str(text).encode() * int(times) + b"\n"
        case _:
            raise ValueError(f"not a step that sends: {step}")


def filled(value: Any, known: Mapping[str, str]) -> Any:
    """`value` with what was remembered in the place of "<string:name>"."""
    match value:
        case dict():
            return {key: filled(each, known) for key, each in value.items()}
        case list():
            return [filled(each, known) for each in value]
        case str() if (word := _word(value)) and word[0] == "string" and word[1]:
            return known[word[1]]
        case _:
            return value


_ABSENT = object()
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


def fits(pattern: Any, value: Any, known: Mapping[str, str]) -> dict[str, str] | None:
    """What is remembered after `value` fitted `pattern`, or None when it does not fit."""
    match pattern:
        case dict():
            return _object_fits(pattern, value, known)
        case ["<in any order>", *patterns]:
            return _any_order_fits(patterns, value, known)
        case [*patterns, "<rest>"]:
            return _array_fits(patterns, value[: len(patterns)], known) if isinstance(value, list) else None
        case list():
            return _array_fits(pattern, value, known)
        case str() if word := _word(pattern):
            return _word_fits(*word, value, known)
        case _:
            same = pattern == value and isinstance(pattern, bool) == isinstance(value, bool)
            return dict(known) if same else None


def _object_fits(pattern: Mapping[str, Any], value: Any, known: Mapping[str, str]) -> dict[str, str] | None:
    if not isinstance(value, dict):
        return None
    now: dict[str, str] | None = dict(known)
    for key, each in pattern.items():
        if now is not None:
            now = fits(each, value.get(key, _ABSENT), now)
    return now


def _array_fits(patterns: Sequence[Any], value: Any, known: Mapping[str, str]) -> dict[str, str] | None:
    if not isinstance(value, list) or len(value) != len(patterns):
        return None
    now: dict[str, str] | None = dict(known)
    for each, item in zip(patterns, value, strict=True):
        if now is not None:
            now = fits(each, item, now)
    return now


def _any_order_fits(patterns: Sequence[Any], value: Any, known: Mapping[str, str]) -> dict[str, str] | None:
    if not isinstance(value, list) or len(value) != len(patterns):
        return None
    if not patterns:
        return dict(known)
    for i, item in enumerate(value):
        now = fits(patterns[0], item, known)
        if now is not None and (rest := _any_order_fits(patterns[1:], value[:i] + value[i + 1 :], now)) is not None:
            return rest
    return None


def _word(text: str) -> tuple[str, str] | None:
    """("string", "name") of "<string:name>"; None for a plain text."""
    if not (text.startswith("<") and text.endswith(">")):
        return None
    kind, _, rest = text[1:-1].partition(":")
    return (kind, rest) if kind in {*_TYPES, "any", "absent", "contains"} else None


def _word_fits(kind: str, rest: str, value: Any, known: Mapping[str, str]) -> dict[str, str] | None:
    match kind:
        case "absent":
            good = value is _ABSENT
        case "any":
            good = value is not _ABSENT
        case "contains":
            text = value if isinstance(value, str) else "" if value is _ABSENT else json.dumps(value)
            good = rest in text
        case _:
            good = isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))
            good = good and known.get(rest, value) == value
    if not good:
        return None
    return {**known, rest: value} if kind == "string" and rest else dict(known)
