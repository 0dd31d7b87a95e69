"""One client: which sessions it has open, which one is current, what it can do. Handlers get everything through it."""

from collections.abc import Callable

from rpc_agent.errors import SessionNotFound, ShuttingDown
from rpc_agent.rpc.peer import Peer
from rpc_agent.runtime.live_session import LiveSession
from rpc_agent.runtime.session_registry import NewSession, SessionRegistry
from rpc_agent.server.capabilities import ClientCapabilities
from rpc_agent.server.ordering import Ordering
from rpc_agent.server.session_feed import SessionFeed


class Connection:
    """`capabilities` is asked each time: a second `initialize` replaces them."""

    def __init__(self, peer: Peer, registry: SessionRegistry, capabilities: Callable[[], ClientCapabilities]) -> None:
        self.peer = peer
        self.registry = registry
        self.capabilities = capabilities
        self.ordering = Ordering()
        self.is_shutting_down = False
        self._feeds: dict[str, SessionFeed] = {}
        """Newest last: the last one is the current session's."""

    def adopt(self, session: LiveSession) -> None:
        """The client made or opened this session: it is the current one now, and the client hears of it."""
        feed = self._feeds.pop(session.session_id, None)
        if feed is None:
            feed = SessionFeed(session.session_id, self.peer, self.capabilities)
            session.parts.broadcast.listen(feed)
        self._feeds[session.session_id] = feed

    def feed(self, session: LiveSession) -> SessionFeed:
        return self._feeds[session.session_id]

    async def session(self, session_id: str | None, *, is_question: bool = False) -> LiveSession:
        """The session a request means; without an id the current one, made in the working directory if there is none.

        `is_question`: the request only looks, so where nothing is before it, it takes no place in line.
        Raises SessionNotFound, ShuttingDown.
        """
        self.refuse_when_ending()
        if session_id is not None:
            return self._named(session_id)
        # In the line each waits for the one before, and many questions in one write are answered one by one.
        if is_question and (session := self.session_now()) is not None:
            return session
        async with self.ordering.choosing():
            self.refuse_when_ending()
            if not self._feeds:
                self.adopt(self.registry.first())
            return self.registry.get(next(reversed(self._feeds)))

    def session_now(self, session_id: str | None = None) -> LiveSession | None:
        """The same for a request that only looks, without a wait; None where it has to take its place in line."""
        self.refuse_when_ending()
        if session_id is None and not self._feeds:
            return None
        session = self._named(next(reversed(self._feeds)) if session_id is None else session_id)
        return session if self.ordering.is_free(session.session_id) else None

    def _named(self, session_id: str) -> LiveSession:
        if session_id not in self._feeds:
            raise SessionNotFound(
                f"No session {session_id!r} is open here. Open it with open_session.", sessionId=session_id
            )
        return self.registry.get(session_id)

    def refuse_when_ending(self) -> None:
        """Raises ShuttingDown."""
        if self.is_shutting_down:
            raise ShuttingDown("The server is shutting down; nothing new is begun.")

    def require_open(self, session: LiveSession) -> None:
        """For a request that may have waited in line until its session was closed. Raises as `session` does."""
        self.refuse_when_ending()
        if self.registry.get(session.session_id) is not session:
            raise SessionNotFound("The session was closed meanwhile.", sessionId=session.session_id)

    def new_session(self, wanted: NewSession) -> LiveSession:
        session = self.registry.new(wanted)
        self.adopt(session)
        return session

    async def close_session(self, session: LiveSession) -> None:
        # First, so that a request that names no session does not find one that is going away.
        self._feeds.pop(session.session_id, None)
        await self.registry.close(session)
