"""The top level of a tool's JSON Schema as one plain object, which several services insist on. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from rpc_agent.conversation.json_values import as_object, as_text

_COMBINING = ("anyOf", "oneOf", "allOf", "$ref")


def plain_object(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema itself where it is one. Of alternatives all properties are told and none is required that is not
    required by all: the tool checks its arguments itself."""
    own = {name: value for name, value in schema.items() if name not in _COMBINING}
    base = {"type": "object", "properties": {}, **own}
    if len(own) == len(schema):
        return base
    loose = [
        {**_found(schema, choice), "required": []} for name in ("anyOf", "oneOf") for choice in _list(schema, name)
    ]
    strict = [_found(schema, part) for part in _list(schema, "allOf")]
    strict += [target_of(schema, as_text(schema["$ref"]))] if "$ref" in schema else []
    told = merged(
        {name: part[name] for name in ("properties", "required") if name in part} for part in (*loose, *strict, base)
    )
    return {**base, **told}


def merged(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Several schemas that hold at once, as one: properties and required names together, else the later one wins."""
    whole: dict[str, Any] = {}
    for part in parts:
        properties = {**as_object(whole.get("properties")), **as_object(part.get("properties"))}
        required = [*_list(whole, "required"), *_list(part, "required")]
        whole |= part
        if properties:
            whole["properties"] = properties
        if required:
            whole["required"] = list(dict.fromkeys(required))
    return whole


def target_of(root: Mapping[str, Any], reference: str) -> Mapping[str, Any]:
    """What a reference into `root` points at; empty for one that leads elsewhere or nowhere."""
    place: object = root if reference.startswith("#") else {}
    for name in reference.removeprefix("#").split("/")[1:]:
        place = as_object(place).get(name.replace("~1", "/").replace("~0", "~"))
    return as_object(place)


def _found(root: Mapping[str, Any], raw: object) -> Mapping[str, Any]:
    part = as_object(raw)
    return target_of(root, as_text(part["$ref"])) if "$ref" in part else part


def _list(schema: Mapping[str, Any], name: str) -> list[Any]:
    value = schema.get(name)
    return value if isinstance(value, list) else []
