"""What all sessions of a process share: settings, models, tools, clock, environment. Holds them; does nothing."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from rpc_agent.extensions.loader import Loaded
from rpc_agent.providers.catalog import Catalog, load_catalog
from rpc_agent.resources.commands import Command, find_commands
from rpc_agent.runtime.broadcast import Spawn
from rpc_agent.runtime.client_port import ClientPort
from rpc_agent.runtime.extension_shelf import EXTENSIONS_DIR, ExtensionShelf
from rpc_agent.runtime.identity import SystemIdentity
from rpc_agent.settings import Settings, is_trusted, load_settings, load_trust
from rpc_agent.settings.files import PROJECT_DIR


class LaunchOptions(Struct, frozen=True, kw_only=True):
    """What the command line said; None or False where it said nothing."""

    cwd: Path
    config_dir: Path
    session_dir: str | None = None
    model: str | None = None
    thinking_level: str | None = None
    tools: tuple[str, ...] | None = None
    permissions: str | None = None
    session: str | None = None
    continue_latest: bool = False
    ephemeral: bool = False
    context_files: bool = True
    offline: bool = True
    extensions: tuple[Path, ...] = ()
    """Files named outright, asked last of all extensions."""

    def as_settings(self) -> dict[str, Any]:
        """The options that are settings, in the shape of settings.json."""
        values: dict[str, Any] = {
            "defaultModel": self.model,
            "defaultThinkingLevel": self.thinking_level,
            "tools": list(self.tools) if self.tools is not None else None,
            "permissions": {"mode": self.permissions} if self.permissions else None,
            "sessionDir": self.session_dir,
            "offline": None if self.offline else False,
        }
        return {name: value for name, value in values.items() if value is not None}


class Services(Struct, frozen=True, kw_only=True):
    launch: LaunchOptions
    environment: Mapping[str, str]
    identity: SystemIdentity
    spawn: Spawn
    client: ClientPort
    extensions: ExtensionShelf

    def settings(self, cwd: Path, *, session: Mapping[str, Any] | None = None) -> Settings:
        """The effective settings in `cwd`, read anew; `session` is what one session was told beside them.

        Nothing in an untrusted project is read.
        """
        return load_settings(
            self.launch.config_dir, self._trusted_project(cwd), session=session, command_line=self.launch.as_settings()
        )

    def catalog(self, cwd: Path) -> Catalog:
        return load_catalog(self.launch.config_dir, self.environment, self._trusted_project(cwd))

    def commands(self, cwd: Path) -> Sequence[Command]:
        """What can be started with "/name" in `cwd`: the user's, and those of a trusted project."""
        project = self._trusted_project(cwd)
        own = [] if project is None else [project / PROJECT_DIR]
        return find_commands([self.launch.config_dir, *own])

    def extensions_for(self, cwd: Path) -> Loaded:
        """In the order in which they are asked; a project's own only where it is trusted."""
        project = self._trusted_project(cwd)
        return self.extensions.for_project(None if project is None else project / PROJECT_DIR / EXTENSIONS_DIR)

    def _trusted_project(self, cwd: Path) -> Path | None:
        return cwd if is_trusted(load_trust(self.launch.config_dir), cwd) else None
