"""JSON Schema -> the subset that the service accepts in a tool's declaration. Pure.

What the subset cannot say is left out or loosened, never tightened: the tool checks its arguments itself. References
are put in place, alternatives become `anyOf`, null becomes `nullable`, and each schema gets a type.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from rpc_agent.conversation.json_values import as_object, as_text
from rpc_agent.providers.tool_schema import merged, plain_object, target_of

_KEPT = ("title", "description", "minItems", "maxItems", "minLength", "maxLength", "pattern")
_BOUNDS = ("minimum", "maximum")
_FORMATS = {
    "STRING": frozenset({"date-time"}),
    "INTEGER": frozenset({"int32", "int64"}),
    "NUMBER": frozenset({"float", "double"}),
}
"""The service refuses any other format."""
_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object"})
_MAX_DEPTH = 24
"""Deeper than any tool; the service has a limit too."""
_ANYTHING: Mapping[str, Any] = {"type": "STRING"}
"""Where a schema says nothing: the service wants a type, and text can hold all."""

Json = dict[str, Any]
_Inside = tuple[str, ...]
"""The references that led here, "" for a level without one: a schema may refer to one that it is part of."""


def parameters_for(schema: Mapping[str, Any]) -> Json | None:
    """A tool's parameters, or None for a tool without any: the service refuses an object without properties."""
    converted = _Converter(schema).convert(plain_object(schema), ("#",))
    return converted if converted.get("properties") else None


class _Converter:
    """Knows the whole schema, for the references in it."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root

    def convert(self, raw: object, inside: _Inside) -> Json:
        schema, inside = self._in_place(as_object(raw), inside)
        if not schema or len(inside) > _MAX_DEPTH:
            return dict(_ANYTHING)
        kinds = _kinds(schema)
        choices, has_null = _choices(schema, kinds)
        if choices:
            converted = self._any_of(choices, schema, inside)
        else:
            converted = self._typed(schema, next((kind for kind in kinds if kind != "null"), "string"), inside)
        if has_null or schema.get("nullable") is True:
            converted["nullable"] = True
        return converted

    def _in_place(self, schema: Mapping[str, Any], inside: _Inside) -> tuple[Mapping[str, Any], _Inside]:
        """The schema with its reference and its `allOf` merged into it, and where that leads."""
        inside = (*inside, as_text(schema.get("$ref")))
        parts: list[Mapping[str, Any]] = []
        if reference := inside[-1]:
            target = target_of(self._root, reference)
            if reference in inside[:-1]:
                # Written out again it would never end, or grow with each level.
                return {"type": as_text(target.get("type")) or "object"}, inside
            part, inside = self._in_place(target, inside)
            parts.append(part)
        for raw in _list(schema.get("allOf")):
            part, inside = self._in_place(as_object(raw), inside)
            parts.append(part)
        own = {name: value for name, value in schema.items() if name not in ("$ref", "allOf")}
        return (merged([*parts, own]) if parts else own), inside

    def _any_of(self, choices: Sequence[Json], schema: Mapping[str, Any], inside: _Inside) -> Json:
        about = {name: schema[name] for name in ("title", "description") if isinstance(schema.get(name), str)}
        if len(choices) == 1:
            return {**self.convert(choices[0], inside), **about}
        return {**about, "anyOf": [self.convert(choice, inside) for choice in choices]}

    def _typed(self, schema: Mapping[str, Any], kind: str, inside: _Inside) -> Json:
        converted: Json = {"type": kind.upper()}
        converted |= {name: schema[name] for name in _KEPT if schema.get(name) is not None}
        if schema.get("format") in _FORMATS.get(kind.upper(), ()):
            converted["format"] = schema["format"]
        match kind:
            case "object":
                self._add_properties(schema, converted, inside)
            case "array":
                items = schema.get("items")
                converted["items"] = self.convert(items, inside) if isinstance(items, Mapping) else dict(_ANYTHING)
            case "number" | "integer":
                converted |= {name: schema[name] for name in _BOUNDS if isinstance(schema.get(name), int | float)}
            case _:
                pass
        _add_values(schema, kind, converted)
        return converted

    def _add_properties(self, schema: Mapping[str, Any], converted: Json, inside: _Inside) -> None:
        properties = as_object(schema.get("properties"))
        if not properties:
            return
        converted["properties"] = {name: self.convert(value, inside) for name, value in properties.items()}
        required = schema.get("required")
        if isinstance(required, list) and (known := [name for name in required if name in properties]):
            converted["required"] = known


def _choices(schema: Mapping[str, Any], kinds: Sequence[str]) -> tuple[list[Json], bool]:
    """The alternatives of a schema that has some, and whether null is one of them."""
    raw = [dict(as_object(choice)) for choice in _list(schema.get("anyOf") or schema.get("oneOf"))]
    if not raw:
        named = [kind for kind in kinds if kind != "null"]
        return [{**schema, "type": kind} for kind in named] if len(named) > 1 else [], "null" in kinds
    choices = [choice for choice in raw if choice.get("type") != "null"]
    return choices, len(choices) < len(raw)


def _kinds(schema: Mapping[str, Any]) -> list[str]:
    """The types a schema allows, "null" among them; guessed where it names none."""
    named = schema.get("type")
    names = map(as_text, named if isinstance(named, list) else [named])
    kinds = [name for name in names if name in _TYPES or name == "null"]
    if kinds:
        return kinds
    if "properties" in schema:
        return ["object"]
    if "items" in schema:
        return ["array"]
    return [_kind_of(value) for value in _values(schema)[:1]]


def _kind_of(value: object) -> str:
    match value:
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case _:
            return "string"


def _values(schema: Mapping[str, Any]) -> list[Any]:
    values = schema.get("enum")
    if isinstance(values, list):
        return values
    return [schema["const"]] if "const" in schema else []


def _add_values(schema: Mapping[str, Any], kind: str, converted: Json) -> None:
    """The service knows lists of texts only, none of them empty; other values are told in the description."""
    values = [value for value in _values(schema) if value not in (None, "")]
    if not values or kind in ("object", "array"):
        return
    if kind == "string" and len(values) == len(_values(schema)):
        converted["enum"] = [str(value) for value in values]
        return
    shown = "One of: " + ", ".join(str(value) for value in _values(schema))
    converted["description"] = f"{converted['description']} {shown}" if "description" in converted else shown


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
