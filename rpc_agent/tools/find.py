"""The tool `find`: files and folders whose name or path fits a pattern."""

import itertools
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio.to_thread

from rpc_agent.conversation.tool_spec import ToolSpec
from rpc_agent.tools.base import ToolContext, ToolResult, text_result
from rpc_agent.tools.failure import ToolFailure
from rpc_agent.tools.function_tool import FunctionTool, object_schema
from rpc_agent.tools.globs import find_glob
from rpc_agent.tools.listing import listing_text
from rpc_agent.tools.paths import absolute_path, clean_name, require_usable, shown_path
from rpc_agent.tools.walk import walk

_LIMIT = 1000

_SPEC = ToolSpec(
    "find",
    f"Find files and folders by a glob, at any depth, hidden ones too; what .gitignore names is left out. Answers "
    f"with sorted paths as read takes them, folders with a slash at the end, at most {_LIMIT} unless limit differs.",
    object_schema(
        {
            "pattern": {
                "type": "string",
                "minLength": 1,
                "description": "A glob: `*.py` fits names at any depth, `a/**/*.{js,ts}` paths in the folder searched.",
            },
            "path": {"type": "string", "description": "The folder to search; without it the working directory."},
            "limit": {"type": "integer", "minimum": 1, "description": "How many paths at most."},
        },
        required=("pattern",),
    ),
)


def find_tool(is_private: Callable[[Path], bool]) -> FunctionTool:
    async def find(arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        require_usable("pattern", arguments["pattern"])
        path = absolute_path(arguments.get("path", "."), context)
        name, limit = shown_path(path, context), arguments.get("limit", _LIMIT)
        stop = threading.Event()
        try:
            return await anyio.to_thread.run_sync(
                _find, path, name, arguments["pattern"], limit, is_private, stop, abandon_on_cancel=True
            )
        finally:
            # The thread cannot be cancelled; told so, it ends at the next file.
            stop.set()

    return FunctionTool(spec=_SPEC, access="read", function=find)


def _find(
    path: Path, name: str, pattern: str, limit: int, is_private: Callable[[Path], bool], stop: threading.Event
) -> ToolResult:
    if not path.is_dir():
        raise ToolFailure(f"{name} is not a folder, so nothing can be found in it. Give the folder to search.")
    prefix = "" if name == "." else f"{name.removesuffix('/')}/"
    matches = (prefix + match for match in _matches(path, pattern, is_private, stop))
    found = list(itertools.islice(matches, limit + 1))
    total = None if len(found) > limit else len(found)
    text = listing_text(found[:limit], found=total, limit=limit, nothing=f"(nothing in {name} fits {pattern})")
    return text_result(text)


def _matches(path: Path, pattern: str, is_private: Callable[[Path], bool], stop: threading.Event) -> Iterator[str]:
    folders_only = pattern.endswith("/")
    fits = find_glob(pattern.rstrip("/"), path.as_posix())
    for found in walk(path):
        if stop.is_set():
            return
        if fits(found.path) and (found.is_folder or not folders_only) and not is_private(path / found.path):
            yield clean_name(found.path) + ("/" if found.is_folder else "")
