"""The OpenRPC document of the tables. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rpc_agent.protocol.advertised import PROTOCOL_VERSION
from rpc_agent.protocol.client_requests import CLIENT_REQUESTS
from rpc_agent.protocol.error_codes import COMMON_REASONS, ERRORS, SESSION_REASONS, ErrorCode
from rpc_agent.protocol.example_messages import Examples
from rpc_agent.protocol.json_schema import Shapes
from rpc_agent.protocol.method import ClientNotification, Method
from rpc_agent.protocol.methods import CLIENT_NOTIFICATIONS, METHODS
from rpc_agent.protocol.notifications import NOTIFICATIONS
from rpc_agent.protocol.wire_model import JsonObject

_ABOUT = (
    "A coding agent that other programs embed: JSON-RPC 2.0 over stdin and stdout, one message a line or with "
    "Content-Length headers. Methods without a result are notifications from the client. x-notifications are those "
    "from the server, x-serverRequests its requests to a client that offered the capability. Params of every method "
    "may hold _meta, which is ignored; other unknown params are invalidParams."
)


def openrpc_document(shapes: Shapes, examples: Examples) -> JsonObject:
    """OpenRPC 1.3: methods by name, schemas and errors as components."""
    document = {
        "openrpc": "1.3.2",
        "info": {
            "title": "rpc-agent",
            "version": str(PROTOCOL_VERSION),
            "description": _ABOUT,
            "license": {"name": "MIT"},
        },
        "methods": [
            *(_method(row, shapes, examples) for row in METHODS.values()),
            *(_client_notification(row, shapes, examples) for row in CLIENT_NOTIFICATIONS.values()),
        ],
        "components": {
            "schemas": dict(shapes.definitions),
            "errors": {reason: _error(row) for reason, row in ERRORS.items()},
        },
        "x-notifications": list(_notifications(shapes, examples)),
        "x-serverRequests": list(_server_requests(shapes, examples)),
    }
    pointed: JsonObject = _point_to_components(document)
    return pointed


def _method(row: Method, shapes: Shapes, examples: Examples) -> JsonObject:
    params = _params(shapes.params[row.name], shapes.definitions, row.positional)
    return {
        "name": row.name,
        "summary": row.summary,
        "paramStructure": "either" if row.positional else "by-name",
        "params": params,
        "result": {"name": "result", "schema": shapes.results[row.name]},
        "errors": [{"$ref": f"#/components/errors/{reason}"} for reason in _reasons(row)],
        "examples": [_example(row.name, each["params"], each["result"]) for each in examples.methods.get(row.name, ())],
        "x-ordering": row.ordering,
        "x-scope": row.scope,
        "x-since": row.since,
    }


def _client_notification(row: ClientNotification, shapes: Shapes, examples: Examples) -> JsonObject:
    return {
        "name": row.name,
        "summary": row.summary,
        "paramStructure": "by-name",
        "params": _params(shapes.params[row.name], shapes.definitions, ()),
        "examples": [_told(row.name, params) for params in examples.client_notifications.get(row.name, ())],
    }


def _params(reference: JsonObject, definitions: Mapping[str, JsonObject], first: tuple[str, ...]) -> list[JsonObject]:
    """Content descriptors: those with a position, then the required ones, then the rest."""
    shape = definitions[reference["$ref"].rpartition("/")[2]]
    properties: Mapping[str, JsonObject] = shape["properties"]
    required = shape.get("required", [])
    names = dict.fromkeys((*first, *required, *properties))
    return [_descriptor(name, properties[name], name in required) for name in names if name != "_meta"]


def _descriptor(name: str, schema: JsonObject, required: bool) -> JsonObject:
    bare = {key: value for key, value in schema.items() if key != "description"}
    return {"name": name, "description": schema.get("description", ""), "required": required, "schema": bare}


def _reasons(row: Method) -> Iterable[str]:
    """Each reason once: the method's own, then those that every such method has."""
    session = SESSION_REASONS if row.scope == "session" else ()
    return dict.fromkeys((*row.errors, *session, *COMMON_REASONS))


def _error(row: ErrorCode) -> JsonObject:
    """`data` has the reason as on the wire; the rest tells about it and is not sent."""
    about = {"reason": row.reason, "retryable": row.retryable, "action": row.action, "fields": dict(row.data)}
    return {"code": row.code, "message": row.when, "data": about}


def _example(name: str, params: JsonObject, result: Any) -> JsonObject:
    return {**_told(name, params), "result": {"name": "result", "value": result}}


def _told(name: str, params: JsonObject) -> JsonObject:
    return {"name": name, "params": [{"name": key, "value": value} for key, value in params.items()]}


def _notifications(shapes: Shapes, examples: Examples) -> Iterator[JsonObject]:
    for name, row in NOTIFICATIONS.items():
        yield {
            "name": name,
            "summary": row.summary,
            "params": shapes.params[name],
            "examples": list(examples.notifications.get(name, ())),
            "x-since": row.since,
        }


def _server_requests(shapes: Shapes, examples: Examples) -> Iterator[JsonObject]:
    for name, row in CLIENT_REQUESTS.items():
        yield {
            "name": name,
            "summary": row.summary,
            "params": shapes.params[name],
            "result": shapes.results[name],
            "capability": row.capability,
            "timeoutSeconds": row.timeout,
            "withoutAnswer": row.safe_default,
            "examples": list(examples.client_requests.get(name, ())),
            "x-since": row.since,
        }


def _point_to_components(value: Any) -> Any:
    match value:
        case {"$ref": str(target), **rest} if target.startswith("#/$defs/"):
            return {"$ref": target.replace("#/$defs/", "#/components/schemas/"), **_point_to_components(rest)}
        case dict():
            return {key: _point_to_components(each) for key, each in value.items()}
        case list():
            return [_point_to_components(each) for each in value]
        case _:
            return value
