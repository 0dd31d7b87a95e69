"""What a message is: request, notification, response, batch, or invalid with the answer it deserves.

Pure. Knows the shape of JSON-RPC 2.0 and nothing of methods, transports or time.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeGuard

from rpc_agent.nesting import is_deeper, may_be_deeper
from rpc_agent.rpc import json_text
from rpc_agent.rpc.errors import RpcError, invalid_params, invalid_request, parse_error

JsonId = str | int | float | None
Params = dict[str, Any] | list[Any]
EncodeJson = Callable[[Any], bytes]
Early = Callable[[Params], Any]
"""A method that needs nothing loaded: params in, result out, RpcError for a refusal."""


class Request(NamedTuple):
    id: JsonId
    method: str
    params: Params


class Notification(NamedTuple):
    method: str
    params: Params


class Response(NamedTuple):
    """An answer to one of our requests; `error` is its error object, or None when it succeeded."""

    id: Any
    result: Any
    error: Any


class Invalid(NamedTuple):
    """A message that is answered with an error, whatever its method; `id` is null where none could be read."""

    id: JsonId
    error: RpcError


class Ignored(NamedTuple):
    """A notification with a fault. It is never answered, so there is nobody to tell but the log."""

    error: RpcError


Item = Request | Notification | Response | Invalid | Ignored


class Batch(NamedTuple):
    items: list[Item]


class Encoded(NamedTuple):
    """A result, or the params of a notification, that is JSON already: a big one is not parsed to be written again."""

    fragment: bytes


_MOST_LEVELS = 512
"""Python reads and writes nearly a thousand. What comes in goes out again inside of something, and from deep calls."""


def parse(message: bytes) -> Item | Batch:
    """Classify one message. Never raises: bad input is an `Invalid`."""
    try:
        value = json_text.decode(message)
    except json_text.NotJson as error:
        return Invalid(None, parse_error(str(error)))
    if may_be_deeper(message, _MOST_LEVELS) and is_deeper(value, _MOST_LEVELS):
        return Invalid(None, parse_error("nested too deeply"))
    if not isinstance(value, list):
        return classify(value)
    if not value:
        return Invalid(None, invalid_request("an empty batch"))
    return Batch([classify(item) for item in value])


def classify(value: Any) -> Item:
    """One message that is JSON already, or one item of a batch."""
    if not isinstance(value, dict):
        return Invalid(None, invalid_request("a message is an object"))
    has_id = "id" in value
    id = value.get("id")
    if "method" not in value and ("result" in value or "error" in value):
        # Before any other check: answering an answer could go on for ever.
        return Response(id, value.get("result"), value.get("error"))
    if not _is_id(id):
        return Invalid(None, invalid_request("id is a string, a number or null"))
    if value.get("jsonrpc", "2.0") != "2.0":
        return Invalid(id, invalid_request('jsonrpc is "2.0"'))
    method, params = value.get("method"), value.get("params", {})
    if not isinstance(method, str):
        return Invalid(id, invalid_request("method is a string"))
    if not isinstance(params, dict | list):
        error = invalid_params("", "an object or an array is expected")
        return Invalid(id, error) if has_id else Ignored(error)
    return Request(id, method, params) if has_id else Notification(method, params)


def encode_result(id: JsonId, result: Any, encode: EncodeJson = json_text.encode) -> bytes:
    """The answer of a request that succeeded. Raises NotSerialisable."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (encode(id), _fragment(result, encode))


def encode_error(id: JsonId, error: RpcError, encode: EncodeJson = json_text.encode) -> bytes:
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (encode(id), encode(error.to_object()))


def encode_request(id: int, method: str, params: Any, encode: EncodeJson = json_text.encode) -> bytes:
    head = (encode(id), encode(method), _fragment(params, encode))
    return b'{"jsonrpc":"2.0","id":%b,"method":%b,"params":%b}' % head


def encode_notification(method: str, params: Any, encode: EncodeJson = json_text.encode) -> bytes:
    return b'{"jsonrpc":"2.0","method":%b,"params":%b}' % (encode(method), _fragment(params, encode))


def encode_batch(answers: list[bytes]) -> bytes:
    return b"[%b]" % b",".join(answers)


def _fragment(value: Any, encode: EncodeJson) -> bytes:
    return value.fragment if isinstance(value, Encoded) else encode(value)


def _is_id(id: Any) -> TypeGuard[JsonId]:
    # bool is an int to Python, and no id to JSON-RPC.
    return id is None or (isinstance(id, str | int | float) and not isinstance(id, bool))
