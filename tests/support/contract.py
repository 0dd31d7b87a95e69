"""Whether a value is exactly what the contract says: nothing missing, nothing undocumented."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from jsonschema_rs import Draft202012Validator

from rpc_agent.protocol import methods
from rpc_agent.protocol.json_schema import Shapes, shapes

EVERY_METHOD = {
    row.name: row for row in methods.MAIN_JOB + methods.SESSIONS + methods.CONTROL + methods.COMPACTION + methods.MODELS
}
"""All rows that are written, also those of groups that the server does not offer yet."""


@cache
def contract() -> Shapes:
    return shapes()


def misfits(schema: Mapping[str, Any], value: Any) -> list[str]:
    """What is wrong with `value`, in words; `schema` may refer to the contract's definitions."""
    return _errors(_validator_of(schema), value)


def _validator_of(schema: Mapping[str, Any]) -> Draft202012Validator:
    return Draft202012Validator({**schema, "$defs": _closed_definitions()})


@cache
def _closed_definitions() -> Mapping[str, Any]:
    return {name: _closed(each) for name, each in contract().definitions.items()}


def _errors(validator: Draft202012Validator, value: Any) -> list[str]:
    return [f"{'.'.join(map(str, error.instance_path))}: {error.message}" for error in validator.iter_errors(value)]


@cache
def _params_validator(name: str) -> Draft202012Validator:
    return _validator_of(contract().params[name])


@cache
def _result_validator(name: str) -> Draft202012Validator:
    return _validator_of(contract().results[name])


def params_misfits(name: str, params: Any) -> list[str]:
    """For methods, notifications (of both sides) and requests to the client, by name."""
    return _errors(_params_validator(name), params)


def result_misfits(name: str, result: Any) -> list[str]:
    """For methods and requests to the client, by name."""
    return _errors(_result_validator(name), result)


def _closed(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The contract leaves outgoing objects open for later versions; today's server sends what is written down."""
    return {"additionalProperties": False, **schema} if "properties" in schema else schema
