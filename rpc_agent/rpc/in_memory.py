"""The twin of stdio for tests: two connected transports, and a small client. A real peer serves it, no process does.

Refuses to know any method. Messages cross as bytes, so everything is encoded and decoded as on the real wire.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from rpc_agent.rpc import envelopes, json_text
from rpc_agent.rpc.envelopes import Notification, Request
from rpc_agent.rpc.errors import Disconnected, RpcError
from rpc_agent.rpc.framing import Frame
from rpc_agent.rpc.peer import Peer
from rpc_agent.rpc.questions import Questions
from rpc_agent.rpc.transport import HungUp, Transport

_PATIENCE_SECONDS = 10.0
# No test waits longer for one message; a machine under load is slow, but not that slow.


class InMemoryTransport:
    """One end. What it sends arrives at `other`, if that end reads."""

    def __init__(self) -> None:
        self.other = self
        self._frames: deque[Frame] = deque()
        self._has_news = asyncio.Event()
        self._input_ended = False
        self._may_arrive = asyncio.Event()
        self._may_arrive.set()
        self._is_gone = asyncio.Event()

    def offer_to(self, take: Callable[[bytes], bool]) -> None:
        """Nothing is offered: what is sent here has arrived before its sender goes on."""

    async def receive(self) -> Sequence[Frame]:
        while not self._frames and not self._input_ended:
            self._has_news.clear()
            await self._has_news.wait()
        frames = list(self._frames)
        self._frames.clear()
        return frames

    async def send(self, messages: Sequence[bytes]) -> None:
        await self.other._may_arrive.wait()
        if self.other._is_gone.is_set():
            raise HungUp("the other end hung up")
        self.other._frames.extend(messages)
        self.other._has_news.set()

    def send_now(self, message: bytes) -> bool:
        if not self.other._may_arrive.is_set() or self.other._is_gone.is_set():
            return False
        self.other._frames.append(message)
        self.other._has_news.set()
        return True

    async def hung_up(self) -> None:
        await self.other._is_gone.wait()

    def end(self) -> None:
        """Send no more: the input of the other end is over. What comes from there is still read."""
        self.other._input_ended = True
        self.other._has_news.set()

    def stop_reading(self) -> None:
        """Let the other end's sends wait, as a full pipe does."""
        self._may_arrive.clear()

    def read_again(self) -> None:
        self._may_arrive.set()

    def hang_up(self) -> None:
        """Read no more, for good."""
        self._is_gone.set()
        self._may_arrive.set()


def connected_pair() -> tuple[InMemoryTransport, InMemoryTransport]:
    """Two ends of one connection."""
    here, there = InMemoryTransport(), InMemoryTransport()
    here.other, there.other = there, here
    return here, there


class InMemoryClient:
    """The client's end. `received` holds every message in order of arrival, decoded, whatever it was.

    `on_request[method] = function(params) -> result` answers the server's requests (RpcError refuses); one without a
    function stays unanswered.
    """

    def __init__(self, transport: InMemoryTransport) -> None:
        self.transport = transport
        self.received: list[Any] = []
        self.notifications: list[Notification] = []
        self.requests: list[Request] = []
        self.on_request: dict[str, Callable[[envelopes.Params], Any]] = {}
        self._questions = Questions()
        self._news = asyncio.Condition()
        self._is_over = False

    async def request(self, method: str, params: Any = None, *, timeout: float = _PATIENCE_SECONDS) -> Any:
        """The result of `method`. Raises RpcError with the server's refusal, TimeoutError, Disconnected."""
        return await self.answer(await self.ask(method, params), timeout=timeout)

    async def ask(self, method: str, params: Any = None) -> tuple[int, asyncio.Future[Any]]:
        """Send a request without waiting: its id (for a cancellation), and the future of its answer."""
        question = self._questions.ask()
        await self.send(envelopes.encode_request(question[0], method, {} if params is None else params))
        return question

    async def answer(self, question: tuple[int, asyncio.Future[Any]], *, timeout: float = _PATIENCE_SECONDS) -> Any:
        async with asyncio.timeout(timeout):
            return await question[1]

    async def notify(self, method: str, params: Any = None) -> None:
        await self.send(envelopes.encode_notification(method, {} if params is None else params))

    async def send(self, message: bytes) -> None:
        """One message as it is, good or bad."""
        await self.transport.send([message])

    async def notification(
        self,
        method: str,
        *,
        where: Callable[[Any], bool] = lambda params: True,
        after: int = 0,
        timeout: float = _PATIENCE_SECONDS,
    ) -> Any:
        """The params of the first notification `method` whose params satisfy `where`, come or still to come.

        `after` skips that many of `notifications`.
        """

        def found() -> Notification | None:
            return next((n for n in self.notifications[after:] if n.method == method and where(n.params)), None)

        await self.wait(lambda: found() is not None, timeout=timeout)
        result = found()
        assert result is not None
        return result.params

    async def wait(self, condition: Callable[[], bool], *, timeout: float = _PATIENCE_SECONDS) -> None:
        """Wait until `condition`, which is looked at after each message. Raises TimeoutError, Disconnected."""
        async with asyncio.timeout(timeout), self._news:
            await self._news.wait_for(lambda: self._is_over or condition())
        if not condition():
            raise Disconnected("the server has ended")

    async def listen(self) -> None:
        """Take what the server sends, until it has ended."""
        while frames := await self.transport.receive():
            for frame in frames:
                assert isinstance(frame, bytes)
                await self._take(json_text.decode(frame))
            async with self._news:
                self._news.notify_all()
        self._is_over = True
        self._questions.close()
        async with self._news:
            self._news.notify_all()

    async def _take(self, message: Any) -> None:
        self.received.append(message)
        for one in message if isinstance(message, list) else [message]:
            match envelopes.classify(one):
                case envelopes.Response() as response:
                    self._questions.answer(response)
                case Notification() as notification:
                    self.notifications.append(notification)
                case Request() as request:
                    self.requests.append(request)
                    await self._answer(request)
                case other:
                    raise AssertionError(f"the server sent no JSON-RPC message: {other}")

    async def _answer(self, request: Request) -> None:
        function = self.on_request.get(request.method)
        if function is None:
            return
        try:
            await self.send(envelopes.encode_result(request.id, function(request.params)))
        except RpcError as error:
            await self.send(envelopes.encode_error(request.id, error))


@contextlib.asynccontextmanager
async def connect(make_peer: Callable[[Transport], Peer]) -> AsyncIterator[InMemoryClient]:
    """A client of the peer that `make_peer` makes. At the end its input ends, and the peer finishes its work."""
    server_end, client_end = connected_pair()
    client = InMemoryClient(client_end)
    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(_serve(make_peer(server_end), server_end))
        tasks.create_task(client.listen())
        yield client
        client_end.read_again()
        client_end.end()
        async with asyncio.timeout(_PATIENCE_SECONDS):
            await asyncio.wait([serving])


async def _serve(peer: Peer, end: InMemoryTransport) -> None:
    try:
        await peer.run()
    finally:
        end.end()
        end.hang_up()
