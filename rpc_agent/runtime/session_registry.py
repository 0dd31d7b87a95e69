"""The sessions that are open in this process. Makes, opens, finds and closes them; what they do is theirs."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import anyio
from msgspec import Struct

from rpc_agent.conversation.models import THINKING_LEVELS
from rpc_agent.errors import InvalidValue, NoModel, SessionNotFound
from rpc_agent.platform.given_paths import checked_path, resolved_path
from rpc_agent.providers.catalog import Catalog, Choice
from rpc_agent.runtime.background_index import index_in_background
from rpc_agent.runtime.live_session import LiveSession
from rpc_agent.runtime.services import Services
from rpc_agent.runtime.session_assembly import SessionWishes, assemble
from rpc_agent.runtime.trust import write_trust
from rpc_agent.session.branch_state import BranchState, branch_state
from rpc_agent.session.warnings import SessionWarning
from rpc_agent.settings import Settings
from rpc_agent.storage.copies import clone_session, fork_session
from rpc_agent.storage.listing import SessionDirectory
from rpc_agent.storage.paths import sessions_dir
from rpc_agent.storage.session_file import storage_errors
from rpc_agent.storage.session_store import SessionStore

_NAMED_VARIABLES = 3
"""In the log; the answer of the offline model has them all."""
_logger = logging.getLogger(__name__)


class NewSession(Struct, frozen=True, kw_only=True):
    """What new_session asks for. `model` is "provider/modelId"."""

    cwd: Path | None = None
    name: str | None = None
    ephemeral: bool = False
    parent_session: str | None = None
    model: str | None = None
    thinking_level: str | None = None
    tools: tuple[str, ...] | None = None
    system_prompt: str | None = None


class SessionRegistry:
    """One per process. Two opens of one file give the same live session."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._open: dict[str, LiveSession] = {}
        self._closing: dict[LiveSession, anyio.Event] = {}
        self._directories: dict[Path, SessionDirectory] = {}
        self._has_told_of_offline = False

    def __iter__(self) -> Iterator[LiveSession]:
        return iter(tuple(self._open.values()))

    def get(self, session_id: str) -> LiveSession:
        session = self._open.get(session_id)
        if session is None:
            raise SessionNotFound(f"No open session {session_id!r}. Open it with open_session.", sessionId=session_id)
        return session

    def directory(self, cwd: Path | None = None) -> SessionDirectory:
        """The files of all sessions, open or not."""
        root = self._sessions_dir(self._services.settings(self.working_directory(cwd)))
        # Kept, because it remembers what it has read of each file.
        return self._directories.setdefault(root, SessionDirectory(root))

    def first(self) -> LiveSession:
        """The session of a client that named none: the one the command line asked for, or a new one.

        Raises what `open` and `new` raise.
        """
        launch = self._services.launch
        if launch.session is not None:
            return self.open(self._named(launch.session), cwd=None, read_only=False)[0]
        if launch.continue_latest:
            directory = self.directory()
            try:
                with storage_errors(directory.root):
                    latest = directory.latest(str(launch.cwd))
                return self.open(latest, cwd=None, read_only=False)[0]
            except SessionNotFound:
                pass
        return self.new(NewSession())

    def new(self, wanted: NewSession) -> LiveSession:
        """Raises InvalidValue, ModelNotFound, SettingsError."""
        cwd = self.working_directory(wanted.cwd)
        settings = self._services.settings(cwd)
        ephemeral = wanted.ephemeral or self._services.launch.ephemeral
        store = SessionStore.create(
            None if ephemeral else self._sessions_dir(settings),
            cwd=str(cwd),
            identity=self._services.identity,
            parent_session=wanted.parent_session,
        )
        session = self._assemble(store, wanted, cwd, settings)
        if wanted.thinking_level or self._services.launch.thinking_level:
            # An answer names its model; a level that was asked for stands nowhere else in the file.
            session.log.append("thinking_level_change", {"thinkingLevel": session.models.thinking_level})
        if wanted.name:
            session.edits.set_name(wanted.name)
        return session

    def open(self, path: Path, *, cwd: Path | None, read_only: bool) -> tuple[LiveSession, list[SessionWarning]]:
        """Raises SessionNotFound, SessionLocked, SessionUnreadable, InvalidValue."""
        known = self.find_open(path)
        if known is not None:
            return known, known.log.store.warnings
        store = SessionStore.open(
            resolved_path("path", path),
            identity=self._services.identity,
            read_only=read_only,
            cwd=str(cwd or self._services.launch.cwd),
        )
        return self.adopt(store, cwd), store.warnings

    def find_open(self, path: Path) -> LiveSession | None:
        """The open session that is kept in this file. Raises InvalidValue."""
        resolved = resolved_path("path", path)
        for session in self:
            held = session.log.store.path
            if held is not None and held.resolve() == resolved:
                return session
        return None

    def check_export(self, path: Path) -> None:
        """Raises InvalidValue where a page would take the place of a session or of our own configuration."""
        resolved = resolved_path("outputPath", path)
        if self.find_open(path) is not None or resolved.is_relative_to(self.directory().root.resolve()):
            raise InvalidValue("outputPath", f"sessions are kept in {path.parent}; export to another folder")
        if resolved.is_relative_to(resolved_path("outputPath", self._services.launch.config_dir)):
            raise InvalidValue("outputPath", f"{path.parent} holds the configuration; export to another folder")

    def adopt(self, store: SessionStore, cwd: Path | None = None) -> LiveSession:
        """Make a live session of a store that was just opened or copied."""
        try:
            place = cwd or (Path(store.cwd) if os.path.isdir(store.cwd) else self.working_directory(None))
            is_claimed = cwd is None and self._is_from_elsewhere(store, place)
            settings = self._services.settings(place)
            session = self._assemble(store, NewSession(), place, settings, workspace_is_claimed=is_claimed)
        except BaseException:
            store.close()
            raise
        if not store.index_is_complete:
            self._services.spawn(lambda: index_in_background(session))
        return session

    def fork(self, source: LiveSession, entry_id: str) -> tuple[LiveSession, str]:
        """A new session with everything before a user message, and that message's text. Raises EntryNotFound."""
        store, text = fork_session(
            source.log.store, entry_id, self._copy_directory(source), identity=self._services.identity
        )
        return self.adopt(store, source.parts.cwd), text

    def clone(self, source: LiveSession) -> LiveSession:
        """A new session with the active branch of another."""
        store = clone_session(source.log.store, self._copy_directory(source), identity=self._services.identity)
        return self.adopt(store, source.parts.cwd)

    def _copy_directory(self, source: LiveSession) -> Path | None:
        """A copy of a session without a file has none either."""
        return None if source.log.store.path is None else self._sessions_dir(source.parts.settings.current)

    def trust(self, cwd: Path, trusted: bool) -> None:
        """Remember whether a project's own configuration is read; sessions opened from now on follow it."""
        write_trust(self._services.launch.config_dir, cwd, trusted)

    async def close(self, session: LiveSession) -> None:
        """Stop what it does and give its file free."""
        self._open.pop(session.session_id, None)
        closed = self._closing[session] = anyio.Event()
        try:
            await session.close()
        finally:
            del self._closing[session]
            closed.set()

    async def closed(self) -> None:
        """Returns when the sessions that are being closed have given their files free."""
        for closed in tuple(self._closing.values()):
            await closed.wait()

    def _is_from_elsewhere(self, store: SessionStore, place: Path) -> bool:
        """Whether the working directory is what a file says that none of our sessions is kept in."""
        if store.path is None or place.is_relative_to(self._services.launch.cwd):
            return False
        return not store.path.resolve().is_relative_to(self.directory().root.resolve())

    def _assemble(
        self,
        store: SessionStore,
        wanted: NewSession,
        cwd: Path,
        settings: Settings,
        *,
        workspace_is_claimed: bool = False,
    ) -> LiveSession:
        catalog = self._services.catalog(cwd)
        remembered = branch_state(store.branch())
        wishes = SessionWishes(
            choice=self._choice(catalog, wanted, remembered, settings),
            thinking_level=self._thinking_level(wanted, remembered, settings),
            tools=wanted.tools,
            system_prompt=wanted.system_prompt,
            workspace_is_claimed=workspace_is_claimed,
        )
        session = assemble(store, wishes, cwd=cwd, settings=settings, catalog=catalog, services=self._services)
        self._open[session.session_id] = session
        return session

    def _choice(
        self, catalog: Catalog, wanted: NewSession, remembered: BranchState, settings: Settings
    ) -> Choice | None:
        """None where there is no model at all: the session opens, and a prompt will say what is missing."""
        last = f"{remembered.provider}/{remembered.model_id}" if remembered.provider else None
        try:
            choice = catalog.choose_default(
                requested=wanted.model or self._services.launch.model,
                session=last,
                default=settings.default_model,
                allow_offline=settings.offline,
            )
        except NoModel:
            return None
        if choice.implicit_offline and not self._has_told_of_offline:
            self._has_told_of_offline = True
            _logger.warning(
                "no model has a key, so the built-in offline model answers; set one of %s, ... for a real one "
                "(rpc-agent doctor names them all)",
                ", ".join(catalog.key_variables()[:_NAMED_VARIABLES]),
            )
        return choice

    def _thinking_level(self, wanted: NewSession, remembered: BranchState, settings: Settings) -> str:
        chosen = (
            wanted.thinking_level
            or self._services.launch.thinking_level
            or remembered.thinking_level
            or settings.default_thinking_level
            or "off"
        )
        return chosen if chosen in THINKING_LEVELS else "off"

    def _sessions_dir(self, settings: Settings) -> Path:
        place = sessions_dir(
            self._services.environment,
            setting=settings.session_dir,
            option=self._services.launch.session_dir,
        )
        checked_path("sessionDir", place)
        return place

    def _named(self, name: str) -> Path:
        """A path, or the beginning of a session's id."""
        path = resolved_path("session", name)
        return path if os.path.exists(path) or path.suffix else self.directory().find(name)

    def working_directory(self, cwd: Path | None) -> Path:
        place = resolved_path("cwd", self._services.launch.cwd if cwd is None else cwd)
        # Path.is_dir raises where a folder above it may not be looked into.
        if not os.path.isdir(place):
            raise InvalidValue("cwd", f"{place} is not a directory")
        return place
