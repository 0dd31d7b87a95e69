"""The second phase: everything the methods need, imported and wired. Loaded in a thread after the first answer."""

import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import anyio

from rpc_agent.errors import InvalidValue
from rpc_agent.platform import paths
from rpc_agent.platform.given_paths import absolute_path, resolved_path
from rpc_agent.platform.process_tree import kill_live_trees
from rpc_agent.rpc.calls import Methods
from rpc_agent.rpc.peer import Peer
from rpc_agent.runtime.extension_shelf import ExtensionShelf
from rpc_agent.runtime.identity import SystemIdentity
from rpc_agent.runtime.services import LaunchOptions, Services
from rpc_agent.runtime.session_registry import SessionRegistry
from rpc_agent.server.capabilities import ClientCapabilities
from rpc_agent.server.client_requests import WireClient
from rpc_agent.server.connection import Connection
from rpc_agent.server.dispatch import bind
from rpc_agent.server.handlers import compaction, history, models, runs, sessions, settings, tree
from rpc_agent.server.options import ServeOptions

_STOP_SECONDS = 3.0
"""For sessions to stop by themselves; process trees that are left then are killed."""
_logger = logging.getLogger(__name__)


class Engine:
    """The sessions of this process and the one client they talk to."""

    def __init__(
        self,
        options: ServeOptions,
        peer: Peer,
        capabilities: Callable[[], ClientCapabilities],
        spawn: Callable[[Callable[[], Awaitable[None]]], None],
        environment: Mapping[str, str],
    ) -> None:
        launch = _launch(options, environment)
        services = Services(
            launch=launch,
            environment=dict(environment),
            identity=SystemIdentity(),
            spawn=spawn,
            client=WireClient(peer, capabilities),
            extensions=ExtensionShelf(launch.config_dir, launch.extensions),
        )
        self.registry = SessionRegistry(services)
        self.connection = Connection(peer, self.registry, capabilities)

    def handlers(self) -> Methods:
        resources = (sessions, history, runs, compaction, tree, models, settings)
        readers = (sessions, history, runs, models, settings)
        session_handlers = {name: h for module in resources for name, h in module.SESSION_HANDLERS.items()}
        quick_handlers = {name: h for module in readers for name, h in module.QUICK_HANDLERS.items()}
        connection_handlers = {**sessions.CONNECTION_HANDLERS, **settings.CONNECTION_HANDLERS}
        return bind(self.connection, session_handlers, quick_handlers, connection_handlers)

    def input_ended(self) -> None:
        """No more requests can come: what nobody waits for is stopped."""
        for session in self.registry:
            if not session.runs.is_awaited:
                session.runs.request_abort()

    async def stop(self) -> None:
        """Abort and close all sessions; bounded, and afterwards no child process of ours is left."""
        self.connection.is_shutting_down = True
        with anyio.move_on_after(_STOP_SECONDS, shield=True) as scope:
            async with anyio.create_task_group() as group:
                for session in self.registry:
                    group.start_soon(self.connection.close_session, session)
        if scope.cancelled_caught:
            _logger.warning("a session did not stop within %s s; the process ends without it", _STOP_SECONDS)
        kill_live_trees()


def _launch(options: ServeOptions, environment: Mapping[str, str]) -> LaunchOptions:
    config = {"RPC_AGENT_CONFIG_DIR": options.config_dir} if options.config_dir else environment
    return LaunchOptions(
        cwd=_working_directory(options),
        config_dir=paths.config_dir(config),
        session_dir=options.session_dir,
        model=options.model,
        thinking_level=options.thinking,
        tools=options.tools,
        permissions=options.permissions,
        session=options.session,
        continue_latest=options.continue_latest,
        ephemeral=options.ephemeral,
        context_files=options.context_files,
        offline=options.offline,
        extensions=tuple(map(_extension_file, options.extensions)),
    )


def _extension_file(written: str) -> Path:
    """Absolute if it can be; if not, the loader finds no such file, says so, and the server goes on without it."""
    try:
        return absolute_path("extension", written)
    except InvalidValue:
        return Path(written)


def _working_directory(options: ServeOptions) -> Path:
    """Absolute if it can be. If not, it is left to the methods that need it, which refuse it by its name.

    Refused here, it would take all methods away. It may also be missing: a directory can be deleted under a process.
    """
    written = options.cwd or os.curdir
    try:
        return resolved_path("cwd", written)
    except InvalidValue:
        return Path(written)
