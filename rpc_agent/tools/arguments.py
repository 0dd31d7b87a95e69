"""Fits a model's arguments to a tool's JSON Schema. Pure.

Understood: type, properties, required, additionalProperties, items, enum, minimum, exclusiveMinimum, maximum,
minLength, minItems. Other keywords, and values that these cannot have, are not checked: a tool that comes from outside
checks for itself.
Forgiven, because models do it: numbers and booleans written as strings (and numbers where a string is due), objects
and arrays sent as JSON text, one object where a list of objects is due, null for an argument that may be left out.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from rpc_agent.conversation.json_values import as_object

_SHOWN_CHARACTERS = 60
_LIMITS = frozenset({"minimum", "exclusiveMinimum", "maximum", "minLength", "minItems"})


class Fitted(Struct, frozen=True):
    """`value` may be used when there are no `problems`; each of those is a sentence that names its place."""

    value: Any
    problems: tuple[str, ...]


def fit_arguments(schema: Mapping[str, Any], arguments: object) -> Fitted:
    """The arguments as the schema wants them. None counts as no arguments."""
    value = _coerced(schema, {} if arguments is None else arguments)
    return Fitted(value, tuple(_problems(schema, value, "")))


def _types(schema: Mapping[str, Any]) -> tuple[str, ...]:
    declared = schema.get("type")
    return (declared,) if isinstance(declared, str) else tuple(filter(_is_text, _list(schema, "type")))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _list(schema: Mapping[str, Any], name: str) -> list[Any]:
    value = schema.get(name)
    return value if isinstance(value, list) else []


def _property(schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The schema of one property, empty where nothing is said of it, as `true` says it too."""
    return as_object(as_object(schema.get("properties")).get(name))


def _coerced(schema: Mapping[str, Any], value: Any) -> Any:
    if not schema:
        # Nothing is said of it: it stays, however deep it goes.
        return value
    types = _types(schema)
    if types and not any(_IS_TYPE[name](value) for name in types if name in _IS_TYPE):
        value = _converted(types, value)
    if isinstance(value, float) and value.is_integer() and "integer" in types:
        value = int(value)
    if isinstance(value, dict):
        return _coerced_object(schema, value)
    if isinstance(value, list) and isinstance(items := schema.get("items"), Mapping):
        return [_coerced(items, item) for item in value]
    return value


def _coerced_object(schema: Mapping[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    known, required = as_object(schema.get("properties")), _list(schema, "required")
    return {
        name: _coerced(_property(schema, name), item)
        for name, item in value.items()
        if item is not None or name in required or name not in known or "null" in _types(_property(schema, name))
    }


def _converted(types: tuple[str, ...], value: Any) -> Any:
    for wanted in types:
        made = _converted_to(wanted, value)
        if made is not None and _IS_TYPE.get(wanted, _any)(made):
            return made
    return value


def _converted_to(wanted: str, value: Any) -> Any:
    match wanted, value:
        case "number" | "integer" | "boolean", str():
            return _from_json(value.strip().lower())
        case "object" | "array", str():
            return _as_list_if(wanted == "array", _from_json(value))
        case "array", dict():
            return [value]
        case "string", bool():
            return None
        case "string", int() | float():
            return str(value)
    return None


def _as_list_if(wanted: bool, value: Any) -> Any:
    return [value] if wanted and isinstance(value, dict) else value


def _from_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _problems(schema: Mapping[str, Any], value: Any, path: str) -> Iterator[str]:
    types = _types(schema)
    if types and not any(_IS_TYPE.get(name, _any)(value) for name in types):
        wanted = " or ".join(_WITH_ARTICLE.get(name, name) for name in types)
        yield f"{path or 'arguments'} must be {wanted}, got {_shown(value)}"
        return
    choices = _list(schema, "enum")
    if choices and value not in choices:
        allowed = ", ".join(json.dumps(choice, ensure_ascii=False) for choice in choices)
        yield f"{path or 'arguments'} must be one of {allowed}, got {_shown(value)}"
    yield from _limit_problems(schema, value, path)
    if isinstance(value, dict):
        yield from _object_problems(schema, value, path)
    if isinstance(value, list) and isinstance(items := schema.get("items"), Mapping):
        for index, item in enumerate(value):
            yield from _problems(items, item, f"{path}[{index}]")


def _limit_problems(schema: Mapping[str, Any], value: Any, path: str) -> Iterator[str]:
    limits = {name: limit for name, limit in schema.items() if name in _LIMITS and _is_number(limit)}
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not value >= limits.get("minimum", value):
            yield f"{path} must be at least {limits['minimum']}, got {_shown(value)}"
        if "exclusiveMinimum" in limits and not value > limits["exclusiveMinimum"]:
            yield f"{path} must be more than {limits['exclusiveMinimum']}, got {_shown(value)}"
        if not value <= limits.get("maximum", value):
            yield f"{path} must be at most {limits['maximum']}, got {_shown(value)}"
    if isinstance(value, str) and len(value) < limits.get("minLength", 0):
        yield f"{path} must not be empty"
    if isinstance(value, list) and len(value) < limits.get("minItems", 0):
        yield f"{path} must have at least {limits['minItems']} item(s)"


def _object_problems(schema: Mapping[str, Any], value: dict[str, Any], path: str) -> Iterator[str]:
    properties = as_object(schema.get("properties"))
    for name in filter(_is_text, _list(schema, "required")):
        if name not in value:
            yield f"{_inside(path, name)} is missing"
    for name, item in value.items():
        if name in properties:
            yield from _problems(_property(schema, name), item, _inside(path, name))
        elif schema.get("additionalProperties") is False:
            allowed = ", ".join(properties) or "none"
            yield f"{_inside(path, name)} is not an argument of this tool; allowed here: {allowed}"


def _inside(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."


def _any(value: Any) -> bool:
    # A type that JSON Schema does not have: not ours to judge.
    return True


def _is_number(value: Any) -> bool:
    # NaN and infinity are no JSON.
    return isinstance(value, int | float) and not isinstance(value, bool) and value - value == 0


_IS_TYPE: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "number": _is_number,
    "integer": lambda value: _is_number(value) and value == int(value),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}

_WITH_ARTICLE = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "null": "null",
}
