"""Paths that somebody wrote, made absolute. Refuses by the name of its field what no file of this system can be called.

`~` is the home directory, here and not in `Path`, which fails in three other ways for a path that cannot be one.
"""

import errno
import os
from pathlib import Path

from rpc_agent.errors import InvalidValue

_SHOWN = 80
"""Characters of a refused path in a message."""


def resolved_path(field: str, written: str | Path) -> Path:
    """Absolute and without links; it need not exist. Raises InvalidValue naming the field."""
    place = absolute_path(field, written)
    try:
        return place.resolve()
    except (OSError, RuntimeError) as error:
        # RuntimeError is what Python 3.11 and 3.12 say about links that go in a circle.
        raise InvalidValue(field, f"{_shown(place)} cannot be followed to its end") from error


def absolute_path(field: str, written: str | Path, base: Path | None = None) -> Path:
    """Absolute, links as they are; relative to `base`, or to where this process works. Raises InvalidValue."""
    checked_path(field, written)
    try:
        place = Path(written).expanduser()
        place = (place if base is None else base / place).absolute()
    except RuntimeError as error:
        raise InvalidValue(field, f"the home directory that {_shown(written)} begins with is not known") from error
    except FileNotFoundError as error:
        raise InvalidValue(
            field, f"{_shown(written)} is relative to a directory that no longer exists; start in another"
        ) from error
    checked_path(field, place)
    return place


def checked_path(field: str, path: str | Path) -> None:
    """Raises InvalidValue for what this system takes for no path at all."""
    if "\0" in str(path):
        raise InvalidValue(field, "holds a NUL character, which no path can have")
    try:
        os.lstat(path)
    except UnicodeEncodeError as error:
        raise InvalidValue(field, "holds a surrogate without its other half, which no path can have") from error
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise InvalidValue(field, f"{_shown(path)} is longer than a path can be on this system") from error


def _shown(path: str | Path) -> str:
    text = ascii(str(path))
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
