"""Params of a request -> the method's model, or an error that tells a person what to mend. Knows no method."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from rpc_agent.errors import RequestError
from rpc_agent.protocol.method import Method
from rpc_agent.protocol.param_faults import Fault, faults, in_words
from rpc_agent.protocol.wire_model import WireModel


class InvalidParams(RequestError):
    """`errors` is a list of {"path", "message"}, at least one; a path is like images.0.mimeType, or empty."""

    def __init__(self, method: str, errors: Sequence[Fault]) -> None:
        super().__init__(f"{method}: {in_words(errors)}", errors=list(errors))
        self.errors = list(errors)


def parse_params(method: Method, params: Mapping[str, Any] | Sequence[Any] | None) -> WireModel:
    """The model of what the client sent; `params` None means that it sent none. Raises InvalidParams."""
    named = _by_name(method, params)
    try:
        return _validated(method, named)
    except ValidationError as error:
        whole = _whole_numbers(error)
        if not whole:
            raise InvalidParams(method.name, faults(error, named, method.params)) from None
    try:
        return _validated(method, {**named, **whole})
    except ValidationError as error:
        raise InvalidParams(method.name, faults(error, named, method.params)) from None


def _validated(method: Method, named: Mapping[str, Any]) -> WireModel:
    return method.params.model_validate(named, by_alias=True, by_name=False)


def _whole_numbers(error: ValidationError) -> dict[str, int]:
    """Params where a whole number is due and one came with a point, by name: 5000.0 is 5 times 1000 in many languages.

    JSON has one kind of number, and to its schemas 5000.0 is an integer.
    """
    return {
        str(detail["loc"][0]): int(detail["input"])
        for detail in error.errors(include_url=False)
        if detail["type"] == "int_type" and len(detail["loc"]) == 1 and _is_whole(detail["input"])
    }


def _is_whole(value: object) -> bool:
    return isinstance(value, float) and value.is_integer()


def _by_name(method: Method, params: Mapping[str, Any] | Sequence[Any] | None) -> Mapping[str, Any]:
    match params:
        case None:
            return {}
        case Mapping():
            return params
        case [*values]:
            if len(values) > len(method.positional):
                raise InvalidParams(method.name, [{"path": "", "message": _too_many(method)}])
            return dict(zip(method.positional, values, strict=False))
        case _:
            raise InvalidParams(method.name, [{"path": "", "message": "must be an object or an array"}])


def _too_many(method: Method) -> str:
    if not method.positional:
        return "takes its parameters by name: send an object"
    return f"takes at most {len(method.positional)} parameters by position: {', '.join(method.positional)}"
