from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpc_agent.providers.google_generative_ai.schema import parameters_for
from rpc_agent.providers.tool_schema import plain_object
from tests.support.strict_google import schema_faults


def converted(schema: dict[str, Any], **root: Any) -> dict[str, Any]:
    """A schema as the one property of a tool's parameters."""
    parameters = parameters_for({"type": "object", "properties": {"p": schema}, **root})
    assert parameters is not None
    return dict(parameters["properties"]["p"])


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string", "format": "uri", "minLength": 1}, {"type": "STRING", "minLength": 1}),
        ({"type": "string", "format": "date-time"}, {"type": "STRING", "format": "date-time"}),
        ({"type": ["string", "null"]}, {"type": "STRING", "nullable": True}),
        ({"type": ["string", "integer"]}, {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]}),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "d"}, {"type": "INTEGER", "description": "d", "nullable": True}),
        ({"oneOf": [{"type": "string"}, {"type": "boolean"}]}, {"anyOf": [{"type": "STRING"}, {"type": "BOOLEAN"}]}),
        ({"const": "x"}, {"type": "STRING", "enum": ["x"]}),
        ({"enum": [1, 2], "description": "d"}, {"type": "INTEGER", "description": "d One of: 1, 2"}),
        ({"type": "string", "enum": ["", "a"]}, {"type": "STRING", "description": "One of: , a"}),
        ({"type": "integer", "exclusiveMinimum": 0, "maximum": 9}, {"type": "INTEGER", "maximum": 9}),
        ({"type": "array"}, {"type": "ARRAY", "items": {"type": "STRING"}}),
        ({"items": {"type": "number"}, "uniqueItems": True}, {"type": "ARRAY", "items": {"type": "NUMBER"}}),
        ({"type": "object", "additionalProperties": {"type": "string"}}, {"type": "OBJECT"}),
        ({}, {"type": "STRING"}),
        ({"$ref": "#/$defs/Deep"}, {"type": "OBJECT", "properties": {"title": {"type": "STRING", "title": "T"}}, "required": ["title"]}),
        ({"allOf": [{"$ref": "#/$defs/Deep"}, {"properties": {"n": {"type": "integer"}}, "required": ["n", "gone"]}]},
         {"type": "OBJECT", "properties": {"title": {"type": "STRING", "title": "T"}, "n": {"type": "INTEGER"}}, "required": ["title", "n"]}),
    ],
)  # fmt: skip
def test_what_the_subset_lacks_is_put_another_way_or_left_out(schema: dict[str, Any], expected: dict[str, Any]) -> None:
    deep = {"type": "object", "properties": {"title": {"type": "string", "title": "T"}}, "required": ["title"]}
    assert converted(schema, **{"$defs": {"Deep": deep}}) == expected


def test_alternatives_at_the_top_become_one_object() -> None:
    by_id = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
    by_name = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    both = {"properties": {"dry": {"type": "boolean"}}, "required": ["dry"]}
    schema = {"anyOf": [{"$ref": "#/$defs/ById"}, by_name], "allOf": [both], "$defs": {"ById": by_id}}
    expected = {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "name": {"type": "string"}, "dry": {"type": "boolean"}},
        "required": ["dry"],
    }
    told = plain_object(schema)
    assert {name: told[name] for name in expected} == expected
    assert told.keys() - expected.keys() == {"$defs"}
    assert plain_object({"$ref": "#/$defs/ById", "$defs": {"ById": by_id}})["required"] == ["id"]
    assert plain_object(by_id) == by_id
    converted_all = parameters_for(schema)
    assert converted_all is not None
    assert (list(converted_all["properties"]), converted_all["required"]) == (["id", "name", "dry"], ["dry"])


def test_a_schema_that_refers_to_itself_ends_somewhere() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "self": {"$ref": "#/$defs/Self"}}}
    defs = {"Node": node, "Self": {"$ref": "#/$defs/Self"}}
    assert list(schema_faults(converted({"$ref": "#/$defs/Node"}, **{"$defs": defs}), "p")) == []


def test_a_tree_does_not_grow_with_each_level() -> None:
    node = {"type": "object", "properties": {side: {"$ref": "#/$defs/Node"} for side in ("left", "right")}}
    tree = {"type": "OBJECT", "properties": {side: {"type": "OBJECT"} for side in ("left", "right")}}
    assert converted({"$ref": "#/$defs/Node"}, **{"$defs": {"Node": node}}) == tree


def test_a_tool_without_parameters_has_none() -> None:
    assert parameters_for({"type": "object", "properties": {}, "additionalProperties": False}) is None
    assert parameters_for({}) is None


_KINDS = st.sampled_from(["string", "number", "integer", "boolean", "array", "object", "null", "file"])
_PLAIN = st.fixed_dictionaries(
    {},
    optional={
        "type": _KINDS | st.lists(_KINDS, max_size=3),
        "format": st.sampled_from(["uri", "date-time", "int32", "double"]),
        "enum": st.lists(st.none() | st.text(max_size=2) | st.integers() | st.booleans(), max_size=3),
        "const": st.text(max_size=2) | st.integers() | st.none(),
        "$ref": st.sampled_from(["#", "#/$defs/a", "#/$defs/gone", "elsewhere"]),
        "required": st.lists(st.sampled_from(["a", "b"])),
        "exclusiveMinimum": st.integers(),
        "minimum": st.integers(),
        "nullable": st.booleans(),
        "default": st.integers(),
        "$schema": st.text(max_size=2),
    },
)


def _nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    more = st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
            "items": inner,
            **{name: st.lists(inner, max_size=2) for name in ("anyOf", "oneOf", "allOf")},
        },
    )
    return st.builds(lambda plain, nested: {**plain, **nested}, _PLAIN, more)


_SCHEMAS = st.recursive(_PLAIN, _nested, max_leaves=6)


@given(_SCHEMAS, _SCHEMAS)
def test_whatever_goes_in_the_service_accepts_what_comes_out(
    schema: dict[str, Any], definition: dict[str, Any]
) -> None:
    parameters = parameters_for({"type": "object", "properties": {"a": schema}, "$defs": {"a": definition}})
    assert parameters is not None
    assert list(schema_faults(parameters, "tool")) == []
