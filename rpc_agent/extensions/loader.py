"""Finds extensions and lets them register: installed packages, folders, and files named on the command line.

An extension that cannot be loaded is reported and left out; it never keeps the server from starting.
"""

import importlib.util
import logging
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import entry_points
from pathlib import Path

from rpc_agent.extensions.api import ExtensionApi

GROUP = "rpc_agent.extensions"
Register = Callable[[ExtensionApi], None]
_logger = logging.getLogger(__name__)


def load_extensions(files: Iterable[Path], folders: Iterable[Path]) -> list[ExtensionApi]:
    """The extensions in the order in which they are asked: installed ones, those in folders, then named files."""
    found: list[tuple[str, Callable[[], Register]]] = [(point.name, point.load) for point in entry_points(group=GROUP)]
    for file in (*(file for folder in folders for file in _in_folder(folder)), *files):
        found.append((file.stem, _FileRegister(file)))
    return list(_registered(found))


def _registered(found: Iterable[tuple[str, Callable[[], Register]]]) -> Iterator[ExtensionApi]:
    for name, load in found:
        api = ExtensionApi(name)
        try:
            load()(api)
        except Exception:
            # The extension boundary: whatever is wrong in somebody's file, the server starts.
            _logger.exception("the extension %s could not be loaded and is left out", name)
        else:
            yield api


def _in_folder(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == ".py" and path.is_file())
    except OSError:
        return []


class _FileRegister:
    """Imports a file and gives its `register`."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __call__(self) -> Register:
        name = f"rpc_agent_extension_{self._file.stem}"
        spec = importlib.util.spec_from_file_location(name, self._file)
        if spec is None or spec.loader is None:
            raise ImportError(f"{self._file} is no Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        register: Register = module.register
        return register
