"""The extensions of a process, each file run once however many sessions ask for it."""

from collections.abc import Sequence
from pathlib import Path

from rpc_agent.extensions.loader import Loaded, extension_files, extensions_in, installed_extensions

EXTENSIONS_DIR = "extensions"


class ExtensionShelf:
    """Installed ones and the user's own are loaded at once; a project's when a session of it first asks."""

    def __init__(self, config_dir: Path, files: Sequence[Path] = ()) -> None:
        self._first = installed_extensions().then(extensions_in(config_dir / EXTENSIONS_DIR))
        self._named = extension_files(files)
        self._projects: dict[Path, Loaded] = {}

    def for_project(self, folder: Path | None) -> Loaded:
        """Installed ones, the user's, the project's in `folder` (None: it is not trusted), then the files named."""
        return self._first.then(self._project(folder)).then(self._named)

    def _project(self, folder: Path | None) -> Loaded:
        if folder is None:
            return Loaded()
        if folder not in self._projects:
            self._projects[folder] = extensions_in(folder)
        return self._projects[folder]
