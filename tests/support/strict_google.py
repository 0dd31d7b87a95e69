"""What a strict service of the generateContent API refuses, and the streams it answers with."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.support.chat_server import ServerReply
from tests.support.strict_requests import is_file_data, refusing

_FIELDS = frozenset({"contents", "systemInstruction", "tools", "generationConfig"})
_DATA = frozenset({"text", "inlineData", "functionCall", "functionResponse"})
_IMAGES = frozenset({"image/jpeg", "image/png", "image/webp", "image/heic", "image/heif"})
_SCHEMA = frozenset(
    {
        "type", "format", "title", "description", "nullable", "enum", "items", "minItems", "maxItems", "properties",
        "required", "minimum", "maximum", "minLength", "maxLength", "pattern", "default", "anyOf",
    }
)  # fmt: skip
_FORMATS = {"STRING": {"date-time"}, "INTEGER": {"int32", "int64"}, "NUMBER": {"float", "double"}}
_TYPES = frozenset({"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"})


def _request_faults(request: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"unknown field {name}" for name in request.keys() - _FIELDS)
    thinking = request.get("generationConfig", {}).get("thinkingConfig", {})
    if "thinkingBudget" in thinking and "thinkingLevel" in thinking:
        yield "a budget and a level of thinking"
    for part in request.get("systemInstruction", {}).get("parts", ()):
        yield from _part_faults(part, "systemInstruction")
    for tool in request.get("tools", ()):
        for declared in tool["functionDeclarations"]:
            if "parameters" in declared:
                yield from schema_faults(declared["parameters"], declared["name"])
    yield from _content_faults(request["contents"])


def _content_faults(contents: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not contents or contents[0]["role"] != "user":
        yield "the first content is not the user's"
    waiting: list[tuple[str, str | None]] = []
    for place, content in enumerate(contents):
        where = f"contents[{place}]"
        parts = content.get("parts") or []
        if content["role"] not in ("user", "model") or not parts:
            yield f"{where}: role {content['role']}, {len(parts)} parts"
        answers = [_named(part["functionResponse"]) for part in parts if "functionResponse" in part]
        if answers != waiting or (answers and len(answers) != len(parts)):
            yield f"{where}: responses {answers} where {waiting} are due, and they alone"
        waiting = [_named(part["functionCall"]) for part in parts if "functionCall" in part]
        if waiting and content["role"] != "model":
            yield f"{where}: a call of the user's"
        for part in parts:
            yield from _part_faults(part, where)
    if waiting:
        yield f"no responses to {waiting}"


def _named(value: Mapping[str, Any]) -> tuple[str, str | None]:
    return value["name"], value.get("id")


def _part_faults(part: Mapping[str, Any], where: str) -> Iterator[str]:
    data = part.keys() & _DATA
    if len(data) != 1 or part.keys() - data - {"thought", "thoughtSignature"}:
        yield f"{where}: a part of {sorted(part)}"
    if "text" in part and not part["text"].strip() and "thoughtSignature" not in part:
        yield f"{where}: an empty text"
    image = part.get("inlineData")
    if image and (image["mimeType"] not in _IMAGES or not is_file_data(image["data"])):
        yield f"{where}: the image"
    if "functionResponse" in part and not isinstance(part["functionResponse"]["response"], dict):
        yield f"{where}: the response"


def schema_faults(schema: Mapping[str, Any], where: str) -> Iterator[str]:
    """What is outside the subset of JSON Schema that the service reads."""
    yield from (f"{where}: unknown field {name}" for name in schema.keys() - _SCHEMA)
    kind = schema.get("type")
    if "anyOf" in schema:
        if schema.keys() - {"anyOf", "description", "title", "nullable"}:
            yield f"{where}: fields beside anyOf"
        for place, choice in enumerate(schema["anyOf"]):
            yield from schema_faults(choice, f"{where}.anyOf[{place}]")
    elif kind not in _TYPES:
        yield f"{where}: the type {kind}"
    if "enum" in schema and (kind != "STRING" or not all(isinstance(v, str) and v for v in schema["enum"])):
        yield f"{where}: the values {schema['enum']}"
    if "format" in schema and schema["format"] not in _FORMATS.get(str(kind), ()):
        yield f"{where}: the format {schema['format']}"
    if kind == "ARRAY" and "items" not in schema:
        yield f"{where}: no items"
    if "properties" in schema:
        if not schema["properties"] or set(schema.get("required", ())) - schema["properties"].keys():
            yield f"{where}: no properties, or unknown ones required"
        for name, inner in schema["properties"].items():
            yield from schema_faults(inner, f"{where}.{name}")
    if "items" in schema:
        yield from schema_faults(schema["items"], f"{where}[]")


google_faults = refusing(_request_faults)


def chunks(*items: Mapping[str, Any]) -> bytes:
    """Chunks as the service writes them, with CRLF and without an end mark."""
    return "".join(f"data: {json.dumps(item)}\r\n\r\n" for item in items).encode()


def parts(*items: Mapping[str, Any], finish: str = "", **more: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"index": 0}
    if items:
        candidate["content"] = {"role": "model", "parts": [dict(item) for item in items]}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "modelVersion": "m", "responseId": "resp-1", **more}


def usage(prompt: int = 7, output: int = 5, **more: int) -> dict[str, Any]:
    return {"usageMetadata": {"promptTokenCount": prompt, "candidatesTokenCount": output, **more}}


def google_text(text: str, **more: Any) -> ServerReply:
    return ServerReply(body=chunks(parts({"text": text}), parts(finish="STOP", **usage())), **more)
