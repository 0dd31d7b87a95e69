"""What a refusal says, taken out of whatever it is wrapped in. Pure; judges nothing.

Services nest JSON in JSON strings, gateways put a service's JSON behind a prefix of their own, proxies answer HTML.
"""

import ast
import html
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

_MAX_DEPTH = 24
"""Deeper nesting is no error message."""
_MAX_TEXT = 64 * 1024
"""A refusal that quotes the whole request back needs no more reading than this."""

_CODE_FIELDS = frozenset(
    {
        "code",
        "type",
        "error_type",
        "status",
        "__type",
        "reason",
        "finish_reason",
        "error_code",
        "param",
        "loc",
        "quotaId",
    }
)
_MESSAGE_FIELDS = frozenset(
    {
        "message",
        "msg",
        "status_msg",
        "error_message",
        "error_msg",
        "detail",
        "details",
        "error",
        "errors",
        "title",
        "body",
        "raw",
    }
)
_COUNT_FIELDS = frozenset({"n_ctx", "n_prompt_tokens", "max_tokens_limit", "context_length", "prompt_tokens"})
"""Counts that llama.cpp and others put beside the message."""
_ENTITY = re.compile(r"&(quot|lt|gt|#\d{2,4});")
"""A page that quotes a refusal writes its signs so."""
_STATUS_IN_TEXT = re.compile(r"(?<![\w.])([45]\d\d)(?![\w.]*\d)(?=$|[\s:,.<)\"'{-])")


class FailureText(Struct, frozen=True):
    """`message` is for people and rules, `codes` are the machine's words, lower case; `status` is an inner one."""

    message: str
    codes: tuple[str, ...]
    status: int | None


def read_failure(body: str) -> FailureText:
    """The message, codes and HTTP status that a body, a stream event or a bare text holds."""
    messages: list[str] = []
    codes: list[str] = []
    body = body[:_MAX_TEXT]
    _collect(html.unescape(body) if _ENTITY.search(body) else body, "", messages, codes, 0)
    message = _plain("; ".join(dict.fromkeys(messages)))
    statuses = [int(code) for code in codes if re.fullmatch(r"[45]\d\d", code)]
    statuses += [int(found) for found in _STATUS_IN_TEXT.findall(message[:200])]
    words = tuple(dict.fromkeys(code for code in codes if not code.isdigit() or len(code) != 3))
    return FailureText(message, words, statuses[0] if statuses else None)


def _collect(value: object, name: str, messages: list[str], codes: list[str], depth: int) -> None:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _collect(inner, str(key), messages, codes, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _collect(inner, name, messages, codes, depth + 1)
    elif isinstance(value, int) and not isinstance(value, bool) and name in _CODE_FIELDS | {"status_code"}:
        codes.append(str(value))
    elif isinstance(value, int) and name in _COUNT_FIELDS:
        messages.append(f"{name}: {value}")
    elif isinstance(value, str) and value.strip():
        _collect_text(value, name, messages, codes, depth)


def _collect_text(text: str, name: str, messages: list[str], codes: list[str], depth: int) -> None:
    inner = _parsed(text)
    if not isinstance(inner, str):
        prefix = text[: text.find("{")].strip() if "{" in text else ""
        if prefix:
            messages.append(prefix)
        _collect(inner, name, messages, codes, depth + 1)
    elif name in _CODE_FIELDS and re.fullmatch(r"[\w.\-#:/]{1,80}", text):
        codes.append(text.lower())
    elif not name or name in _MESSAGE_FIELDS or not re.fullmatch(r"[\w.\-]*", text, re.ASCII):
        # Other fields hold ids; a sentence in one, in any script, is part of what is said.
        messages.append(text)


def _parsed(text: str) -> Any:
    """The JSON object or list in a text, also behind a prefix or quoted; else the text itself."""
    for start in _starts(text):
        try:
            value, end = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, list) and text[end:].strip():
            continue  # A status in brackets before a sentence.
        if isinstance(value, dict | list) and value:
            return value
    return _printed(text)


def _printed(text: str) -> Any:
    """What a program printed: text in quotes of JSON, or an object as Python shows it."""
    begin, end = text.find("{'"), text.rfind("}")
    try:
        if text.lstrip().startswith('"'):
            return _parsed(json.loads(text))
        return ast.literal_eval(text[begin : end + 1]) if 0 <= begin < end else text
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text


def _starts(text: str) -> Iterator[int]:
    first = len(text) - len(text.lstrip())
    if text[first : first + 1] in ("{", "["):
        yield first
    brace = text.find('{"')
    if brace > first:
        yield brace


def _plain(text: str) -> str:
    """HTML tags out, space runs to one, sides trimmed."""
    return re.sub(r"\s+", " ", re.sub(r"<([/!]?[a-zA-Z][^<>]{0,200}|!--.{0,200}?--)>", " ", text)).strip()
