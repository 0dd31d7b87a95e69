from typing import Any

import pytest

from rpc_agent.tools.arguments import Fitted, fit_arguments

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1},
        "limit": {"type": "integer", "minimum": 1, "maximum": 9},
        "timeout": {"type": "number", "exclusiveMinimum": 0},
        "literal": {"type": "boolean"},
        "mode": {"enum": ["a", "b"]},
        "either": {"type": ["string", "null"]},
        "edits": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "object", "properties": {"old": {"type": "string"}}, "required": ["old"]},
        },
    },
    "required": ["path"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("given", "fitted"),
    [
        ({"path": "x"}, {"path": "x"}),
        (
            {"path": "x", "limit": "3", "timeout": " 1.5 ", "literal": "True"},
            {"path": "x", "limit": 3, "timeout": 1.5, "literal": True},
        ),
        ({"path": "x", "limit": 3.0}, {"path": "x", "limit": 3}),
        ({"path": "x", "limit": None, "either": None}, {"path": "x", "either": None}),
        ({"path": 7}, {"path": "7"}),
        ({"path": "x", "edits": '[{"old": "o"}]'}, {"path": "x", "edits": [{"old": "o"}]}),
        ({"path": "x", "edits": '{"old": "o"}'}, {"path": "x", "edits": [{"old": "o"}]}),
        ({"path": "x", "edits": {"old": 5}}, {"path": "x", "edits": [{"old": "5"}]}),
        ('{"path": "x"}', {"path": "x"}),
    ],
)
def test_slips_that_models_make_are_forgiven(given: Any, fitted: dict[str, Any]):
    assert fit_arguments(SCHEMA, given) == Fitted(fitted, ())


@pytest.mark.parametrize(
    ("given", "problems"),
    [
        (None, ["path is missing"]),
        ([], ["arguments must be an object, got []"]),
        ({"path": ""}, ["path must not be empty"]),
        ({"path": None}, ["path must be a string, got null"]),
        ({"path": True}, ["path must be a string, got true"]),
        ({"path": "x", "limit": 0}, ["limit must be at least 1, got 0"]),
        ({"path": "x", "limit": "many"}, ['limit must be a whole number, got "many"']),
        ({"path": "x", "limit": 1.5}, ["limit must be a whole number, got 1.5"]),
        ({"path": "x", "limit": 10}, ["limit must be at most 9, got 10"]),
        ({"path": "x", "timeout": 0}, ["timeout must be more than 0, got 0"]),
        ({"path": "x", "timeout": float("nan")}, ["timeout must be a number, got NaN"]),
        ({"path": "x", "timeout": "1e999"}, ['timeout must be a number, got "1e999"']),
        ({"path": "x", "mode": "c"}, ['mode must be one of "a", "b", got "c"']),
        ({"path": "x", "edits": []}, ["edits must have at least 1 item(s)"]),
        ({"path": "x", "edits": [{"old": "o"}, {}]}, ["edits[1].old is missing"]),
        (
            {"path": "x", "file": "y"},
            ["file is not an argument of this tool; allowed here: path, limit, timeout, literal, mode, either, edits"],
        ),
    ],
)
def test_what_cannot_be_meant_is_named_with_its_place(given: Any, problems: list[str]):
    assert list(fit_arguments(SCHEMA, given).problems) == problems


def test_deeply_nested_text_is_refused_and_not_followed():
    assert fit_arguments(SCHEMA, {"path": "x", "edits": "[" * 100_000}).problems != ()


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"x": True}},
        {"properties": 5, "required": 5},
        {"properties": {"x": {"minimum": "1", "exclusiveMinimum": True, "maximum": None}}},
        {"properties": {"x": {"enum": None}}, "required": [["x"], "x"]},
        {"properties": {"x": {"type": [{}, "integer"]}}},
        {"type": None},
    ],
)
def test_what_a_foreign_schema_says_wrongly_it_does_not_say(schema: dict[str, Any]):
    assert fit_arguments(schema, {"x": 1}) == Fitted({"x": 1}, ())
