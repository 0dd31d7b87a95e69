"""All wire shapes as JSON Schema 2020-12: one definition a shape, described for the authors of clients."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from rpc_agent.protocol import (
    client_requests,
    compaction,
    content,
    entries,
    handshake,
    history,
    messages,
    models,
    run_events,
    runs,
    session_events,
    sessions,
    settings,
    tree,
    wire_model,
)
from rpc_agent.protocol.client_requests import CLIENT_REQUESTS
from rpc_agent.protocol.descriptions import Described, read_descriptions
from rpc_agent.protocol.methods import CLIENT_NOTIFICATIONS, METHODS
from rpc_agent.protocol.notifications import NOTIFICATIONS
from rpc_agent.protocol.wire_model import JsonObject, to_camel

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_MODULES = (
    wire_model,
    content,
    messages,
    entries,
    handshake,
    models,
    settings,
    sessions,
    history,
    runs,
    compaction,
    tree,
    run_events,
    session_events,
    client_requests,
)


class Shapes(Struct, frozen=True):
    """`definitions` by name; `params` and `results` of everything that has a name on the wire, mostly references."""

    definitions: Mapping[str, JsonObject]
    params: Mapping[str, JsonObject]
    results: Mapping[str, JsonObject]
    session_file_line: JsonObject


class _Generator(GenerateJsonSchema):
    """Without the titles that pydantic makes of field names."""

    schema_dialect = DIALECT

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def shapes() -> Shapes:
    """Everything the tables speak of."""
    adapters: dict[str, Any] = {"line": entries.SessionFileLine}
    for table in (METHODS, CLIENT_NOTIFICATIONS, NOTIFICATIONS, CLIENT_REQUESTS):
        adapters |= {f"params {name}": row.params for name, row in table.items()}
    for answered in (METHODS, CLIENT_REQUESTS):
        adapters |= {f"result {name}": row.result for name, row in answered.items()}
    found, rest = TypeAdapter.json_schemas(
        [(key, "validation", TypeAdapter(shape)) for key, shape in adapters.items()],
        schema_generator=_Generator,
    )
    texts = read_descriptions(_MODULES)
    nothing = Described("")
    definitions = {name: _polish(schema, texts.get(name, nothing)) for name, schema in sorted(rest["$defs"].items())}
    by_key = {key: _polish(schema, nothing) for (key, _), schema in found.items()}
    return Shapes(definitions, _part(by_key, "params "), _part(by_key, "result "), by_key["line"])


def _part(by_key: Mapping[str, JsonObject], prefix: str) -> dict[str, JsonObject]:
    return {key.removeprefix(prefix): schema for key, schema in by_key.items() if key.startswith(prefix)}


def _polish(schema: JsonObject, texts: Described) -> JsonObject:
    """`schema` with our descriptions, without what only pydantic or OpenAPI would understand."""
    polished = _plain({key: value for key, value in schema.items() if key not in ("title", "description")})
    if "properties" in polished:
        polished["properties"] = {name: _property(each) for name, each in polished["properties"].items()}
        _describe(polished["properties"], texts.fields)
    return {"description": texts.text, **polished} if texts.text else polished


def _plain(value: Any) -> Any:
    """JSON Schema has no `discriminator`; the constants of the branches say the same."""
    match value:
        case {"discriminator": {"mapping": _}, **rest}:
            return _plain(rest)
        case dict():
            return {key: _plain(each) for key, each in value.items()}
        case list():
            return [_plain(each) for each in value]
        case _:
            return value


def _property(schema: JsonObject) -> JsonObject:
    """An optional parameter takes null for "absent"; the contract only shows the plain way, to leave it out."""
    null_is_a_value = schema.pop("x-null", False)
    if "default" not in schema:
        return schema
    del schema["default"]
    branches = [each for each in schema.get("anyOf", []) if each != {"type": "null"}]
    if not branches or null_is_a_value:
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**branches[0], **rest} if len(branches) == 1 else {"anyOf": branches, **rest}


def _describe(properties: dict[str, JsonObject], fields: Mapping[str, str]) -> None:
    for field, text in fields.items():
        for name in (field, to_camel(field), f"_{field}"):
            if name in properties:
                properties[name] = {**properties[name], "description": text}


def reachable(schema: JsonObject, definitions: Mapping[str, JsonObject]) -> dict[str, JsonObject]:
    """The definitions that `schema` needs, sorted by name."""
    needed: set[str] = set()
    waiting = list(references(schema))
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting.extend(references(definitions[name]))
    return {name: definitions[name] for name in sorted(needed)}


def references(value: Any) -> Iterator[str]:
    """Names of the definitions that a schema refers to."""
    match value:
        case {"$ref": str(target), **rest}:
            yield target.rpartition("/")[2]
            yield from references(rest)
        case dict():
            for each in value.values():
                yield from references(each)
        case list():
            for each in value:
                yield from references(each)
