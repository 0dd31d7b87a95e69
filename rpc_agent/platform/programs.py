"""Finds programs in the folders of PATH, and never in the folder we work in: a project may hold a `bash` of its own.

The usual search looks there first on Windows, and elsewhere where PATH has an empty or a relative folder.
"""

import os
import sys


def find_program(name: str, path: str | None) -> str | None:
    """The absolute path of the program, None where there is none. Of `path`, a PATH, relative folders do not count."""
    for folder in (path or "").split(os.pathsep):
        if not os.path.isabs(folder):
            continue
        for file in _file_names(name):
            place = os.path.join(folder, file)
            if os.path.isfile(place) and os.access(place, os.X_OK):
                return place
    return None


def _file_names(name: str) -> list[str]:
    if sys.platform != "win32":
        return [name]
    return [name + ending for ending in os.environ.get("PATHEXT", ".COM;.EXE;.BAT;.CMD").split(";")]
