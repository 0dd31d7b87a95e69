"""One end of a JSON-RPC connection: answers the other side's requests, and asks it in turn.

Knows order, bounds and cancellation. Refuses to know any method but `$/cancelRequest`, and how bytes travel.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from rpc_agent.rpc import envelopes, errors
from rpc_agent.rpc.answers import Answers
from rpc_agent.rpc.batches import BatchAnswers, Callbacks, Reply
from rpc_agent.rpc.calls import Call, Calls
from rpc_agent.rpc.envelopes import Batch, Early, Ignored, Invalid, Notification, Params, Request, Response
from rpc_agent.rpc.errors import RpcError
from rpc_agent.rpc.framing import Damaged, Frame, TooLong
from rpc_agent.rpc.loading import LateMethods, Load
from rpc_agent.rpc.outbox import HIGH_WATER_BYTES, Item, Outbox
from rpc_agent.rpc.questions import Questions
from rpc_agent.rpc.transport import HungUp, Transport

DEFAULT_MAX_IN_FLIGHT = 1024

CANCEL_METHODS = frozenset({"$/cancelRequest", "$/cancel_request"})
"""LSP's name, with `id`, and that of ACP, with `requestId`; each is accepted with either."""

_MESSAGES_A_STEP = 16
# After so many messages the handlers get a turn. Their answers then count before more is read, so that a client that
# asks for much and reads nothing cannot fill the memory from within one chunk.

Ending = Literal["input-ended", "hung-up", "closed"]

_logger = logging.getLogger(__name__)


def _nothing() -> None: ...


async def _nothing_left() -> None: ...


def _never(method: str) -> bool:
    return False


class Peer:
    """A connection and its methods.

    `early` methods are answered at once. `load` makes all others, in a thread, after the first early answer is out
    (`is_open`: one is out already) or when another message arrives; that message waits for it. Past `max_in_flight`
    calls a request is answered with `overloaded`, unless `is_exempt(method)`. `on_input_end` runs when no more requests
    can come, while those in flight are still being answered; `on_hang_up` when nobody reads any more, before the
    handlers are cancelled.
    `before_end` is awaited when all are answered: what it still says is written too.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        load: Load,
        early: Mapping[str, Early] | None = None,
        is_open: bool = False,
        max_in_flight: int = DEFAULT_MAX_IN_FLIGHT,
        is_exempt: Callable[[str], bool] = _never,
        on_input_end: Callable[[], None] = _nothing,
        on_hang_up: Callable[[], None] = _nothing,
        before_end: Callable[[], Awaitable[None]] = _nothing_left,
        high_water_bytes: int = HIGH_WATER_BYTES,
    ) -> None:
        self.outbox = Outbox(high_water_bytes=high_water_bytes)
        self._transport = transport
        self._early = early or {}
        self._is_open = is_open
        self._late = LateMethods(load, known=CANCEL_METHODS.union(self._early))
        self._answers = Answers(self._late)
        self._max_in_flight = max_in_flight
        self._is_exempt = is_exempt
        self._on_input_end = on_input_end
        self._on_hang_up = on_hang_up
        self._before_end = before_end
        self._calls = Calls()
        self._questions = Questions()
        self._tasks = asyncio.TaskGroup()
        self._reader: asyncio.Task[None] | None = None
        self._is_reading = True
        self._unread = 0
        """Frames of the last read that were not looked at yet."""
        self._ending: Ending | None = None

    # For the owner.

    async def run(self) -> Ending:
        """Serve until the input ends and all requests are answered, or nobody reads, or `close`; tell which it was.

        What waits to be written then is written first, however long the other side takes: bound it from outside.
        """
        async with self._tasks as tasks:
            if self._is_open:
                self._begin_loading()
            helpers = [tasks.create_task(self._write()), tasks.create_task(self._watch())]
            self._reader = tasks.create_task(self._read())
            self._transport.offer_to(self._take_now)
            await asyncio.wait([self._reader])
            self._no_more_input()
            await self._calls.none_left()
            await self.outbox.written()
            await self._before_end()
            await self.outbox.written()
            self._late.cancel()
            for helper in helpers:
                helper.cancel()
        return self._ending or "input-ended"

    def end_input(self) -> None:
        """Read no more. What is in flight is finished and answered, then `run` returns."""
        self._stop_reading()

    def close(self) -> None:
        """Read no more and cancel the handlers; their requests are answered with shuttingDown."""
        self._shut("closed")

    # For everybody who has something to say.

    def notify(self, method: str, params: Any) -> None:
        """Queue a notification. Raises NotSerialisable."""
        self.post(envelopes.encode_notification(method, params, self._late.encode))

    def post(self, item: Item) -> None:
        """Queue one message, behind all that was posted before."""
        self.outbox.post(item)

    async def drained(self) -> None:
        """Wait while the other side is so slow that more should not be posted."""
        await self.outbox.drained()

    async def request(self, method: str, params: Any, *, timeout: float | None = None) -> Any:
        """Ask the other side: the result of `method`.

        Raises RpcError with its refusal, TimeoutError after `timeout` seconds, Disconnected when no answer can come.
        When the answer is no longer wanted (timeout, or the caller is cancelled), the other side is told.
        """
        id, answer = self._questions.ask()
        self.post(envelopes.encode_request(id, method, params, self._late.encode))
        try:
            await asyncio.wait([answer], timeout=timeout)
        finally:
            self._questions.forget(id)
            if answer.cancel():
                self._withdraw(id)
        if answer.cancelled():
            raise TimeoutError(f"{method} was not answered within {timeout} seconds")
        return answer.result()

    # The three tasks.

    async def _read(self) -> None:
        count = 0
        while self._is_reading and (frames := await self._receive()):
            self._unread = len(frames)
            for frame in frames:
                self._unread -= 1
                if self.outbox.has_many_answers:
                    await self._while_reading(self.outbox.answers_drained)
                await self._take(frame)
                count += 1
                if count % _MESSAGES_A_STEP == 0:
                    await self._while_reading(_next_turn)
        await asyncio.sleep(0)  # So that whatever has been asked for has started when the owner hears of the end.

    async def _receive(self) -> Sequence[Frame]:
        frames: list[Frame] = []

        async def receive() -> None:
            frames.extend(await self._transport.receive())

        await self._while_reading(receive)
        return frames

    async def _while_reading(self, wait: Callable[[], Awaitable[None]]) -> None:
        """Wait, but no longer than we read: what has been read by then is still taken, and answered."""
        if not self._is_reading:
            return
        try:
            await wait()
        except asyncio.CancelledError:
            if self._is_reading:
                raise

    async def _write(self) -> None:
        try:
            while True:
                await self._transport.send(await self.outbox.take())
        except HungUp:
            self._hang_up()

    async def _watch(self) -> None:
        await self._transport.hung_up()
        self._hang_up()

    # What comes in.

    def _take_now(self, message: bytes) -> bool:
        """Answer a request that came alone if that takes no wait: whether it was answered."""
        if not (self._is_reading and self._late.is_ready and self.outbox.is_idle):
            return False
        match envelopes.parse(message):
            case Request(id, method, params) if method not in CANCEL_METHODS:
                call = Call(self, method, id)
                answer = self._answer_early(call, params) or self._answer_now(call, params)
                if answer is not None:
                    self._reply(answer, call.start())
                return answer is not None
        return False

    async def _take(self, frame: Frame) -> None:
        match frame:
            case TooLong(limit):
                self._reply(self._answers.error(None, errors.message_too_large(limit)), ())
            case Damaged(problem):
                self._reply(self._answers.error(None, errors.parse_error(problem)), ())
            case _:
                await self._take_message(envelopes.parse(frame))

    async def _take_message(self, message: envelopes.Item | Batch) -> None:
        if not isinstance(message, Batch):
            return await self._route(message, self._reply)
        answered = sum(isinstance(item, Request | Invalid) for item in message.items)
        answers = BatchAnswers(answered, self._reply)
        index = 0
        for item in message.items:
            await self._route(item, answers.slot(index))
            index += isinstance(item, Request | Invalid)

    async def _route(self, item: envelopes.Item, reply: Reply) -> None:
        match item:
            case Request(id, method, params):
                await self._accept(Call(self, method, id), params, reply)
            case Notification(method, params):
                await self._accept(Call(self, method, None), params, None)
            case Response():
                self._questions.answer(item)
            case Invalid(id, error):
                reply(self._answers.error(id, error), ())
            case Ignored(error):
                _logger.info("a notification was ignored: %s", error)

    async def _accept(self, call: Call, params: Params, reply: Reply | None) -> None:
        if call.method in CANCEL_METHODS:
            self._cancel(params)
            return reply(self._answers.result(call, None), ()) if reply else None
        if (early := self._answer_early(call, params)) is not None:
            (reply or _run_only)(early, ())
            return self._begin_loading()
        if not self._late.is_ready:
            self._begin_loading()
            await self._while_reading(self._late.ready)
        if not self._is_reading:
            (reply or _run_only)(self._answers.error(call.id, errors.shutting_down()), ())
        elif self._is_overloaded(call.method):
            self._refuse(call, reply)
        elif reply and (answer := self._answer_now(call, params)) is not None:
            reply(answer, call.start())
        elif reply or self._late.knows(call.method):
            self._calls.add(call)
            call.attach(self._tasks.create_task(self._serve(call, params, reply)))
        return None

    def _begin_loading(self) -> None:
        self._late.begin(self._tasks, self.outbox.written)

    def _refuse(self, call: Call, reply: Reply | None) -> None:
        if reply:
            reply(self._answers.error(call.id, errors.overloaded(self._max_in_flight)), ())
        else:
            _logger.warning("overloaded: the notification %s was dropped", call.method)

    def _cancel(self, params: Params) -> None:
        named = params if isinstance(params, dict) else {}
        if named.keys() & {"id", "requestId"}:
            self._calls.cancel(named.get("id", named.get("requestId")))

    # What goes out.

    async def _serve(self, call: Call, params: Params, reply: Reply | None) -> None:
        try:
            answer, callbacks = await self._answer(call, params)
            (reply or _run_only)(answer, callbacks)
        finally:
            self._calls.remove(call)

    def _is_overloaded(self, method: str) -> bool:
        return len(self._calls) >= self._max_in_flight and not self._is_exempt(method)

    def _answer_early(self, call: Call, params: Params) -> bytes | None:
        """The answer of an early method, None for all others."""
        return self._answers.early(call, self._early[call.method], params) if call.method in self._early else None

    def _answer_now(self, call: Call, params: Params) -> bytes | None:
        """The answer of a quick method. None while a call before it has not begun, for this one would overtake it."""
        if not self._calls.have_begun or self._is_overloaded(call.method):
            return None
        try:
            result = self._late.run_now(call, params)
        except RpcError as error:
            return self._answers.error(call.id, error)
        return None if result is None else self._answers.result(call, result)

    async def _answer(self, call: Call, params: Params) -> tuple[bytes, Callbacks]:
        after_answer = self._calls.begin(call)
        if call.is_cancelled or self._ending:
            return self._answers.error(call.id, self._cancellation(call)), ()
        try:
            return self._answers.result(call, await self._late.run(call, params)), after_answer
        except RpcError as error:
            return self._answers.error(call.id, error), ()
        except asyncio.CancelledError:
            if call.is_cancelled or self._ending:
                return self._answers.error(call.id, self._cancellation(call)), ()
            raise

    def _reply(self, answer: bytes, callbacks: Callbacks) -> None:
        # Who asks one thing at a time waits for each answer, and a turn of the writer is a fifth of that wait.
        # Who asks many at once gets their answers together, in fewer writes.
        is_only_one = not self._unread and len(self._calls) <= 1
        if not (is_only_one and self.outbox.is_idle and self._transport.send_now(answer)):
            self.outbox.post(answer, is_answer=True)
        _run_all(callbacks)

    def _withdraw(self, id: int) -> None:
        self.notify("$/cancelRequest", {"id": id})

    # The end.

    def _no_more_input(self) -> None:
        for id in self._questions.close():
            self._withdraw(id)
        self._on_input_end()

    def _hang_up(self) -> None:
        if self._ending == "hung-up":
            return
        self.outbox.close()
        self._on_hang_up()
        self._shut("hung-up")

    def _shut(self, ending: Ending) -> None:
        self._ending = ending
        self._stop_reading()
        for call in self._calls:
            call.give_up()

    def _stop_reading(self) -> None:
        if self._is_reading:
            self._is_reading = False
            if self._reader is not None:
                self._reader.cancel()

    def _cancellation(self, call: Call) -> RpcError:
        return errors.request_cancelled() if call.is_cancelled else errors.shutting_down()


async def _next_turn() -> None:
    await asyncio.sleep(0)


def _run_only(answer: bytes, callbacks: Callbacks) -> None:
    """The reply to a notification: none."""
    _run_all(callbacks)


def _run_all(callbacks: Iterable[Callable[[], None]]) -> None:
    for callback in callbacks:
        try:
            callback()
        except Exception:
            _logger.exception("a callback after an answer failed")
