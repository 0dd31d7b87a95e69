"""The rules of an OpenRPC 1.3 document that ours uses, as JSON Schema 2020-12. Written from the specification's text."""

from typing import Any

_EXTENSIONS = {"^x-": True}
_REFERENCE = {
    "type": "object",
    "required": ["$ref"],
    "properties": {"$ref": {"type": "string", "pattern": "^#/components/"}},
    "additionalProperties": False,
}
_SCHEMA = {"$ref": "https://json-schema.org/draft/2020-12/schema"}
_DESCRIPTOR = {
    "type": "object",
    "required": ["name", "schema"],
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "summary": {"type": "string"},
        "description": {"type": "string"},
        "required": {"type": "boolean"},
        "deprecated": {"type": "boolean"},
        "schema": _SCHEMA,
    },
    "patternProperties": _EXTENSIONS,
    "additionalProperties": False,
}
_ERROR = {
    "type": "object",
    "required": ["code", "message"],
    "properties": {"code": {"type": "integer"}, "message": {"type": "string"}, "data": True},
    "additionalProperties": False,
}
_EXAMPLE = {
    "type": "object",
    "required": ["name", "value"],
    "properties": {"name": {"type": "string", "minLength": 1}, "value": True},
    "additionalProperties": False,
}
_METHOD = {
    "type": "object",
    "required": ["name", "params"],
    "properties": {
        "name": {"type": "string", "minLength": 1, "not": {"pattern": "^rpc\\."}},
        "summary": {"type": "string"},
        "description": {"type": "string"},
        "paramStructure": {"enum": ["by-name", "by-position", "either"]},
        "params": {"type": "array", "items": {"oneOf": [_DESCRIPTOR, _REFERENCE]}},
        "result": {"oneOf": [_DESCRIPTOR, _REFERENCE]},
        "errors": {"type": "array", "items": {"oneOf": [_ERROR, _REFERENCE]}},
        "examples": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name", "params"],
                "properties": {
                    "name": {"type": "string", "minLength": 1},
                    "params": {"type": "array", "items": _EXAMPLE},
                    "result": _EXAMPLE,
                },
                "additionalProperties": False,
            },
        },
        "deprecated": {"type": "boolean"},
    },
    "patternProperties": _EXTENSIONS,
    "additionalProperties": False,
}

OPENRPC_META_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["openrpc", "info", "methods"],
    "properties": {
        "openrpc": {"type": "string", "pattern": "^1\\.3\\.\\d+$"},
        "info": {
            "type": "object",
            "required": ["title", "version"],
            "properties": {
                "title": {"type": "string"},
                "version": {"type": "string"},
                "description": {"type": "string"},
                "license": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "url": {"type": "string"}},
                    "additionalProperties": False,
                },
            },
            "patternProperties": _EXTENSIONS,
            "additionalProperties": False,
        },
        "methods": {"type": "array", "minItems": 1, "items": _METHOD},
        "components": {
            "type": "object",
            "properties": {
                "schemas": {"type": "object", "additionalProperties": _SCHEMA},
                "errors": {"type": "object", "additionalProperties": _ERROR},
            },
            "additionalProperties": False,
        },
    },
    "patternProperties": _EXTENSIONS,
    "additionalProperties": False,
}
