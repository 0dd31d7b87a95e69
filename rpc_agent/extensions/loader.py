"""Finds extensions and lets them register: installed packages, folders, and files named on the command line.

An extension that cannot be loaded is reported and left out; it never keeps the server from starting.
"""

import importlib.util
import inspect
import logging
import sys
from collections.abc import Callable, Iterable
from importlib.metadata import entry_points
from pathlib import Path

from msgspec import Struct

from rpc_agent.extensions.api import ExtensionApi

GROUP = "rpc_agent.extensions"
Register = Callable[[ExtensionApi], object]
_logger = logging.getLogger(__name__)


def installed_extensions() -> "Loaded":
    """Those of installed packages, by the entry point group."""
    return _loaded([(point.name, point.load) for point in entry_points(group=GROUP)])


def extensions_in(folder: Path) -> "Loaded":
    """The Python files of a folder by name; none where there is no such folder."""
    return extension_files(_in_folder(folder))


def extension_files(files: Iterable[Path]) -> "Loaded":
    return _loaded([(file.stem, _FileRegister(file)) for file in files])


class LoadFault(Struct, frozen=True):
    """An extension that was left out; `error` is for people."""

    extension: str
    error: str


class Loaded(Struct, frozen=True):
    """Extensions in the order in which they are asked, and those that could not be loaded."""

    extensions: tuple[ExtensionApi, ...] = ()
    faults: tuple[LoadFault, ...] = ()

    def then(self, later: "Loaded") -> "Loaded":
        return Loaded(self.extensions + later.extensions, self.faults + later.faults)


def _loaded(found: Iterable[tuple[str, Callable[[], Register]]]) -> Loaded:
    loaded: list[ExtensionApi] = []
    faults: list[LoadFault] = []
    for name, load in found:
        api = ExtensionApi(name)
        try:
            _registered(load()(api))
        except _NotThere as error:
            _logger.error("the extension %s is left out: %s", name, error)
            faults.append(LoadFault(name, f"it could not be loaded: {error}"))
        except (Exception, SystemExit) as error:
            # The extension boundary: whatever is wrong in somebody's file, the server starts.
            _logger.exception("the extension %s could not be loaded and is left out", name)
            faults.append(LoadFault(name, f"it could not be loaded: {type(error).__name__}: {error}"))
        else:
            loaded.append(api)
    return Loaded(tuple(loaded), tuple(faults))


def _registered(answer: object) -> None:
    if inspect.iscoroutine(answer):
        answer.close()
        raise TypeError("register is no coroutine function; its handlers may be")


def _in_folder(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == ".py" and path.is_file())
    except OSError:
        return []


class _NotThere(Exception):
    """There is no such file, or none that can be read: nobody's code is at fault, so no traceback helps."""


class _FileRegister:
    """Imports a file and gives its `register`."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __call__(self) -> Register:
        name = f"rpc_agent_extension_{self._file.stem}"
        try:
            self._file.open("rb").close()
        except OSError as error:
            raise _NotThere(f"{self._file}: {error.strerror}") from None
        spec = importlib.util.spec_from_file_location(name, self._file)
        if spec is None or spec.loader is None:
            raise _NotThere(f"{self._file} is no Python file: its name does not end in .py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        register: Register = module.register
        return register
