"""The contract as TypeScript: an interface a shape, and maps from names to shapes. Pure, made from the JSON Schema."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rpc_agent.protocol.advertised import PROTOCOL_VERSION
from rpc_agent.protocol.client_requests import CLIENT_REQUESTS
from rpc_agent.protocol.error_codes import ERRORS
from rpc_agent.protocol.json_schema import Shapes
from rpc_agent.protocol.methods import CLIENT_NOTIFICATIONS, METHODS
from rpc_agent.protocol.notifications import NOTIFICATIONS
from rpc_agent.protocol.wire_model import JsonObject

_HEAD = "// Made by `python -m rpc_agent.protocol.export --write`. Change the models, not this file."

_LEFT_OUT_OF_UNIONS = "UnknownEntry"
"""Its `type` is any string, so in a union nobody could tell the known entries apart by theirs."""

_WIDTH = 110


def typescript_text(shapes: Shapes) -> str:
    """The whole of types.ts."""
    parts = [
        _HEAD,
        f"export const PROTOCOL_VERSION = {PROTOCOL_VERSION};",
        *(_definition(name, schema) for name, schema in shapes.definitions.items()),
        _error_codes(),
        _error_types(),
        _calls("Methods", "Requests to the server.", METHODS, shapes),
        _messages("ClientNotifications", "Notifications to the server.", CLIENT_NOTIFICATIONS, shapes),
        _messages("Notifications", "Notifications from the server.", NOTIFICATIONS, shapes),
        _calls("ServerRequests", "Requests from the server.", CLIENT_REQUESTS, shapes),
    ]
    return "\n\n".join(parts) + "\n"


def _definition(name: str, schema: JsonObject) -> str:
    comment = "".join(f"{line}\n" for line in _comment(schema.get("description", ""), ""))
    if "properties" in schema:
        return f"{comment}export interface {name} {{\n{_members(schema)}}}"
    return f"{comment}export type {name} = {_type(schema, '')};"


def _members(schema: JsonObject, indent: str = "  ") -> str:
    required = schema.get("required", [])
    lines: list[str] = []
    for name, each in schema["properties"].items():
        lines += _comment(each.get("description", ""), indent)
        lines.append(f"{indent}{_key(name)}{'' if name in required else '?'}: {_type(each, indent)};")
    if schema.get("additionalProperties") is True:
        lines.append(f"{indent}[key: string]: unknown;")
    return "".join(f"{line}\n" for line in lines)


def _type(schema: JsonObject, indent: str) -> str:
    match schema:
        case {"$ref": str(target)}:
            return target.rpartition("/")[2]
        case {"const": value}:
            return json.dumps(value)
        case {"enum": list(values)}:
            return " | ".join(json.dumps(value) for value in values)
        case {"anyOf": list(branches)} | {"oneOf": list(branches)}:
            return _union(branches, indent)
        case {"type": "array", "items": item}:
            inner = _type(item, indent)
            return f"({inner})[]" if " | " in inner else f"{inner}[]"
        case {"type": "object", "properties": dict()}:
            return f"{{\n{_members(schema, indent + '  ')}{indent}}}"
        case {"type": "object", "additionalProperties": dict(values)}:
            return f"Record<string, {_type(values, indent)}>"
        case {"type": "object"}:
            return "Record<string, unknown>"
        case _:
            return _PRIMITIVES.get(schema.get("type", ""), "unknown")


_PRIMITIVES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def _union(branches: Iterable[JsonObject], indent: str) -> str:
    types = dict.fromkeys(_type(branch, indent) for branch in branches)
    return " | ".join(each for each in types if each != _LEFT_OUT_OF_UNIONS)


def _comment(text: str, indent: str) -> Iterator[str]:
    """`text` as a JSDoc comment: on one line where it fits."""
    if not text:
        return
    safe = text.replace("*/", "* /")
    if len(indent) + len(safe) + 7 <= _WIDTH:
        yield f"{indent}/** {safe} */"
        return
    yield f"{indent}/**"
    yield from (f"{indent} * {line}" for line in _wrapped(safe, _WIDTH - len(indent) - 3))
    yield f"{indent} */"


def _wrapped(text: str, width: int) -> Iterator[str]:
    line = ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = word
        else:
            line = f"{line} {word}".lstrip()
    yield line


def _key(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


def _error_codes() -> str:
    rows = "".join(
        f"{line}\n"
        for reason, row in ERRORS.items()
        for line in (*_comment(f"{row.when} {row.action}", "  "), f"  {reason}: {row.code},")
    )
    return (
        f"/** Code of each reason; programs decide by the reason. */\nexport const ERROR_CODES = {{\n{rows}}} as const;"
    )


def _error_types() -> str:
    return (
        "export type ErrorReason = keyof typeof ERROR_CODES;\n\n"
        "/** `data` of an error; further fields depend on the reason. */\n"
        "export interface ErrorData {\n  reason: ErrorReason;\n  [key: string]: unknown;\n}"
    )


def _calls(name: str, about: str, rows: Mapping[str, Any], shapes: Shapes) -> str:
    members = "".join(
        f"{line}\n"
        for row in rows.values()
        for line in (
            *_comment(row.summary, "  "),
            f"  {_key(row.name)}: {{ params: {_type(shapes.params[row.name], '')};"
            f" result: {_type(shapes.results[row.name], '')} }};",
        )
    )
    return f"/** {about} */\nexport interface {name} {{\n{members}}}"


def _messages(name: str, about: str, rows: Mapping[str, Any], shapes: Shapes) -> str:
    members = "".join(
        f"{line}\n"
        for row in rows.values()
        for line in (*_comment(row.summary, "  "), f"  {_key(row.name)}: {_type(shapes.params[row.name], '')};")
    )
    return f"/** {about} */\nexport interface {name} {{\n{members}}}"
