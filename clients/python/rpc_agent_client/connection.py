"""One JSON-RPC 2.0 connection, seen from the client: who waits for which answer, and who hears what.

Bytes come in by `receive`, messages go out by the function given. Knows no process and no method of the agent.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Generator
from typing import Any

from rpc_agent_client.errors import ClientError, MessageTooLarge, ProtocolViolation, RequestTimedOut, RpcError
from rpc_agent_client.framing import FramingName, encode, make_decoder
from rpc_agent_client.messages import JsonObject, Notification, from_bytes, to_bytes
from rpc_agent_client.subscription import DEFAULT_MAX_BUFFERED, Subscription

Handler = Callable[[JsonObject], Any]
"""Answers a request of the server: takes its params, returns the result or an awaitable of it."""
Callback = Callable[[Notification], object]

ANY = "*"
# What every server reads unless it was started with another --max-message-bytes; `initialize` tells the true one.
_DEFAULT_MAX_MESSAGE_BYTES = 64 * 1024 * 1024
_METHOD_NOT_FOUND, _INTERNAL_ERROR, _REQUEST_CANCELLED = -32601, -32603, -32800


class Call:
    """A request on its way. Await it for the result; `cancel` asks the server to stop, and its answer still comes."""

    def __init__(self, connection: "Connection", call_id: int, method: str) -> None:
        self.id, self.method = call_id, method
        self.answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        # A call that nobody awaits may fail without a warning: whoever cares awaits it.
        self.answer.add_done_callback(lambda answer: answer.cancelled() or answer.exception())
        self._connection = connection

    def __await__(self) -> Generator[Any, None, Any]:
        return self.answer.__await__()

    def cancel(self) -> None:
        if not self.answer.done():
            self._connection.notify("$/cancelRequest", {"id": self.id})


class Connection:
    def __init__(self, write: Callable[[bytes], None], framing: FramingName) -> None:
        self._write, self._framing = write, framing
        self._decoder = make_decoder(framing)
        self._last_id = 0
        self._calls: dict[int, Call] = {}
        self._subscriptions: list[Subscription] = []
        self._callbacks: dict[str, list[Callback]] = {}
        self._handlers: dict[str, Handler] = {}
        self._answering: dict[str, asyncio.Task[None]] = {}
        self._ended: ClientError | None = None
        self.max_message_bytes = _DEFAULT_MAX_MESSAGE_BYTES
        self.on_traffic: Callable[[str, bytes], None] | None = None

    # Asking.

    def start(self, method: str, params: JsonObject) -> Call:
        """Send a request. Raises MessageTooLarge, or what ended the connection."""
        if self._ended is not None:
            raise self._ended
        self._last_id += 1
        call = Call(self, self._last_id, method)
        self._send({"jsonrpc": "2.0", "id": call.id, "method": method, "params": params})
        self._calls[call.id] = call
        return call

    async def request(self, method: str, params: JsonObject, timeout: float | None) -> Any:
        """The result. A caller that is cancelled, or whose time is over, has the request cancelled at the server."""
        call = self.start(method, params)
        try:
            async with asyncio.timeout(timeout) as limit:
                return await call.answer
        except (TimeoutError, asyncio.CancelledError) as stopped:
            if self._calls.pop(call.id, None) is not None and self._ended is None:
                self._send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": call.id}})
            if isinstance(stopped, TimeoutError) and limit.expired():
                raise RequestTimedOut(method, timeout or 0.0) from None
            raise

    def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification; nothing happens when the connection has ended."""
        if self._ended is None:
            self._send({"jsonrpc": "2.0", "method": method, "params": params})

    # Listening.

    def subscribe(self, methods: frozenset[str], session_id: str | None, max_buffered: int | None) -> Subscription:
        limit = DEFAULT_MAX_BUFFERED if max_buffered is None else max_buffered
        subscription = Subscription(methods, session_id, limit, self._unsubscribe)
        if self._ended is not None:
            subscription._end(self._ended)
        self._subscriptions.append(subscription)
        return subscription

    def on(self, method: str, callback: Callback) -> Callable[[], None]:
        callbacks = self._callbacks.setdefault(method, [])
        callbacks.append(callback)
        return lambda: callbacks.remove(callback) if callback in callbacks else None

    def handle(self, method: str, handler: Handler) -> None:
        self._handlers[method] = handler

    def _unsubscribe(self, subscription: Subscription) -> None:
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)

    # What comes in.

    def receive(self, chunk: bytes) -> None:
        """Take bytes of the server. Raises ProtocolViolation; the connection is of no use after that."""
        for body in self._decoder.feed(chunk):
            self._tell_traffic("received", body)
            value = from_bytes(body)
            for message in value if isinstance(value, list) else [value]:
                if not isinstance(message, dict):
                    raise ProtocolViolation("the server wrote something that is not a JSON-RPC message", body)
                self._route(message)

    def end(self, error: ClientError, *, expected: bool = False) -> None:
        """Nothing more will come: every waiter gets `error`; iterators end quietly when the end was `expected`."""
        if self._ended is not None:
            return
        self._ended = error
        calls, self._calls = list(self._calls.values()), {}
        for call in calls:
            if not call.answer.done():
                call.answer.set_exception(error)
        for subscription in self._subscriptions:
            subscription._end(None if expected else error)
        for task in self._answering.values():
            task.cancel()

    def _route(self, message: JsonObject) -> None:
        method = message.get("method")
        if method is None:
            self._take_answer(message)
        elif "id" in message:
            self._answer(str(method), message)
        elif method in ("$/cancelRequest", "$/cancel_request"):
            self._cancel_answering(_params(message))
        else:
            self._announce(Notification(str(method), _params(message)))

    def _take_answer(self, message: JsonObject) -> None:
        call = self._find_call(message.get("id"))
        if call is None or call.answer.done():
            return  # An answer that nobody waits for any more: its caller was cancelled, or ran out of time.
        if (error := message.get("error")) is not None:
            call.answer.set_exception(_rpc_error(error))
        else:
            call.answer.set_result(message.get("result"))

    def _find_call(self, call_id: object) -> Call | None:
        if isinstance(call_id, int):
            return self._calls.pop(call_id, None)
        if call_id is None and len(self._calls) == 1:
            # The server could not read the id (the message was too large, say); only one can be meant.
            return self._calls.popitem()[1]
        return None

    def _announce(self, notification: Notification) -> None:
        for subscription in list(self._subscriptions):
            subscription._offer(notification)
        for callback in (*self._callbacks.get(notification.method, ()), *self._callbacks.get(ANY, ())):
            try:
                callback(notification)
            except Exception as error:  # noqa: BLE001 - the user's code; the others must hear the rest all the same
                _report(f"a callback for {notification.method} failed", error)

    # Answering the server.

    def _answer(self, method: str, message: JsonObject) -> None:
        key = repr(message["id"])
        task = asyncio.get_running_loop().create_task(self._run_handler(method, message))
        self._answering[key] = task
        task.add_done_callback(lambda done: self._answered(key, message["id"], done))

    def _answered(self, key: str, call_id: object, task: "asyncio.Task[None]") -> None:
        self._answering.pop(key, None)
        if task.cancelled() and self._ended is None:
            # Cancelled before its first step, so it could not answer itself.
            self._send(_error_answer(call_id, _REQUEST_CANCELLED, "cancelled", "requestCancelled"))

    async def _run_handler(self, method: str, message: JsonObject) -> None:
        answer: JsonObject = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            answer["result"] = await self._call_handler(method, _params(message))
        except asyncio.CancelledError:
            answer = _error_answer(message["id"], _REQUEST_CANCELLED, "cancelled", "requestCancelled")
        except RpcError as error:
            answer = _error_answer(message["id"], error.code, error.message, error.reason)
        except Exception as error:  # noqa: BLE001 - the user's code; the server waits for an answer whatever it does
            _report(f"the handler for {method} failed", error)
            answer = _error_answer(message["id"], _INTERNAL_ERROR, f"the client's {method} failed", "internalError")
        if self._ended is None:
            self._send_answer(method, answer)

    def _send_answer(self, method: str, answer: JsonObject) -> None:
        try:
            self._send(answer)
        except (MessageTooLarge, TypeError, ValueError, RecursionError) as error:
            # The server waits for an answer all the same.
            _report(f"the answer to {method} could not be sent", error)
            self._send(_error_answer(answer["id"], _INTERNAL_ERROR, f"the client's {method} failed", "internalError"))

    async def _call_handler(self, method: str, params: JsonObject) -> Any:
        handler = self._handlers.get(method)
        if handler is None:
            raise RpcError(_METHOD_NOT_FOUND, f"this client does not answer {method}", {"reason": "methodNotFound"})
        result = handler(params)
        return await result if inspect.isawaitable(result) else result

    def _cancel_answering(self, params: JsonObject) -> None:
        task = self._answering.get(repr(params.get("id", params.get("requestId"))))
        if task is not None:
            task.cancel()

    def _tell_traffic(self, direction: str, body: bytes) -> None:
        if self.on_traffic is not None:
            try:
                self.on_traffic(direction, body)
            except Exception as error:  # noqa: BLE001 - the user's code; the message has its way to go all the same
                _report("on_traffic failed", error)

    def _send(self, message: JsonObject) -> None:
        body = to_bytes(message)
        if len(body) > self.max_message_bytes:
            raise MessageTooLarge(len(body), self.max_message_bytes)
        self._tell_traffic("sent", body)
        self._write(encode(body, self._framing))


async def settle(awaitable: Awaitable[Any]) -> None:
    """Wait for something whose failure is of no interest."""
    try:
        await awaitable
    except ClientError:
        pass


def _params(message: JsonObject) -> JsonObject:
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def _rpc_error(error: object) -> RpcError:
    if not isinstance(error, dict):
        return RpcError(_INTERNAL_ERROR, f"an error without a form: {error!r}")
    code = error.get("code")
    return RpcError(code if isinstance(code, int) else 0, str(error.get("message", "")), error.get("data"))


def _error_answer(call_id: object, code: int, message: str, reason: str) -> JsonObject:
    return {"jsonrpc": "2.0", "id": call_id, "error": {"code": code, "message": message, "data": {"reason": reason}}}


def _report(what: str, error: Exception) -> None:
    loop = asyncio.get_running_loop()
    loop.call_exception_handler({"message": f"rpc_agent_client: {what}", "exception": error})
