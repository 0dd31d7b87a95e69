"""Turns what a method gave into the bytes of its answer, whatever that was. Refuses to run handlers or to send.

Every request has an answer: a result or an error that cannot be encoded becomes internalError, its cause is logged.
"""

import logging
from typing import Any, Protocol

from rpc_agent.rpc import envelopes, errors
from rpc_agent.rpc.calls import Call
from rpc_agent.rpc.envelopes import Early, EncodeJson, JsonId, Params
from rpc_agent.rpc.errors import RpcError
from rpc_agent.rpc.json_text import NotSerialisable

_logger = logging.getLogger(__name__)


class Encoder(Protocol):
    """Whoever knows the best encoder at the time."""

    @property
    def encode(self) -> EncodeJson: ...


class Answers:
    """The answers of one peer."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def result(self, call: Call, result: Any) -> bytes:
        try:
            return envelopes.encode_result(call.id, result, self._encoder.encode)
        except NotSerialisable:
            _logger.exception("the result of %s has no JSON form", call.method)
            return self.error(call.id, errors.internal_error())

    def error(self, id: JsonId, error: RpcError) -> bytes:
        try:
            return envelopes.encode_error(id, error, self._encoder.encode)
        except NotSerialisable:
            _logger.exception("the data of the error %r has no JSON form", error.message)
            return envelopes.encode_error(id, errors.internal_error(), self._encoder.encode)

    def early(self, call: Call, method: Early, params: Params) -> bytes:
        """Run an early method and encode what comes of it."""
        try:
            return self.result(call, method(params))
        except RpcError as error:
            return self.error(call.id, error)
        except Exception:
            _logger.exception("%s failed", call.method)
            return self.error(call.id, errors.internal_error())
