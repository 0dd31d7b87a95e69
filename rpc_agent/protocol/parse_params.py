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
        return method.params.model_validate(named, by_alias=True, by_name=False)
    except ValidationError as error:
        raise InvalidParams(method.name, faults(error, named, method.params)) from None


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
