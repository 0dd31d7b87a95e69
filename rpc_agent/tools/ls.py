"""The tool `ls`: what lies in a folder."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio.to_thread

from rpc_agent.conversation.tool_spec import ToolSpec
from rpc_agent.tools.base import ToolContext, ToolResult, text_result
from rpc_agent.tools.failure import ToolFailure, failure_text
from rpc_agent.tools.function_tool import FunctionTool, object_schema
from rpc_agent.tools.listing import listing_text
from rpc_agent.tools.paths import absolute_path, clean_name, shown_path
from rpc_agent.tools.walk import entries

_LIMIT = 500

_SPEC = ToolSpec(
    "ls",
    f"List a folder, sorted, hidden files too; folders end with a slash. What .gitignore names is left out and "
    f"counted. At most {_LIMIT} entries unless limit says otherwise.",
    object_schema(
        {
            "path": {"type": "string", "description": "The folder; without it the working directory."},
            "limit": {"type": "integer", "minimum": 1, "description": "How many entries at most."},
        }
    ),
)


def ls_tool(is_private: Callable[[Path], bool]) -> FunctionTool:
    async def ls(arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        path = absolute_path(arguments.get("path", "."), context)
        limit = arguments.get("limit", _LIMIT)
        name = shown_path(path, context)
        return await anyio.to_thread.run_sync(_ls, path, name, limit, is_private, abandon_on_cancel=True)

    return FunctionTool(spec=_SPEC, access="read", function=ls)


def _ls(path: Path, name: str, limit: int, is_private: Callable[[Path], bool]) -> ToolResult:
    try:
        found, left_out = entries(path)
    except NotADirectoryError as error:
        raise ToolFailure(f"{name} is a file, not a folder. Use read to see what is in it.") from error
    except OSError as error:
        raise ToolFailure(f"{name} cannot be listed: {failure_text(error)}.") from error
    names = [f"{clean_name(e.path)}{'/' if e.is_folder else ''}" for e in found if not is_private(path / e.path)]
    # Without regard to case, as people look for names; then with it, so that the order is fixed.
    names.sort(key=lambda shown: (shown.casefold(), shown))
    note = f"[{left_out} more left out by .gitignore; ls in bash shows them]" if left_out else ""
    return text_result(listing_text(names[:limit], found=len(names), limit=limit, note=note, nothing="(empty folder)"))
