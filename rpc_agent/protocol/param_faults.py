"""What pydantic found wrong -> {path, message} in words for people. Pure; shows no value: it may be a secret."""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails


class Fault(TypedDict):
    path: str
    """Dotted, array indexes from 0, such as images.0.mimeType; empty for the params as a whole."""
    message: str
    """Continues the path: "must be a string, not a number"."""


Path = tuple[str | int, ...]

_EXPECTED = {
    "string_type": "a string",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "an array",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "none_required": "null",
}
"""Kinds of error that only say which type was expected, so that those of a union can be told together."""


def faults(error: ValidationError, params: Mapping[str, Any], model: type[BaseModel]) -> list[Fault]:
    """Everything wrong with `params`, one fault a place, in pydantic's order."""
    found: dict[Path, list[ErrorDetails]] = {}
    for detail in error.errors(include_url=False):
        found.setdefault(_path(detail, params), []).append(detail)
    places = [path for path in found if not _is_told_deeper(path, found)]
    return [{"path": ".".join(map(str, path)), "message": _message(path, found[path], model)} for path in places]


def in_words(found: Sequence[Fault]) -> str:
    """The first two in one sentence: what is missing is often there under a name that is not known."""
    told = (f"{fault['path']} {fault['message']}".lstrip() for fault in found[:2])
    rest = len(found) - 2
    return ", and ".join(told) + (f" ({rest} more)" if rest > 0 else "")


def _path(detail: ErrorDetails, params: Mapping[str, Any]) -> Path:
    """Where in `params` it is: pydantic's location without the steps that name a branch of a union."""
    path: list[str | int] = []
    here: Any = params
    for step in detail["loc"]:
        if _leads_on(here, step):
            here = here[step]
            path.append(step)
    if detail["type"] == "missing":
        path.append(detail["loc"][-1])
    elif detail["type"].startswith("union_tag_"):
        path.append(str(detail["ctx"]["discriminator"]).strip("'"))
    return tuple(path)


def _leads_on(here: Any, step: str | int) -> bool:
    if isinstance(here, list):
        return isinstance(step, int) and step < len(here)
    return isinstance(here, Mapping) and step in here


def _is_told_deeper(path: Path, found: Mapping[Path, Sequence[ErrorDetails]]) -> bool:
    """Of a union that fails in every branch, only the branch that came furthest is of interest."""
    only_types = all(detail["type"] in _EXPECTED for detail in found[path])
    return only_types and any(len(other) > len(path) and other[: len(path)] == path for other in found)


def _message(path: Path, details: Sequence[ErrorDetails], model: type[BaseModel]) -> str:
    expected = list(dict.fromkeys(_EXPECTED[detail["type"]] for detail in details if detail["type"] in _EXPECTED))
    if expected:
        return f"must be {' or '.join(expected)}, not {_json_type(details[0]['input'])}"
    return _told(path, details[0], model)


def _told(path: Path, detail: ErrorDetails, model: type[BaseModel]) -> str:
    context = detail.get("ctx", {})
    match detail["type"]:
        case "missing" | "union_tag_not_found":
            return "is missing"
        case "extra_forbidden":
            return "is not known here" + _did_you_mean(path, model)
        case "literal_error":
            return f"must be {_words(context['expected'])}"
        case "union_tag_invalid":
            return f"must be {_words(context['expected_tags'])}"
        case "string_too_short":
            return "must not be empty"
        case "greater_than_equal":
            return f"must be at least {context['ge']:g}"
        case "greater_than":
            return f"must be greater than {context['gt']:g}"
        case "value_error":
            return str(context["error"])
        case _:
            return detail["msg"].replace("Input should be", "must be")


def _words(expected: str) -> str:
    """pydantic's 'a', 'b' or 'c' (or, of tags, without the or) with the quotes of JSON."""
    words = expected.replace(" or ", ", ").replace("'", '"').split(", ")
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _did_you_mean(path: Path, model: type[BaseModel]) -> str:
    if len(path) != 1:
        return ""
    given, names = str(path[0]), [field.alias or name for name, field in model.model_fields.items()]
    near = difflib.get_close_matches(given, names, n=1)
    # As sessionId is elsewhere what is id here, and path what is outputPath.
    near = near or [name for name in names if _ends_alike(given.lower(), name.lower())]
    return f"; did you mean {near[0]}?" if near else ""


def _ends_alike(one: str, other: str) -> bool:
    return one.endswith(other) or other.endswith(one)


def _json_type(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case float():
            return "a fraction"
        case int():
            return "a number"
        case str():
            return "a string"
        case list() | tuple():
            return "an array"
        case _:
            return "an object"
